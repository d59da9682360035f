// One step of a random run: what it does to the upload, and what the model then expects.

import type fc from 'fast-check'
import type { Model } from './model.ts'
import type { RealUpload } from './real-upload.ts'

export type Command = fc.AsyncCommand<Model, RealUpload>
