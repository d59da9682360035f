// A request body on its way out: a short one whole, a longer one a piece at a time. It hands undici one piece and asks for the
// next only when the last has left the process, because the memory of a piece is refilled as soon as the next is asked
// for. undici 7 alone would ask earlier whenever a piece is smaller than the socket's high-water mark.

import { UploadError } from '../../../core/errors.ts'
import type { Body } from '../../../core/ports.ts'
import { PushedBody } from './pushed-body.ts'
import type { Wire } from './wire.ts'

/** A body under way on one wire. */
export interface OutgoingBody {
  readonly lengthBytes: number
  /** What undici sends; null where there are no bytes. */
  readonly content: PushedBody | Uint8Array | null
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

/**
 * So much at most goes out before others get a turn, when the system takes it as fast as it comes: a millisecond or two, some
 * eight where the calling thread hashes too. What waits for a read, a hash or the line ends its turn earlier. What went is told
 * once a turn.
 */
const TURN_BYTES = 4 * 1024 * 1024

/** Prepares a body; `onFailure` hears at once when the source fails. */
export function createOutgoingBody(
  body: Body | undefined,
  wire: Wire,
  { onSent, onFailure }: { onSent: ((sentBytes: number) => void) | undefined; onFailure: (error: unknown) => void },
): OutgoingBody {
  const lengthBytes = lengthOf(body)
  const whole = body?.kind === 'bytes' && lengthBytes <= SLICE_BYTES ? body.bytes : undefined
  let source: Steps | undefined
  let tail: Promise<void> | undefined
  let givenBytes = 0
  /** Of these, what has left the process. */
  let goneBytes = 0
  let reportedBytes = -1
  let isStopped = false

  const report = () => {
    if (body === undefined || goneBytes <= reportedBytes) return
    reportedBytes = goneBytes
    if (goneBytes > 0 || lengthBytes === 0) onSent?.(goneBytes)
  }
  const reportAll = (): void => {
    goneBytes = givenBytes
    report()
  }
  const reportGone = (): void => {
    if (!isStopped && !wire.hasUnsentBytes()) reportAll()
  }
  const reportWhenFlushed = (): void => {
    if (!wire.whenFlushed(reportGone)) reportGone()
  }
  const fail = (error: unknown): void => {
    if (!isStopped) onFailure(error)
  }
  /** Pushes pieces until there is something to wait for, or others are to have their turn, and is called again then. */
  const pushPieces = (): void => {
    for (let turnBytes = 0; !isStopped;) {
      if (wire.whenFlushed(push) || wire.socket.destroyed) return
      goneBytes = givenBytes
      // That it moves at all is told at once.
      if (reportedBytes <= 0) report()
      source ??= stepsOf(body)
      if (givenBytes === lengthBytes) {
        // The source is run to its end, where it may check itself, but the request is complete without that.
        tail = expectEnd(source, lengthBytes)
        tail?.catch(onFailure)
        pushed.end()
        return
      }
      if (turnBytes >= TURN_BYTES) {
        setImmediate(push)
        return
      }
      const found = source.step()
      if (found instanceof Promise) {
        found.then(push, fail)
        return
      }
      if (found.done === true) throw lengthError(givenBytes, lengthBytes)
      const piece = found.value
      if (givenBytes + piece.byteLength > lengthBytes) throw lengthError(givenBytes + piece.byteLength, lengthBytes)
      givenBytes += piece.byteLength
      turnBytes += piece.byteLength
      pushed.push(piece)
    }
  }
  /** One turn, after which it is told how much has gone. Nothing throws. */
  const push = (): void => {
    try {
      pushPieces()
    } catch (error) {
      fail(error)
    }
    if (!isStopped) report()
  }
  const pushed = new PushedBody(push)
  return {
    lengthBytes,
    content: lengthBytes === 0 ? null : (whole ?? pushed),
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
      if (givenBytes === lengthBytes && !wire.hasUnsentBytes()) reportAll()
      source?.stop()
    },
  }
}

/** How long a body is; 0 without one. */
export function lengthOf(body: Body | undefined): number {
  if (body === undefined) return 0
  return body.kind === 'bytes' ? body.bytes.byteLength : body.lengthBytes
}

/** A source in steps, whatever it is. */
interface Steps {
  step(): IteratorResult<Uint8Array, undefined> | Promise<void>
  /** Nobody will ask again. */
  stop(): void
}

function stepsOf(body: Body | undefined): Steps {
  if (body === undefined || body.kind === 'bytes') return iterated(slices(body?.bytes ?? new Uint8Array()))
  if (body.kind === 'blob') return iterated(body.blob.stream())
  const sequence = body.windows()
  const step = sequence.step?.bind(sequence)
  return step === undefined ? iterated(sequence) : { step, stop: () => undefined }
}

function iterated(sequence: AsyncIterable<Uint8Array>): Steps {
  const iterator = sequence[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, undefined>
  let next: IteratorResult<Uint8Array, undefined> | undefined
  return {
    step() {
      const found = next
      next = undefined
      return (
        found ??
        iterator.next().then((result) => {
          next = result
        })
      )
    },
    stop: () => void iterator.return?.().catch(() => undefined),
  }
}

// eslint-disable-next-line @typescript-eslint/require-await -- Bytes at hand, in the shape of bytes to come.
async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.byteLength; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES)
}

/** Undefined: it has come to its end. */
function expectEnd(source: Steps, lengthBytes: number): Promise<void> | undefined {
  for (;;) {
    const found = source.step()
    if (found instanceof Promise) return found.then(() => expectEnd(source, lengthBytes))
    if (found.done === true) return undefined
    if (found.value.byteLength > 0) throw lengthError(lengthBytes + found.value.byteLength, lengthBytes)
  }
}

function lengthError(givenBytes: number, lengthBytes: number): UploadError {
  return new UploadError(
    'ERR_UPLOAD_INTERNAL',
    `A body of ${String(lengthBytes)} bytes gave ${givenBytes < lengthBytes ? 'only' : 'at least'} ${String(givenBytes)}`,
  )
}
