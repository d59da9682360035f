// Which storage a running service uses.

import type { ServiceContext } from '../context.ts'
import { diskStorage } from './disk-storage.ts'
import type { ObjectStorage } from './object-storage.ts'

/** The storage of a running service: its bucket if it has one, else its disk. */
export function storageOf(context: ServiceContext): ObjectStorage {
  return context.bucket ?? diskStorage(context)
}
