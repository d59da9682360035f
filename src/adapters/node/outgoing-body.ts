// A request body on its way out: a short one whole, a longer one a piece at a time. It hands undici one piece and asks for the
// next only when the last has left the process, because the memory of a piece is refilled as soon as the next is asked
// for. undici 7 alone would ask earlier whenever a piece is smaller than the socket's high-water mark.

import { UploadError } from '../../core/errors.ts'
import type { Body } from '../../core/ports.ts'
import type { Wire } from './wire.ts'

/** A body under way on one wire. */
export interface OutgoingBody {
  readonly lengthBytes: number
  /** What undici sends; null where there are no bytes. */
  readonly content: AsyncIterableIterator<Uint8Array> | Uint8Array | null
  /** undici is about to write the request. */
  started(): void
  /** True when every byte was handed to the socket, which may still hold some. */
  isHandedOver(): boolean
  /**
   * Settles when the source has come to its end after the last byte; rejects with the source's own error. Undefined: there is
   * nothing to wait for.
   */
  ended(): Promise<void> | undefined
  /** Reports what was sent if the whole was, and lets go of the source. Idempotent. */
  stop(): void
}

// Only for `bytes`: what is longer goes out in slices, for progress. 1 MiB costs nothing against one write of the whole.
const SLICE_BYTES = 1024 * 1024

/** Prepares a body; `onFailure` hears at once when the source fails. */
export function createOutgoingBody(
  body: Body | undefined,
  wire: Wire,
  { onSent, onFailure }: { onSent: ((sentBytes: number) => void) | undefined; onFailure: (error: unknown) => void },
): OutgoingBody {
  const lengthBytes = lengthOf(body)
  const whole = body?.kind === 'bytes' && lengthBytes <= SLICE_BYTES ? body.bytes : undefined
  let source: AsyncIterator<Uint8Array> | undefined
  let tail: Promise<void> | undefined
  let givenBytes = 0
  let reportedBytes = -1
  let isStopped = false

  const report = () => {
    if (body === undefined || givenBytes <= reportedBytes) return
    reportedBytes = givenBytes
    if (givenBytes > 0 || lengthBytes === 0) onSent?.(givenBytes)
  }
  const reportGone = (): void => {
    if (!isStopped && !wire.hasUnsentBytes()) report()
  }
  const reportWhenFlushed = (): void => {
    const flushed = wire.whenFlushed()
    if (flushed === undefined) reportGone()
    else void flushed.then(reportGone)
  }
  // One function, without another promise for each layer: it runs for every piece.
  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    try {
      const flushed = wire.whenFlushed()
      if (flushed !== undefined) await flushed
      if (isStopped) return over
      report()
      source ??= windowsOf(body)[Symbol.asyncIterator]()
      if (givenBytes === lengthBytes) {
        // The source is run to its end, where it may check itself, but the request is complete without that.
        tail = expectEnd(source, lengthBytes)
        tail.catch(onFailure)
        return over
      }
      const step = await source.next()
      if (step.done) throw lengthError(givenBytes, lengthBytes)
      const endBytes = givenBytes + step.value.byteLength
      if (endBytes > lengthBytes) throw lengthError(endBytes, lengthBytes)
      givenBytes = endBytes
      return step
    } catch (error) {
      onFailure(error)
      return over
    }
  }
  return {
    lengthBytes,
    content: lengthBytes === 0 ? null : (whole ?? sequenceOf(next)),
    started: () => {
      if (whole === undefined || lengthBytes === 0) return
      // undici writes all of it before anything else runs.
      givenBytes = lengthBytes
      onSent?.(0)
      queueMicrotask(reportWhenFlushed)
    },
    isHandedOver: () => givenBytes === lengthBytes,
    ended: () => tail,
    stop: () => {
      if (isStopped) return
      isStopped = true
      if (givenBytes === lengthBytes && !wire.hasUnsentBytes()) report()
      void source?.return?.().catch(() => undefined)
    },
  }
}

function sequenceOf(next: () => Promise<IteratorResult<Uint8Array, undefined>>): AsyncIterableIterator<Uint8Array> {
  const sequence: AsyncIterableIterator<Uint8Array> = { [Symbol.asyncIterator]: () => sequence, next }
  return sequence
}

const over = { value: undefined, done: true } as const

/** How long a body is; 0 without one. */
export function lengthOf(body: Body | undefined): number {
  if (body === undefined) return 0
  return body.kind === 'bytes' ? body.bytes.byteLength : body.lengthBytes
}

function windowsOf(body: Body | undefined): AsyncIterable<Uint8Array> {
  if (body === undefined) return slices(new Uint8Array())
  if (body.kind === 'bytes') return slices(body.bytes)
  return body.kind === 'blob' ? body.blob.stream() : body.windows()
}

// eslint-disable-next-line @typescript-eslint/require-await -- Bytes at hand, in the shape of bytes to come.
async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.byteLength; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES)
}

async function expectEnd(source: AsyncIterator<Uint8Array>, lengthBytes: number): Promise<void> {
  for (let step = await source.next(); !step.done; step = await source.next()) {
    if (step.value.byteLength > 0) throw lengthError(lengthBytes + step.value.byteLength, lengthBytes)
  }
}

function lengthError(givenBytes: number, lengthBytes: number): UploadError {
  return new UploadError(
    'ERR_UPLOAD_INTERNAL',
    `A body of ${String(lengthBytes)} bytes gave ${givenBytes < lengthBytes ? 'only' : 'at least'} ${String(givenBytes)}`,
  )
}
