// Checks the stored parts against a confirmation: every part is there with its ETag, and together they are the whole file.

import { refuse, type ErrorCode } from '../http/replies.ts'

export interface StoredPart {
  readonly partNumber: number
  /** Without quotes. */
  readonly etag: string
  readonly sizeBytes: number
}

/** An ETag without quotes and weakness mark. */
export function bareEtag(etag: string): string {
  return etag.replace(/^W\//, '').replace(/^"(.*)"$/, '$1')
}

/** Throws a Refusal that names the first missing or differing part, or both sizes if they differ. */
export function checkParts(parts: readonly StoredPart[], etags: readonly string[], expectedBytes: number): void {
  const stored = new Map(parts.map((part) => [part.partNumber, part]))
  let sizeBytes = 0
  for (const [index, etag] of etags.entries()) {
    const part = stored.get(index + 1)
    if (part === undefined) refusePart(409, 'part_not_stored', index + 1, 'was never stored')
    if (part.etag !== etag) refusePart(409, 'etag_mismatch', index + 1, 'is stored with another ETag')
    sizeBytes += part.sizeBytes
  }
  if (sizeBytes !== expectedBytes) {
    refuse(409, 'size_mismatch', `The parts hold ${sizeBytes} bytes, the file was announced with ${expectedBytes}.`)
  }
}

/** Throws a Refusal about one part. */
export function refusePart(status: number, code: ErrorCode, partNumber: number, problem: string): never {
  refuse(status, code, `Part ${partNumber} ${problem}.`, { part_number: partNumber })
}
