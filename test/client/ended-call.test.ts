// Calls that end early: by a deadline, by an abort, by what no service should answer.

import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { UploadError } from '../../src/core/errors.ts'
import {
  aMocapSession,
  anAnalysis,
  answerNext,
  clientUnderTest,
  makeHostKnown,
  rejection,
} from './client-under-test.ts'
import { aConfirmation, confirm } from './repeat-rig.ts'

describe('a deadline', () => {
  it('ends a try, which is then repeated', async () => {
    const subject = clientUnderTest({ callTimeoutMs: 2000 })
    await makeHostKnown(subject)
    const confirmed = confirm(subject)
    const first = await subject.transport.next()
    await subject.clock.advance(1999)
    expect(first.request.signal.aborted).toBe(false)
    await subject.clock.advance(1)
    expect(first.request.signal.aborted).toBe(true)
    await subject.clock.advance(250)
    await answerNext(subject, { status: 200 })

    await expect(confirmed).resolves.toBeUndefined()
  })

  it('counts from when a try no longer waits for something of this machine', async () => {
    const subject = clientUnderTest({ callTimeoutMs: 2000 })
    const confirmed = confirm(subject)
    const { request, reply } = await subject.transport.next()
    for (let second = 0; second < 60; second += 1) {
      request.onStarted?.()
      await subject.clock.advance(1000)
    }
    expect(request.signal.aborted).toBe(false)
    reply({ status: 200 })

    await expect(confirmed).resolves.toBeUndefined()
    expect(subject.clock.pending).toBe(0)
  })

  it.each([
    ['doubtful', 'ERR_UPLOAD_TIMEOUT'],
    ['neverWhole', undefined],
  ] as const)('of a create that ends %s is judged by how it ended', async (ending, code) => {
    const subject = clientUnderTest({ callTimeoutMs: 2000 })
    const outcome = subject.client.requestedAnalyses.create(anAnalysis).catch((error: unknown) => error)
    ;(await subject.transport.next()).endsAs(ending)
    await subject.clock.advance(2000)
    if (code === undefined) {
      await subject.clock.advance(250)
      await answerNext(subject, { status: 201, body: { id: 5 } })
      expect(await outcome).toStrictEqual({ id: 5 })
    } else {
      expect(await outcome).toMatchObject({ code, details: { isDoubtful: true } })
    }
  })
})

describe('an abort', () => {
  const reason = new Error('the host changed its mind')

  it.each([
    ['neverWhole', 1],
    ['doubtful', 0],
  ] as const)('of a try that ends %s says whether nobody can have heard it', async (ending, times) => {
    const subject = clientUnderTest()
    const controller = new AbortController()
    const { signal } = controller
    let unheard = 0
    const input = { sessionId: 's', filenames: ['a'], reprocess: false }
    const onUnheard = (): void => void (unheard += 1)
    const outcome = rejection(subject.client.mocapSessionFiles.register(input, { signal, onUnheard }))
    ;(await subject.transport.next()).endsAs(ending)
    controller.abort(reason)

    expect([await outcome, unheard]).toEqual([reason, times])
  })

  it('before the call sends nothing', async () => {
    const subject = clientUnderTest()

    const error = await rejection(subject.client.requestedAnalyses.list({}, { signal: AbortSignal.abort(reason) }))

    expect(error).toBe(reason)
    expect(subject.transport.sent).toHaveLength(0)
  })

  it('is heard by every method: what a stop does not reach goes on asking for an hour', async () => {
    const { client, transport } = clientUnderTest()
    const options = { signal: AbortSignal.abort(reason) }
    const update = { id: 5, data: {} }
    const files = [{ name: 'a.mp4', sizeBytes: 1, partCount: 1 }]
    const ofClip = { movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 }
    const errors = await Promise.all(
      [
        client.mocapSessions.create(aMocapSession, options),
        client.mocapSessionFiles.register({ sessionId: 's-1', filenames: ['a.action'] }, options),
        client.playerGroupSegments.create({ movementTypeId: 1, domHand: 'RHA' }, options),
        client.playerGroupSegments.update(update, options),
        client.requestedAnalyses.list({}, options),
        client.requestedAnalyses.create(anAnalysis, options),
        client.requestedAnalyses.get(5, options),
        client.requestedAnalyses.update(update, options),
        client.requestedAnalyses.submit(5, options),
        client.videoUploads.create({ files, ...ofClip }, options),
        client.videoUploads.confirm(aConfirmation, options),
        client.videoUploads.cancel('us-1', options),
        client.call('GET', '/players', options),
      ].map(rejection),
    )

    expect(new Set(errors)).toEqual(new Set([reason]))
    expect(transport.sent).toHaveLength(0)
  })

  it('during a try ends it with the reason, and leaves nothing behind', async () => {
    const subject = clientUnderTest()
    const controller = new AbortController()
    const failure = rejection(subject.client.requestedAnalyses.list({}, { signal: controller.signal }))
    const request = await subject.transport.next()
    controller.abort(reason)

    expect(await failure).toBe(reason)
    expect(request.request.signal.reason).toBe(reason)
    expect(subject.clock.pending).toBe(0)
  })

  it('of a create is no doubtful end but an abort', async () => {
    const subject = clientUnderTest()
    const controller = new AbortController()
    const failure = rejection(subject.client.requestedAnalyses.create(anAnalysis, { signal: controller.signal }))
    await subject.transport.next()
    controller.abort(reason)

    expect(await failure).toBe(reason)
  })

  it('has no listener left when the call has settled, whatever happened in it', async () => {
    const subject = clientUnderTest({ credentials: { accessToken: () => 'token' } })
    const { signal } = new AbortController()
    const list = subject.client.requestedAnalyses.list({}, { signal })
    ;(await subject.transport.next()).fail({ phase: 'send' })
    await subject.clock.advance(250)
    await answerNext(subject, { status: 401 })
    await answerNext(subject, { status: 200, body: [] })
    await list

    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('is listened to once however many calls it is given to, and ends them all', async () => {
    const ofClient = new AbortController().signal
    const subject = clientUnderTest({ signal: ofClient })
    const controller = new AbortController()
    const { signal } = controller
    const failures = Array.from({ length: 11 }, () => rejection(subject.client.requestedAnalyses.list({}, { signal })))
    await subject.transport.next()
    const listeners = [signal, ofClient].map((each) => getEventListeners(each, 'abort').length)
    controller.abort(reason)

    expect(await Promise.all(failures)).toEqual(failures.map(() => reason))
    // Node warns of a leak at eleven.
    expect(listeners).toEqual([1, 1])
    expect(getEventListeners(ofClient, 'abort')).toHaveLength(0)
  })

  it('while waiting ends the wait', async () => {
    const subject = clientUnderTest()
    const controller = new AbortController()
    const failure = rejection(subject.client.requestedAnalyses.list({}, { signal: controller.signal }))
    await answerNext(subject, { status: 503 })
    await subject.clock.advance(1)
    controller.abort(reason)

    expect(await failure).toBe(reason)
    expect(subject.clock.pending).toBe(0)
  })

  it('while a credential is awaited ends the wait', async () => {
    const subject = clientUnderTest({ credentials: { accessToken: () => new Promise<string>(() => {}) } })
    const controller = new AbortController()
    const failure = rejection(subject.client.requestedAnalyses.list({}, { signal: controller.signal }))
    controller.abort(reason)

    expect(await failure).toBe(reason)
  })
})

describe('odds and ends', () => {
  it('counts a session as cancelled that is gone after a doubtful try', async () => {
    const subject = clientUnderTest()
    await makeHostKnown(subject)
    const cancelled = subject.client.videoUploads.cancel('us-1')
    ;(await subject.transport.next()).fail({ phase: 'answer' })
    await subject.clock.advance(250)
    await answerNext(subject, { status: 404 })

    await expect(cancelled).resolves.toBeUndefined()
  })

  it('does not count a session as cancelled that was never found', async () => {
    const subject = clientUnderTest()
    const failure = rejection(subject.client.videoUploads.cancel('us-1'))
    await answerNext(subject, { status: 404 })

    expect(await failure).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REFUSED', status: 404 })
  })

  it.each([403, 409, 501])('does not count a session as cancelled after a doubtful try and a %i', async (status) => {
    const subject = clientUnderTest()
    await makeHostKnown(subject)
    const failure = rejection(subject.client.videoUploads.cancel('us-1'))
    ;(await subject.transport.next()).fail({ phase: 'answer' })
    await subject.clock.advance(250)
    await answerNext(subject, { status })

    expect(await failure).toMatchObject({ status, details: { isDoubtful: true } })
  })

  it('does not repeat a redirect that the platform refused', async () => {
    const subject = clientUnderTest()
    const failure = rejection(subject.client.requestedAnalyses.list())
    ;(await subject.transport.next()).fail({ code: 'ERR_UPLOAD_REDIRECT_REFUSED', phase: 'answer' })

    expect(await failure).toMatchObject({
      code: 'ERR_UPLOAD_REDIRECT_REFUSED',
      details: { attempts: 1 },
    })
  })

  it('says so when a transport breaks its contract', async () => {
    const subject = clientUnderTest()
    const failure = rejection(subject.client.requestedAnalyses.list())
    ;(await subject.transport.next()).break(new TypeError('bad header x-api-key: key-0123456789abcdef'))

    const error = await failure
    expect(error).toBeInstanceOf(UploadError)
    expect(error).toMatchObject({
      code: 'ERR_UPLOAD_INTERNAL',
      message: 'The transport failed outside its contract in requestedAnalyses.list: bad header x-api-key: …',
    })
    expect(JSON.stringify(error)).not.toContain('0123456789abcdef')
  })

  it('shows neither the credential nor a long story of a transport that breaks its contract in words of its own', async () => {
    const subject = clientUnderTest()
    const failure = rejection(subject.client.requestedAnalyses.list())
    ;(await subject.transport.next()).break(new TypeError(`key-0123456789abcdef is no ByteString${'!'.repeat(1_000)}`))

    const { message } = (await failure) as Error
    expect(message).toContain('in requestedAnalyses.list: … is no ByteString!')
    expect(message.length).toBeLessThan(400)
  })
})
