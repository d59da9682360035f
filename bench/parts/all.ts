// The parts of the benchmark, in the order in which they run when none is named.

import { linePart } from '../line/part.ts'
import type { BenchPart } from '../part.ts'
import { servicePart } from '../service/part.ts'
import { tablesPart } from '../service/tables-part.ts'
import { browserPart } from './browser.ts'
import { memoryPart } from './memory.ts'
import { smallPart } from './small.ts'
import { concurrencyPart, partsPart } from './sweep.ts'
import { tlsPart } from './tls.ts'
import { uploadPart } from './upload.ts'
import { verifyPart } from './verify.ts'

export const allParts: readonly BenchPart[] = [
  uploadPart,
  verifyPart,
  tlsPart,
  smallPart,
  partsPart,
  concurrencyPart,
  memoryPart,
  linePart,
  browserPart,
  servicePart,
  tablesPart,
]
