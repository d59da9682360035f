// Failures of a host's source: why it could not be read, and whether it is still what it was.

import { asOurs, type UploadError } from '../errors.ts'
import type { Reader } from '../ports.ts'

/** Turns an error of a source into one of ours: a foreign error becomes ERR_UPLOAD_SOURCE_READ. */
export function asSourceError(error: unknown): UploadError {
  return asOurs(error, 'ERR_UPLOAD_SOURCE_READ', 'It could not be read')
}

/** Checks that the source is still what it was; throws or rejects when it is not. Undefined: it is the same. */
export function verifyReader(reader: Reader): Promise<void> | undefined {
  try {
    const looking = reader.verify()
    return looking && Promise.resolve(looking).catch(rethrowAsSourceError)
  } catch (error) {
    return rethrowAsSourceError(error)
  }
}

function rethrowAsSourceError(error: unknown): never {
  throw asSourceError(error)
}

/** Why the source is no longer what it was; undefined when it still is. */
export async function changeOf(reader: Reader): Promise<unknown> {
  try {
    await verifyReader(reader)
    return undefined
  } catch (error) {
    return error
  }
}
