// The pieces of a request body one after the other, whatever kind of body it is, without a promise where nothing is waited for.

import { UploadError } from '../../../core/errors.ts'
import type { Body } from '../../../core/ports.ts'
import { isPromise } from '../../../core/is-promise.ts'

// Only for `bytes`: what is longer goes out in slices, for progress. 1 MiB costs nothing against one write of the whole.
export const SLICE_BYTES = 1024 * 1024

/** How long a body is; 0 without one. */
export function lengthOf(body: Body | undefined): number {
  if (body === undefined) return 0
  return body.kind === 'bytes' ? body.bytes.byteLength : body.lengthBytes
}

/** A source in steps, whatever it is. */
export interface Steps {
  step(): IteratorResult<Uint8Array, undefined> | Promise<void>
  /** Nobody will ask again. */
  stop(): void
}

/** From the first byte on. */
export function stepsOf(body: Body | undefined): Steps {
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
export function expectEnd(source: Steps, lengthBytes: number): Promise<void> | undefined {
  for (;;) {
    const found = source.step()
    if (isPromise(found)) return found.then(() => expectEnd(source, lengthBytes))
    if (found.done === true) return undefined
    if (found.value.byteLength > 0) throw lengthError(lengthBytes + found.value.byteLength, lengthBytes)
  }
}

/** A source gave another number of bytes than the request has announced: a mistake of ours. */
export function lengthError(givenBytes: number, lengthBytes: number): UploadError {
  return new UploadError(
    'ERR_UPLOAD_INTERNAL',
    `A body of ${String(lengthBytes)} bytes gave ${givenBytes < lengthBytes ? 'only' : 'at least'} ${String(givenBytes)}`,
  )
}
