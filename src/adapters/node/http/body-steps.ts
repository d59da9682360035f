// The pieces of a request body, one after the other, for every kind of body, without a promise where nothing is waited
// for.

import { UploadError } from '../../../core/errors.ts'
import type { Body } from '../../../core/ports.ts'
import { isPromise } from '../../../core/is-promise.ts'

// Only for `bytes`: longer ones go out in slices, for the sake of progress. 1 MiB costs nothing compared with one write
// of the whole.
export const SLICE_BYTES = 1024 * 1024

/** Any source of bytes, as steps. */
export interface Steps {
  step(): IteratorResult<Uint8Array, undefined> | Promise<void>
  /** Nobody will ask for a step again. */
  stop(): void
}

/** The steps of a body, from its first byte on. */
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

/** Makes sure that the source has ended. Undefined: it has. A promise: it is still being waited for. */
export function expectEnd(source: Steps, lengthBytes: number): Promise<void> | undefined {
  for (;;) {
    const found = source.step()
    if (isPromise(found)) return found.then(() => expectEnd(source, lengthBytes))
    if (found.done === true) return undefined
    if (found.value.byteLength > 0) throw lengthError(lengthBytes + found.value.byteLength, lengthBytes)
  }
}

/** A source gave another number of bytes than the request announced: a mistake of ours. */
export function lengthError(givenBytes: number, lengthBytes: number): UploadError {
  return new UploadError(
    'ERR_UPLOAD_INTERNAL',
    `A body of ${String(lengthBytes)} bytes gave ${givenBytes < lengthBytes ? 'only' : 'at least'} ${String(givenBytes)}`,
  )
}
