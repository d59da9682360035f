// Proves, before a session goes on in a new life, that a source is still the file whose parts were sent: reads parts that
// have a receipt again and compares their digests. Size and time of change are compared when the source is opened.

import { UploadError } from '../core/errors.ts'
import { isReceived, type LedgerFile, type LedgerPart } from '../core/ledger.ts'
import type { Hasher, Random, Reader, Source } from '../core/ports.ts'

export interface VerifySourceOptions {
  readonly hasher: Hasher
  readonly random: Random
  /** `sample`: the first, the last and three others; `full`: every part with a receipt. */
  readonly depth: 'sample' | 'full'
  readonly signal: AbortSignal
}

const SAMPLE_COUNT = 3
const READ_BYTES = 1024 * 1024

/** Rejects with ERR_UPLOAD_SOURCE_CHANGED, or as the source does when it cannot be opened. */
export async function verifySource(file: LedgerFile, source: Source, options: VerifySourceOptions): Promise<void> {
  const { sizeBytes, modifiedAtMs, name } = file.plan
  const reader = await source.open({ sizeBytes, ...(modifiedAtMs === undefined ? {} : { modifiedAtMs }) })
  try {
    for (const part of choose(file, options)) {
      options.signal.throwIfAborted()
      if ((await digest(part, reader, options)) === part.receipt?.md5) continue
      throw new UploadError(
        'ERR_UPLOAD_SOURCE_CHANGED',
        `Part ${String(part.partNumber)} of ${name} is no longer what was sent. Upload the file again as it is now.`,
      )
    }
    await reader.verify()
  } finally {
    await reader.close()
  }
}

function choose(file: LedgerFile, { depth, random }: VerifySourceOptions): LedgerPart[] {
  const proven = file.parts.filter((part) => isReceived(part) && part.receipt?.md5 !== undefined)
  if (depth === 'full' || proven.length <= SAMPLE_COUNT + 2) return proven
  const others = Array.from({ length: SAMPLE_COUNT }, () => 1 + Math.floor(random() * (proven.length - 2)))
  return [...new Set([0, ...others, proven.length - 1])].flatMap((index) => proven[index] ?? [])
}

async function digest(part: LedgerPart, reader: Reader, { hasher }: VerifySourceOptions): Promise<string> {
  const hash = hasher.start()
  const window = new Uint8Array(Math.min(READ_BYTES, part.end - part.start))
  for (let at = part.start; at < part.end;) {
    const piece = window.subarray(0, Math.min(window.byteLength, part.end - at))
    await reader.read(piece, at)
    await hash.update(piece)
    at += piece.byteLength
  }
  return hash.digest()
}
