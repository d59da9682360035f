// Requests for tests of a transport, and how their outcomes are read.

import { inspect } from 'node:util'
import { isTransportError, type TransportError } from '../../core/errors.ts'
import { isPromise } from '../../core/is-promise.ts'
import type { Body, PieceSequence, TransportReply, TransportRequest } from '../../core/ports.ts'

/** A PUT to a server, without a body unless one is given. */
export function requestTo(
  server: { readonly origin: string },
  request: Partial<TransportRequest> = {},
): TransportRequest {
  return {
    method: 'PUT',
    url: `${server.origin}/part?X-Amz-Signature=5ecre7`,
    headers: {},
    signal: new AbortController().signal,
    ...request,
  }
}

/** Bytes in which a piece that is lost, doubled or moved shows. */
export function pattern(lengthBytes: number): Uint8Array {
  const bytes = new Uint8Array(lengthBytes)
  for (let at = 0; at < lengthBytes; at += 1) bytes[at] = (at * 31 + (at >> 8) * 7 + (at >> 16)) & 0xff
  return bytes
}

/** The same bytes as a body of one kind; windows are slices of them. */
export function bodyOf(kind: Body['kind'], bytes: Uint8Array, windowBytes = 65_536): Body {
  const lengthBytes = bytes.byteLength
  if (kind === 'bytes') return { kind, bytes }
  if (kind === 'blob') return { kind, lengthBytes, blob: new Blob([new Uint8Array(bytes)]) }
  async function* windows() {
    for (let at = 0; at < lengthBytes; at += windowBytes) yield bytes.subarray(at, at + windowBytes)
  }
  return { kind, lengthBytes, windows }
}

/** The same bytes through one window, which changes as soon as the next piece is asked for. Every third step must be waited for. */
export function refilledWindow(bytes: Uint8Array, windowBytes: number): Required<PieceSequence> {
  const window = new Uint8Array(windowBytes)
  let at = 0
  let steps = 0
  const step = (): IteratorResult<Uint8Array, undefined> | Promise<void> => {
    window.fill(0xee)
    if (at === bytes.byteLength) return { value: undefined, done: true }
    if ((steps += 1) % 3 === 0) return Promise.resolve()
    const piece = window.subarray(0, Math.min(windowBytes, bytes.byteLength - at))
    piece.set(bytes.subarray(at, (at += piece.byteLength)))
    return { value: piece, done: false }
  }
  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    for (;;) {
      const found = step()
      if (!isPromise(found)) return found
      await found
    }
  }
  return { step, [Symbol.asyncIterator]: () => ({ next }) }
}

/** The TransportError that a promise must reject with. */
export async function failureOf(sending: Promise<TransportReply>): Promise<TransportError> {
  const outcome = await sending.catch((error: unknown) => error)
  if (isTransportError(outcome)) return outcome
  throw new Error(`Expected a TransportError, got ${inspect(outcome)}`)
}

/** The body of an answer. */
export function textOf(reply: TransportReply): string {
  return new TextDecoder().decode(reply.body)
}
