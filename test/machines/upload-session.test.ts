import { describe, expect, it } from 'vitest'
import { createActor, fromPromise } from 'xstate'

import type { TransferResult } from '../../src/core/transfer/transfer.ts'
import type { DrainReason, EndStatus } from '../../src/machines/session-data.ts'
import { uploadSessionMachine } from '../../src/machines/upload-session.ts'
import { handActors, settled } from './hand-actors.ts'
import { away, outageOf } from './session-events.ts'
import {
  cancel,
  close,
  created,
  nothing,
  pause,
  refused,
  resume,
  startSession,
  transferred,
} from './started-session.ts'

type Actors = NonNullable<Parameters<typeof uploadSessionMachine.provide>[0]['actors']>

describe('a life without disturbance', () => {
  it('creates, transfers, settles and is confirmed, in this order', async () => {
    const session = startSession()
    expect(session.context()).toEqual({
      ...{ place: 'new', intent: 'run', status: null, waiting: null },
      ...{ error: null, journalError: null, isServiceTold: null },
    })

    const seen = [session.state()]
    await session.answer('creatingSession', created)
    expect(session.context()).toMatchObject({ place: 'created' })
    seen.push(session.state())
    await session.answer('transferring', transferred({ confirmedCount: 2, failedCount: 0 }))
    seen.push(session.state())
    await session.answer('settling', nothing)
    seen.push(session.state())

    expect(seen).toEqual(['creating', 'uploading', 'settling', 'confirmed'])
    expect(session.runs.map(({ name, input }) => ({ name, input }))).toEqual([
      { name: 'creatingSession', input: undefined },
      { name: 'transferring', input: undefined },
      { name: 'settling', input: { status: 'confirmed' } },
    ])
    expect(session.context()).toEqual({
      ...{ place: 'created', intent: 'run', waiting: null },
      status: 'confirmed',
      error: null,
      journalError: null,
      isServiceTold: null,
    })
  })

  it.each([
    [{ confirmedCount: 3, failedCount: 0 }, 'confirmed'],
    [{ confirmedCount: 2, failedCount: 1 }, 'partial'],
    [{ confirmedCount: 0, failedCount: 3 }, 'failed'],
    [{ confirmedCount: 0, failedCount: 0 }, 'failed'],
  ])('ends a transfer of %o as %s', async (result, status) => {
    const session = startSession({ place: 'created' })

    await session.answer('transferring', transferred(result))
    await session.answer('settling', nothing)

    expect(session.state()).toBe(status)
    expect(session.context()).toMatchObject({ status, error: null })
  })
})

describe('where a folded journal goes on', () => {
  it.each([
    [{ place: 'new' }, 'creating', ['creatingSession']],
    [{ place: 'creating' }, 'creating', ['creatingSession']],
    [{ place: 'created' }, 'uploading', ['transferring']],
    [{ place: 'cancelling' }, 'cancelling.draining', ['draining']],
    [{ place: 'confirmed' }, 'confirmed', []],
    [{ place: 'partial' }, 'partial', []],
    [{ place: 'cancelled' }, 'cancelled', []],
    [{ place: 'failed' }, 'failed', []],
  ] as const)('%o starts in %s', (input, state, names) => {
    const session = startSession(input)

    expect(session.state()).toBe(state)
    expect(session.names()).toEqual(names)
  })
})

describe('pause and resume', () => {
  it('aborts the transfer at once, and is paused when its attempts have ended', async () => {
    const session = startSession({ place: 'created' })

    session.send(pause)

    expect(session.state()).toBe('pausing')
    expect(session.last('transferring').signal.aborted).toBe(true)
    expect(session.last('draining').input).toEqual({ reason: 'pause' })
    await session.answer('draining', nothing)
    expect(session.state()).toBe('paused')
  })

  it('runs no second transfer before the first has drained, when both come in one tick', async () => {
    const session = startSession({ place: 'created' })

    session.send(pause, resume, pause, resume)

    expect(session.names()).toEqual(['transferring', 'draining'])
    await session.answer('draining', nothing)
    expect(session.names()).toEqual(['transferring', 'draining', 'transferring'])
    expect(session.state()).toBe('uploading')
  })

  it('stays paused when the last word of one tick is pause', async () => {
    const session = startSession({ place: 'created' })

    session.send(pause, resume, pause)
    await session.answer('draining', nothing)

    expect(session.state()).toBe('paused')
  })

  it('hears nothing more of a transfer that it has aborted', async () => {
    const session = startSession({ place: 'created' })
    const first = session.last('transferring')

    session.send(pause)
    first.answer({ error: refused })
    await settled()

    expect(session.state()).toBe('pausing')
    expect(session.context().error).toBeNull()
  })

  it('lets a create finish before it pauses, and keeps the session', async () => {
    const session = startSession()

    session.send(pause)
    expect(session.last('creatingSession').signal.aborted).toBe(false)
    await session.answer('creatingSession', created)

    expect(session.state()).toBe('paused')
    expect(session.names()).toEqual(['creatingSession'])
    session.send(resume)
    expect(session.names()).toEqual(['creatingSession', 'transferring'])
  })

  it('forgets a pause that was taken back while the session was created', async () => {
    const session = startSession()

    session.send(pause, resume)
    await session.answer('creatingSession', created)

    expect(session.state()).toBe('uploading')
  })

  it('begins no transfer when it is not known that the attempts have ended', async () => {
    const session = startSession({ place: 'created' })

    session.send(pause, resume)
    await session.answer('draining', { error: { confirmedCount: 1, error: refused } })
    await session.answer('settling', nothing)

    expect(session.names()).toEqual(['transferring', 'draining', 'settling'])
    expect(session.context()).toMatchObject({ status: 'partial', error: refused })
  })
})

describe('close', () => {
  it.each([
    ['creating', { place: 'new' }, [], 'creatingSession', created],
    ['creating, which then fails by that', { place: 'new' }, [], 'creatingSession', { error: refused }],
    ['uploading', { place: 'created' }, [], 'draining', nothing],
    ['uploading, whose attempts do not end', { place: 'created' }, [], 'draining', { error: refused }],
    ['pausing', { place: 'created' }, [pause], 'draining', nothing],
  ] as const)('while it is %s lets it go as it is', async (_, input, before, actor, answer) => {
    const session = startSession(input)

    session.send(...before, close)
    await session.answer(actor, answer)

    expect(session.last('settling').input).toEqual({ status: 'closed' })
    await session.answer('settling', nothing)
    expect(session.state()).toBe('closed')
    expect(session.context()).toMatchObject({ status: 'closed', error: null })
  })

  it('ends what is paused at once', async () => {
    const session = startSession({ place: 'created' })
    session.send(pause)
    await session.answer('draining', nothing)

    session.send(close)

    expect(session.last('settling').input).toEqual({ status: 'closed' })
  })
})

describe('a service that cannot be reached while the session is created', () => {
  it('is waited for by the same call, which a pause ends at once', () => {
    const session = startSession()

    session.send(away)
    expect([session.state(), session.names()]).toEqual(['creating', ['creatingSession']])
    session.send(pause)

    expect(session.state()).toBe('pausing')
    expect(session.last('creatingSession').signal.aborted).toBe(true)
  })

  it('is waited for no more once it answers: its call is let finish again', () => {
    const session = startSession()

    session.send(away, { type: 'host.reachable' })
    expect(session.context().waiting).toBeNull()
    session.send(pause)

    expect(session.state()).toBe('creating')
    expect(session.last('creatingSession').signal.aborted).toBe(false)
  })

  it('has had its time when the call is late', () => {
    const session = startSession()

    session.send(pause, { type: 'create.late' })

    expect(session.state()).toBe('pausing')
    expect(session.last('creatingSession').signal.aborted).toBe(true)
  })
})

describe('a host that cannot be reached', () => {
  it('is waited for inside the same transfer, at rest and while it is tried', () => {
    const session = startSession({ place: 'created' })

    session.send(away)
    const first = session.context().waiting
    session.send({ type: 'host.unreachable', outage: outageOf(undefined) })
    const second = session.context().waiting
    const waitingState = session.state()
    session.send({ type: 'host.reachable' })

    expect([first, second]).toEqual([outageOf(1_000), outageOf(undefined)])
    expect(waitingState).toBe('uploading')
    expect(session.state()).toBe('uploading')
    expect(session.context().waiting).toBeNull()
    expect(session.names()).toEqual(['transferring'])
    expect(session.last('transferring').signal.aborted).toBe(false)
  })

  it('is forgotten by a pause', () => {
    const session = startSession({ place: 'created' })

    session.send(away, pause)

    expect(session.context().waiting).toBeNull()
  })
})

describe('failures', () => {
  it.each([
    [{ confirmedCount: 2, error: refused }, 'partial'],
    [{ confirmedCount: 0, error: refused }, 'failed'],
    [refused, 'failed'],
  ])('a transfer that rejects with %o is %s', async (reason, status) => {
    const session = startSession({ place: 'created' })

    await session.answer('transferring', { error: reason })

    expect(session.last('settling').input).toEqual({ status })
    await session.answer('settling', nothing)
    expect(session.context()).toMatchObject({ status, error: refused })
  })

  it('a create that fails leaves no session, and its error is told', async () => {
    const session = startSession()

    await session.answer('creatingSession', { error: refused })

    expect(session.last('settling').input).toEqual({ status: 'failed' })
    await session.answer('settling', nothing)
    expect(session.context()).toMatchObject({ status: 'failed', error: refused })
  })

  it('a journal that cannot be written takes nothing back', async () => {
    const session = startSession({ place: 'created' })

    await session.answer('transferring', transferred({ confirmedCount: 1, failedCount: 0 }))
    session.send(cancel)
    await session.answer('settling', { error: { code: 'ERR_UPLOAD_JOURNAL', message: 'The disk is full.' } })

    expect(session.context()).toMatchObject({
      status: 'confirmed',
      error: null,
      journalError: { code: 'ERR_UPLOAD_JOURNAL', message: 'The disk is full.' },
    })
  })

  it.each([
    ['creatingSession', { place: 'new' }, 'error'],
    ['transferring', { place: 'created' }, 'error'],
    ['draining', { place: 'cancelling' }, 'journalError'],
    ['cancellingSession', { place: 'cancelling' }, 'error'],
    ['settling', { place: 'created' }, 'journalError'],
  ] as const)('%s fails loudly, by its name, when it was not provided', async (name, input, field) => {
    const all: Actors = {
      creatingSession: fromPromise<unknown>(() => Promise.resolve({ sessionId: 's-1' })),
      transferring: fromPromise(() => Promise.resolve({ confirmedCount: 1, failedCount: 0 })),
      draining: fromPromise<TransferResult | undefined, { reason: DrainReason }>(() => Promise.resolve(undefined)),
      cancellingSession: fromPromise<{ isServiceTold: boolean }>(() => Promise.resolve({ isServiceTold: true })),
      settling: fromPromise<unknown, { status: EndStatus }>(() => Promise.resolve()),
    }
    const actors: Actors = Object.fromEntries(Object.entries(all).filter(([id]) => id !== name))
    const actor = createActor(uploadSessionMachine.provide({ actors }), { input: { ...input } }).start()

    await settled()

    expect(actor.getSnapshot().context[field]).toEqual({
      code: 'ERR_UPLOAD_INTERNAL',
      message: `The actor ${name} was not provided`,
    })
  })
})

it('aborts what runs when its program lets go of it', () => {
  const hand = handActors()
  const machine = uploadSessionMachine.provide({ actors: { transferring: hand.actor('transferring') } })
  const actor = createActor(machine, {
    input: { place: 'created' },
  }).start()

  actor.stop()

  expect(hand.last('transferring').signal.aborted).toBe(true)
})
