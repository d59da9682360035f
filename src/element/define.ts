// The entry point with a side effect: importing it registers `<mocap-uploader>`. On a server it does nothing.

import { defineMocapUploader } from './uploader-element.ts'

// With the type, whoever imports only this has the types of the tag and of its events too.
export type { MocapUploaderElement } from '../element.ts'

if (typeof customElements !== 'undefined') defineMocapUploader()
