// What went wrong with the bytes of a host: why a source could not be read, and whether it is still what it was.

import { isUploadError, UploadError } from '../errors.ts'
import type { Reader } from '../ports.ts'
import { foreignWords } from '../redact.ts'

/** What a source rejected with: foreign errors become ERR_UPLOAD_SOURCE_READ. */
export function asSourceError(error: unknown): UploadError {
  if (isUploadError(error)) return error
  const message = `It could not be read: ${foreignWords(error)}`
  return new UploadError('ERR_UPLOAD_SOURCE_READ', message, { cause: error })
}

/** Undefined: it is the same. Throws, or rejects, when it is not. */
export function verifyReader(reader: Reader): Promise<void> | undefined {
  try {
    const looking = reader.verify()
    return looking === undefined ? undefined : Promise.resolve(looking).catch(rethrowAsSourceError)
  } catch (error) {
    return rethrowAsSourceError(error)
  }
}

function rethrowAsSourceError(error: unknown): never {
  throw asSourceError(error)
}

/** Why the source is no longer what it was; undefined when it is. */
export async function changeOf(reader: Reader): Promise<unknown> {
  try {
    await verifyReader(reader)
    return undefined
  } catch (error) {
    return error
  }
}
