// A request body on its way out: a short one whole, a longer one piece by piece. undici gets one piece, and the next is
// asked for only when the last has left the process, because a piece's memory is refilled as soon as the next is asked
// for. Left alone, undici 7 would ask earlier whenever a piece is smaller than the socket's high-water mark.

import { bodyLength } from '../../../core/body-length.ts'
import type { Body } from '../../../core/ports.ts'
import { expectEnd, lengthError, SLICE_BYTES, stepsOf, type Steps } from './body-steps.ts'
import { PushedBody } from './pushed-body.ts'
import type { Wire } from './wire.ts'
import { isPromise } from '../../../core/is-promise.ts'

/** A body under way on one wire. */
export interface OutgoingBody {
  readonly lengthBytes: number
  /** What undici sends; null if there are no bytes. */
  readonly content: PushedBody | Uint8Array | null
  /** undici is about to write the request. */
  started(): void
  /** True if every byte was handed to the socket, which may still hold some. */
  isHandedOver(): boolean
  /**
   * Settles when the source has come to its end after the last byte. Rejects with the source's own error. Undefined if
   * there is nothing to wait for.
   */
  ended(): Promise<void> | undefined
  /** Reports the whole as sent if it was, and lets go of the source. Idempotent. */
  stop(): void
}

/**
 * The most that goes out before others get a turn, if the system takes it as fast as it comes: a millisecond or two of
 * work, or some eight if the calling thread hashes too. Waiting for a read, a hash or the line ends a turn earlier.
 * Progress is reported once a turn.
 */
const TURN_BYTES = 4 * 1024 * 1024

/** Prepares a body. `onFailure` hears at once if the source fails. */
export function createOutgoingBody(
  body: Body | undefined,
  wire: Wire,
  { onSent, onFailure }: { onSent: ((sentBytes: number) => void) | undefined; onFailure: (error: unknown) => void },
): OutgoingBody {
  const lengthBytes = body ? bodyLength(body) : 0
  const whole = body?.kind === 'bytes' && lengthBytes <= SLICE_BYTES ? body.bytes : undefined
  let source: Steps | undefined
  let tail: Promise<void> | undefined
  let givenBytes = 0
  /** How many of these have left the process. */
  let goneBytes = 0
  let reportedBytes = 0
  let isStopped = false

  const report = () => {
    if (goneBytes <= reportedBytes) return
    reportedBytes = goneBytes
    onSent?.(goneBytes)
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
  /**
   * Pushes pieces until there is something to wait for, or until others are to have their turn. Then it is called
   * again.
   */
  const pushPieces = (): void => {
    for (let turnBytes = 0; !isStopped;) {
      if (wire.whenFlushed(push) || wire.socket.destroyed) return
      goneBytes = givenBytes
      // The first progress is reported at once.
      if (reportedBytes <= 0) report()
      source ??= stepsOf(body)
      if (givenBytes === lengthBytes) {
        // The source runs to its end, where it may check itself, but the request is complete without that.
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
      if (isPromise(found)) {
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
  /** Does one turn, then reports progress. Never throws. */
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
      if (body === undefined) return
      // An answer may come before any of it has gone. Of a body without bytes, that is all there is to tell.
      onSent?.(0)
      if (whole === undefined) {
        pushed.started()
        return
      }
      // undici writes all of it before anything else runs.
      givenBytes = lengthBytes
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
