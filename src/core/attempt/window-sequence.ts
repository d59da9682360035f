// One sequence of windows over a range of a source: while one window is on the line, the other is being filled. A window is
// filled again only after it was sent (the next one was asked for) and hashed.

import type { Pace } from '../line/pace.ts'
import type { PieceSequence, Unit } from '../ports.ts'
import type { Slicer } from './slices.ts'
import { isPromise } from '../is-promise.ts'

export interface SequenceOptions {
  readonly unit: Unit
  /** One window if the unit fits into it, else two. */
  readonly windows: readonly Uint8Array[]
  /** Gives leave to send. */
  readonly pace: Pick<Pace, 'pieceBytes'> & { take(bytes: number): Promise<void> | undefined }
  /** Cuts windows into the pieces that go to the line at once. */
  readonly slicer: Slicer
  /** Called when the body waits for the disk, the hash or leave to send. */
  readonly onHold: () => void
  /** Called when it waits for the line again: a window is about to be taken, or the last one was. */
  readonly onReady: () => void
}

/** What the sequences of one body share: the body is filled and hashed for one of them at a time. */
export interface BodySteps {
  /** The body is over, or a newer sequence has begun. */
  isStale(): boolean
  /** Fills a window with the bytes from `at` on. Undefined: that is already done. */
  fill(window: Uint8Array, at: number): Promise<void> | undefined
  /** Begins the hash of a sequence, once nothing touches the windows; until then, gives what must be waited for. */
  begin(): Promise<void> | undefined
  /** Hashes a window. Undefined: it is done, or nothing is hashed. */
  update(piece: Uint8Array): Promise<void> | undefined
}

const OVER = { value: undefined, done: true } as const
const NOTHING: Uint8Array = /* @__PURE__ */ new Uint8Array()

/**
 * Makes a sequence that works in steps, without a promise where there is nothing to wait for: what each window costs limits how
 * fast one thread can send. A window is read ahead only where reading takes waiting; otherwise it would only lie and grow cold.
 */
export function createSequence(options: SequenceOptions, shared: BodySteps): PieceSequence {
  const { unit, windows, slicer, pace, onHold, onReady } = options
  /** The window that is filled next, and the one that was filled last. */
  let [next = NOTHING, last = next] = windows
  let isBegun = false
  let isDone = unit.end <= unit.start
  /** Where the filled bytes end in the source, what the current window holds of them, and how much of that was given out. */
  let at = unit.start
  let piece: Uint8Array = NOTHING
  let givenBytes = 0
  let hashing: Promise<void> | undefined
  /** What comes next, once `filling` has ended. It lies in the other window while this piece is on the line. */
  let ahead: Uint8Array | undefined
  let filling: Promise<void> | undefined
  let isSlow = false
  /** A slice that has leave to go, or waits for it. */
  let slice: Uint8Array | undefined
  let isOut = false
  /** The line has taken what it was given and waits for more. */
  let isAsked = false

  const fillNext = (): Uint8Array => {
    const filled = next.subarray(0, unit.end - at)
    filling = shared.fill(filled, at)
    return filled
  }
  const turnTo = (filled: Uint8Array): void => {
    ;[next, last] = [last, next]
    piece = filled
    givenBytes = 0
    at += filled.byteLength
    ahead = isSlow && at < unit.end ? fillNext() : undefined
    isSlow = false
    hashing = shared.update(filled)
  }
  const look = (): IteratorResult<Uint8Array, undefined> | Promise<void> => {
    if (isDone || shared.isStale()) return OVER
    if (!isBegun) {
      const wait = shared.begin()
      if (wait) return wait
      isBegun = true
    }
    if (givenBytes === piece.byteLength) {
      // What was sent may still be being hashed.
      const hashed = hashing
      hashing = undefined
      if (hashed) return hashed
      if (at === unit.end) {
        isDone = true
        onReady()
        return OVER
      }
      ahead ??= fillNext()
      if (filling) {
        const filled = filling
        filling = undefined
        isSlow = true
        return filled
      }
      turnTo(ahead)
    }
    if (!slice) {
      const most = Math.min(slicer.size(), pace.pieceBytes())
      slice = piece.subarray(givenBytes, givenBytes + most)
      const leave = pace.take(slice.byteLength)
      if (leave) return leave
    }
    const value = slice
    slice = undefined
    givenBytes += value.byteLength
    isOut = true
    onReady()
    slicer.began()
    return { value, done: false }
  }
  const step = (): IteratorResult<Uint8Array, undefined> | Promise<void> => {
    if (isOut) slicer.ended()
    isOut = false
    if (!isAsked && !isDone) onHold()
    isAsked = true
    const found = look()
    isAsked = isPromise(found)
    return found
  }
  const sequence: AsyncIterableIterator<Uint8Array, undefined> & PieceSequence = {
    [Symbol.asyncIterator]: () => sequence,
    step,
    async next() {
      for (;;) {
        const found = step()
        if (!isPromise(found)) return found
        await found
      }
    },
  }
  return sequence
}
