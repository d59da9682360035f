import { describe, expect, it } from 'vitest'

import { settled } from './hand-actors.ts'
import { away } from './session-events.ts'
import { cancel, created, nothing, pause, refused, resume, startSession } from './started-session.ts'

describe('cancel', () => {
  it('lets a create finish, then cancels the session that it made', async () => {
    const session = startSession()

    session.send(cancel)
    expect(session.state()).toBe('creating')
    expect(session.last('creatingSession').signal.aborted).toBe(false)
    await session.answer('creatingSession', created)
    await session.answer('draining', nothing)
    await session.answer('cancellingSession', { output: { isServiceTold: true } })
    await session.answer('settling', nothing)

    expect(session.names()).toEqual(['creatingSession', 'draining', 'cancellingSession', 'settling'])
    expect(session.context()).toMatchObject({ status: 'cancelled', isServiceTold: true, error: null })
  })

  it('is not taken back by pause and resume while the session is created', async () => {
    const session = startSession()

    session.send(cancel, pause, resume)
    await session.answer('creatingSession', created)

    expect(session.state()).toBe('cancelling.draining')
    expect(session.context().intent).toBe('cancel')
  })

  it('goes the same way when the create fails, since it may have left a session behind', async () => {
    const session = startSession()

    session.send(cancel)
    await session.answer('creatingSession', { error: refused })
    await session.answer('draining', nothing)
    await session.answer('cancellingSession', { output: { isServiceTold: false } })
    await session.answer('settling', nothing)

    expect(session.context()).toMatchObject({ status: 'cancelled', isServiceTold: false, error: refused })
  })

  it('aborts the transfer, waits for its attempts and only then tells the service', async () => {
    const session = startSession({ place: 'created' })

    session.send(cancel)

    expect(session.last('transferring').signal.aborted).toBe(true)
    expect(session.last('draining').input).toEqual({ reason: 'cancel' })
    expect(session.names()).toEqual(['transferring', 'draining'])
    await session.answer('draining', nothing)
    expect(session.state()).toBe('cancelling.telling')
  })

  it('in the middle of a pause drains anew, and does not take the end of the first drain for its own', async () => {
    const session = startSession({ place: 'created' })
    session.send(pause)
    const forPause = session.last('draining')

    session.send(cancel)
    forPause.answer(nothing)
    await settled()

    expect(forPause.signal.aborted).toBe(true)
    expect(session.state()).toBe('cancelling.draining')
  })

  it.each([
    ['paused', [pause]],
    ['uploading', [away]],
  ])('works from %s', async (state, events) => {
    const session = startSession({ place: 'created' })
    session.send(...events)
    if (state === 'paused') await session.answer('draining', nothing)
    expect(session.state()).toBe(state)

    session.send(cancel)
    await session.answer('draining', nothing)
    await session.answer('cancellingSession', { output: { isServiceTold: false } })
    await session.answer('settling', nothing)

    expect(session.context()).toMatchObject({ status: 'cancelled', isServiceTold: false })
  })

  it('changes nothing a second time: no call is aborted and none is repeated', async () => {
    const session = startSession({ place: 'cancelling' })
    expect(session.context().intent).toBe('cancel')
    await session.answer('draining', nothing)

    session.send(cancel, pause, cancel)

    expect(session.names()).toEqual(['draining', 'cancellingSession'])
    expect(session.last('cancellingSession').signal.aborted).toBe(false)
    expect(session.context().intent).toBe('cancel')
  })

  it('ends as cancelled, and says so, when draining and telling break', async () => {
    const session = startSession({ place: 'cancelling' })

    await session.answer('draining', { error: { code: 'ERR_UPLOAD_NETWORK', message: 'no answer' } })
    await session.answer('cancellingSession', { error: refused })
    await session.answer('settling', nothing)

    expect(session.context()).toMatchObject({ status: 'cancelled', isServiceTold: false, error: refused })
  })
})
