// What a body tells of its way, on a wire that takes everything at once or holds what it was given.

import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { Steps } from '../../../../src/adapters/node/http/body-steps.ts'
import { createOutgoingBody, type OutgoingBody } from '../../../../src/adapters/node/http/outgoing-body.ts'
import type { PushedBody } from '../../../../src/adapters/node/http/pushed-body.ts'
import type { Wire } from '../../../../src/adapters/node/http/wire.ts'
import type { Body, PieceSequence } from '../../../../src/core/ports.ts'

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
  /** Whoever waits is called, as when the connection ends with bytes that never left. */
  const wake = (): void => waiter?.()
  const flush = (): void => {
    state.isHolding = false
    wake()
  }
  return { wire, state, wake, flush }
}

/** A body on such a wire, and what it tells. */
function under(given: Body | undefined) {
  const sent: number[] = []
  const failures: unknown[] = []
  const line = fakeWire()
  const body = createOutgoingBody(given, line.wire, {
    onSent: (bytes) => sent.push(bytes),
    onFailure: (error) => failures.push(error),
  })
  return { ...line, body, sent, failures }
}

/** Pieces that need no waiting. */
function piecesOf(lengthBytes: number, onPiece: (givenBytes: number) => void = () => undefined): Body {
  let at = 0
  return stepsOf(lengthBytes, () => {
    if (at === lengthBytes) return { value: undefined, done: true }
    at += PIECE_BYTES
    onPiece(at)
    return { value: new Uint8Array(PIECE_BYTES), done: false }
  })
}

function stepsOf(lengthBytes: number, step: Steps['step']): Body {
  const windows = () => ({ step }) as unknown as PieceSequence
  return { kind: 'windows', lengthBytes, windows }
}

function start(body: OutgoingBody): void {
  body.started()
  // undici calls it again whenever the socket has room.
  for (let time = 0; time < 2; time += 1) (body.content as PushedBody).resume()
}

test('what the system takes as it comes is told at its beginning, once a turn, and at its end', async () => {
  const { body, sent, failures } = under(piecesOf(10 * MIB))

  start(body)
  while (!body.isHandedOver()) await nextTurn()

  expect([failures, sent]).toEqual([[], [0, PIECE_BYTES, 4 * MIB, 8 * MIB, 10 * MIB]])
})

test('of a piece that the system holds nothing is told until it has left, but all that left before it', async () => {
  const { body, sent, state, flush } = under(piecesOf(MIB, (bytes) => (state.isHolding = bytes === 512 * KIB)))

  start(body)
  await nextTurn()
  expect(sent).toEqual([0, PIECE_BYTES, 512 * KIB - PIECE_BYTES])
  flush()
  body.stop()

  expect(sent).toEqual([0, PIECE_BYTES, 512 * KIB - PIECE_BYTES, MIB])
})

test('no more is told than that the connection is there, and no piece asked for, while the head of the request has not left', async () => {
  let givenBytes = 0
  const { body, sent, state, flush } = under(piecesOf(PIECE_BYTES, (bytes) => (givenBytes = bytes)))
  state.isHolding = true

  start(body)
  await Promise.resolve()
  expect([sent, givenBytes]).toEqual([[0], 0])
  flush()

  expect([sent, givenBytes]).toEqual([[0, PIECE_BYTES], PIECE_BYTES])
})

test.each([1, 10, MIB])(
  'a short body of %i bytes is told as begun at once, and as sent when it has left',
  async (length) => {
    const { body, sent, state, flush } = under({ kind: 'bytes', bytes: new Uint8Array(length) })
    state.isHolding = true

    body.started()
    await Promise.resolve()
    expect([sent, body.isHandedOver()]).toEqual([[0], true])
    flush()
    expect(sent).toEqual([0, length])
    body.stop()

    expect(sent).toEqual([0, length])
  },
)

test('a short body that the system takes at once is told as sent before there is an answer', async () => {
  const { body, sent } = under({ kind: 'bytes', bytes: new Uint8Array(10) })

  body.started()
  await Promise.resolve()

  expect(sent).toEqual([0, 10])
})

test.each(['ended', 'stopped'] as const)(
  'a short body is not told as sent where its connection has %s before',
  async (how) => {
    const { body, sent, state, wake, flush } = under({ kind: 'bytes', bytes: new Uint8Array(10) })
    state.isHolding = true
    body.started()
    await Promise.resolve()

    if (how === 'stopped') body.stop()
    if (how === 'stopped') flush()
    else wake()

    expect(sent).toEqual([0])
  },
)

test('bytes of more than a mebibyte go out in slices', async () => {
  const { body, sent, failures } = under({ kind: 'bytes', bytes: new Uint8Array(2 * MIB + 1) })

  start(body)
  while (!body.isHandedOver()) await nextTurn()
  await body.ended()

  expect([failures, sent]).toEqual([[], [0, MIB, 2 * MIB, 2 * MIB + 1]])
})

test('a body without bytes is told as sent once it is on its way, so that its answer is waited for; no body is told as nothing', async () => {
  for (const [given, told] of [
    [{ kind: 'bytes', bytes: new Uint8Array() }, [0]],
    [undefined, []],
  ] as const) {
    const { body, sent } = under(given)
    body.started()
    expect([body.content, body.isHandedOver(), sent]).toEqual([null, true, told])
    await Promise.resolve()
    body.stop()

    expect(sent).toEqual(told)
  }
})

test('nothing more is asked of a source whose connection has ended, or that was let go of', async () => {
  for (const how of ['ended', 'let go'] as const) {
    let givenBytes = 0
    const { body, wire } = under(piecesOf(10 * MIB, (bytes) => (givenBytes = bytes)))
    start(body)
    await Promise.resolve()
    expect(givenBytes).toBe(4 * MIB)

    if (how === 'ended') wire.socket.destroy()
    else body.stop()
    await nextTurn()

    expect(givenBytes).toBe(4 * MIB)
  }
})

test('a source that fails is told, unless it was let go of', async () => {
  for (const isLetGo of [false, true]) {
    const problem = new Error('the disk is gone')
    const { body, failures } = under(stepsOf(MIB, () => Promise.reject(problem)))
    start(body)
    await Promise.resolve()
    if (isLetGo) body.stop()
    await nextTurn()

    expect(failures).toEqual(isLetGo ? [] : [problem])
  }
})
