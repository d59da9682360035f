// What a body tells of its way, on a wire that takes everything at once or holds what it was given.

import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { createOutgoingBody, type OutgoingBody } from '../../../../src/adapters/node/http/outgoing-body.ts'
import type { PushedBody } from '../../../../src/adapters/node/http/pushed-body.ts'
import type { Wire } from '../../../../src/adapters/node/http/wire.ts'

const KIB = 1024
const MIB = 1024 * KIB
const PIECE_BYTES = 64 * KIB

/** After the immediates that are set now. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A wire that holds a piece while `isHolding`, until `flush`. */
function fakeWire() {
  let waiter: (() => void) | undefined
  const state = { isHolding: false }
  const wire: Wire = {
    socket: new Socket(),
    begin: () => undefined,
    reset: () => undefined,
    hasUnsentBytes: () => state.isHolding,
    whenFlushed(callback) {
      if (state.isHolding) waiter = callback
      return state.isHolding
    },
  }
  const flush = (): void => {
    state.isHolding = false
    waiter?.()
  }
  return { wire, state, flush }
}

/** Pieces that need no waiting. */
function piecesOf(lengthBytes: number, onPiece: (givenBytes: number) => void) {
  let at = 0
  const step = (): IteratorResult<Uint8Array, undefined> => {
    if (at === lengthBytes) return { value: undefined, done: true }
    at += PIECE_BYTES
    onPiece(at)
    return { value: new Uint8Array(PIECE_BYTES), done: false }
  }
  const windows = () => ({ step, [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(step()) }) })
  return { kind: 'windows', lengthBytes, windows } as const
}

function start(body: OutgoingBody): void {
  body.started()
  ;(body.content as PushedBody).resume()
}

test('what the system takes as it comes is told at its beginning, once a turn, and at its end', async () => {
  const sent: number[] = []
  const { wire } = fakeWire()
  const body = createOutgoingBody(
    piecesOf(10 * MIB, () => undefined),
    wire,
    {
      onSent: (bytes) => sent.push(bytes),
      onFailure: (error) => expect.unreachable(String(error)),
    },
  )

  start(body)
  while (!body.isHandedOver()) await nextTurn()

  expect(sent).toEqual([PIECE_BYTES, 4 * MIB, 8 * MIB, 10 * MIB])
})

test('of a piece that the system holds nothing is told until it has left, but all that left before it', async () => {
  const sent: number[] = []
  const { wire, state, flush } = fakeWire()
  const body = createOutgoingBody(
    piecesOf(MIB, (bytes) => (state.isHolding = bytes === 512 * KIB)),
    wire,
    {
      onSent: (bytes) => sent.push(bytes),
      onFailure: (error) => expect.unreachable(String(error)),
    },
  )

  start(body)
  await nextTurn()
  expect(sent).toEqual([PIECE_BYTES, 512 * KIB - PIECE_BYTES])
  flush()

  expect(sent).toEqual([PIECE_BYTES, 512 * KIB - PIECE_BYTES, MIB])
})
