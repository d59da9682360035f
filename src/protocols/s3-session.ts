// The session id of an S3 session: all of its uploads as text, which is stored in the journal and read back from it.

import { invalid } from '../core/errors.ts'
import type { S3Upload } from './s3-parts.ts'

/** The upload of one file of the session. */
export interface S3SessionUpload extends S3Upload {
  readonly fileIndex: number
  /** When it was created by the store's own clock, ms since 1970. Absent if the store's date could not be read. */
  readonly createdAtMs?: number
}

/** Writes the uploads in file order, in whatever order they were created. */
export function formatS3Session(uploads: readonly S3SessionUpload[]): string {
  const sorted = uploads.toSorted((a, b) => a.fileIndex - b.fileIndex)
  return JSON.stringify(
    sorted.map(({ fileIndex, key, uploadId, createdAtMs }) => [fileIndex, key, uploadId, createdAtMs]),
  )
}

/** Reads what formatS3Session wrote. Throws ERR_UPLOAD_INVALID_ARGUMENT for anything else. */
export function readS3Session(sessionId: string | number): readonly S3SessionUpload[] {
  const entries = parse(String(sessionId))
  if (!Array.isArray(entries)) invalid('This is not the id of an S3 session.')
  return entries.map((entry: unknown) => {
    const [fileIndex, key, uploadId, createdAtMs] = Array.isArray(entry) ? (entry as unknown[]) : []
    if (typeof fileIndex !== 'number' || typeof key !== 'string' || typeof uploadId !== 'string') {
      return invalid('This is not the id of an S3 session.')
    }
    return { fileIndex, key, uploadId, ...(typeof createdAtMs === 'number' ? { createdAtMs } : {}) }
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
