// Proves, before a file of an earlier run goes on, that its source is still the one whose parts were sent. It reads parts that
// have a receipt again and compares their digests. Size and modification time are compared when the source is opened.

import { closeOpened, openPlanned } from '../core/attempt/reader-cache.ts'
import { asSourceError } from '../core/attempt/source-failure.ts'
import { UploadError } from '../core/errors.ts'
import { isReceived, type LedgerFile, type LedgerPart } from '../core/journal/ledger.ts'
import type { BodyHash, Hasher, Random, Reader, Source } from '../core/ports.ts'
import { unlessAborted } from '../core/unless-aborted.ts'

/** Watches a step that waits for the source, and settles as it does. */
export type Watch = <T>(step: Promise<T>) => Promise<T>

export interface VerifySourceOptions {
  readonly hasher: Hasher
  readonly random: Random
  /** Every part with a receipt is read; otherwise the first, the last and three others. */
  readonly provesAll: boolean
  readonly signal: AbortSignal
  /** Default: nothing is watched. */
  readonly watch?: Watch | undefined
}

const SAMPLE_COUNT = 3
const READ_BYTES = 1_048_576
/** As many files may be proven at once as parts are in flight, but only few are read whole. */
const PROOF_READ_BYTES = 262_144

/** Rejects with ERR_UPLOAD_SOURCE_CHANGED, or with ERR_UPLOAD_SOURCE_READ where the source cannot be read. */
export function verifySource(file: LedgerFile, source: Source, options: VerifySourceOptions): Promise<void> {
  return compareParts(file, source, choose(file, options), options)
}

/**
 * Reads the whole file again, in order, and returns its SHA-256. On the way it compares every part with the digest of what was
 * sent. Rejects as `verifySource` does.
 */
export async function digestWhole(
  file: LedgerFile,
  source: Source,
  options: { readonly contentHasher: Hasher } & CompareOptions,
): Promise<string> {
  const whole = options.contentHasher.start()
  try {
    await compareParts(file, source, file.parts, options, whole)
    return await whole.digest()
  } finally {
    whole.dispose?.()
  }
}

interface CompareOptions extends Pick<VerifySourceOptions, 'signal' | 'watch'> {
  readonly hasher: Hasher | undefined
}

/** Reads these parts and compares each that has a digest with it. `whole` takes all that is read. */
async function compareParts(
  file: LedgerFile,
  source: Source,
  parts: readonly LedgerPart[],
  { hasher, signal, watch = (step) => step }: CompareOptions,
  whole?: BodyHash,
): Promise<void> {
  const opening = fromSource(watch, () => openPlanned(source, file.plan))
  let isOpen = false
  try {
    const reader = await unlessAborted(opening, signal)
    isOpen = true
    const windows = windowsFor(file, whole ? READ_BYTES : PROOF_READ_BYTES)
    for (const part of parts) {
      const md5 = part.receipt?.md5
      const hash = md5 === undefined ? undefined : hasher?.start(part.end - part.start)
      try {
        // MD5 starts first: a worker thread may compute it while this thread computes the SHA-256.
        await readThrough(part, reader, windows, signal, watch, async (piece) => {
          await Promise.all([hash?.update(piece), whole?.update(piece)])
        })
        if (hash && (await hash.digest()) !== md5) throw changed(part.partNumber)
      } finally {
        hash?.dispose?.()
      }
    }
    // At the end it must still be the same.
    await fromSource(watch, () => reader.verify())
  } finally {
    const closed = closeOpened(opening)
    // One that has not opened yet may never do so.
    if (isOpen) await closed
  }
}

/** A host's source may fail with an error that is not ours. It still fails only its own file. */
async function fromSource<T>(watch: Watch, ask: () => T): Promise<Awaited<T>> {
  try {
    return await watch(Promise.resolve(ask()))
  } catch (error) {
    throw asSourceError(error)
  }
}

function choose(file: LedgerFile, { provesAll, random }: VerifySourceOptions): LedgerPart[] {
  const proven = file.parts.filter((part) => isReceived(part) && part.receipt?.md5 !== undefined)
  if (provesAll || proven.length <= SAMPLE_COUNT + 2) return proven
  const others = Array.from({ length: SAMPLE_COUNT }, () => 1 + Math.floor(random() * (proven.length - 2)))
  return [...new Set([0, ...others, proven.length - 1])].flatMap((index) => proven[index] ?? [])
}

type Windows = readonly [Uint8Array, Uint8Array]

/** The only memory that reading a file again takes, whatever its number of parts: two windows of `mostBytes` at most. */
function windowsFor({ parts }: LedgerFile, mostBytes: number): Windows {
  const longest = parts.reduce((bytes, { start, end }) => Math.max(bytes, end - start), 0)
  const firstBytes = Math.min(mostBytes, longest)
  return [new Uint8Array(firstBytes), new Uint8Array(Math.min(mostBytes, longest - firstBytes))]
}

/** Reads into one window while the other is being consumed. */
async function readThrough(
  { start, end }: LedgerPart,
  reader: Reader,
  windows: Windows,
  signal: AbortSignal,
  watch: Watch,
  take: (piece: Uint8Array) => Promise<void>,
): Promise<void> {
  let [window, other] = windows
  let taking: Promise<void> | undefined
  for (let at = start; at < end;) {
    const piece = window.subarray(0, end - at)
    const from = at
    await Promise.all([taking, fromSource(watch, () => reader.read(piece, from, signal))])
    signal.throwIfAborted()
    taking = take(piece)
    ;[window, other] = [other, window]
    at += piece.byteLength
  }
  await taking
}

function changed(partNumber: number): UploadError {
  return new UploadError(
    'ERR_UPLOAD_SOURCE_CHANGED',
    `Part ${partNumber} is no longer what was sent. Upload the file again as it is now.`,
  )
}
