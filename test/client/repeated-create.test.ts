// A create, and other calls that may have had an effect although no clear answer came.

import { describe, expect, it } from 'vitest'
import {
  aMocapSession,
  anAnalysis,
  answerNext,
  clientUnderTest,
  makeHostKnown,
  rejection,
} from './client-under-test.ts'
import type { HostWait } from '../../src/core/ports.ts'
import { created, endAll, confirm } from './repeat-rig.ts'

describe('a create', () => {
  it.each([{ phase: 'connect' }, { phase: 'send' }] as const)(
    'is repeated without a trace when it was not received ($phase)',
    async (failure) => {
      const subject = clientUnderTest()
      const session = subject.client.mocapSessions.create(aMocapSession)
      ;(await subject.transport.next()).fail(failure)
      await subject.clock.advance(250)
      await answerNext(subject, created)

      expect(await session).toStrictEqual({ id: 's-1', sessionId: 's-1' })
    },
  )

  it.each([425, 429, 503, 511])('is repeated without a trace after %i', async (status) => {
    const subject = clientUnderTest()
    const session = subject.client.mocapSessions.create(aMocapSession)
    await answerNext(subject, { status })
    await subject.clock.advance(250)
    await answerNext(subject, created)

    expect(await session).toStrictEqual({ id: 's-1', sessionId: 's-1' })
  })

  it.each([408, 500])('is repeated after %i and tells of a possible orphan', async (status) => {
    const subject = clientUnderTest()
    const session = subject.client.mocapSessions.create(aMocapSession)
    await answerNext(subject, { status })
    await subject.clock.advance(250)
    await answerNext(subject, created)

    expect(await session).toStrictEqual({ id: 's-1', sessionId: 's-1', hasPossibleOrphan: true })
  })

  it.each([200, 401, 403, 404, 500])(
    'is repeated after an answer that was lost when the service answers %i to a harmless question, and tells of a possible orphan',
    async (status) => {
      const subject = clientUnderTest()
      await makeHostKnown(subject)
      const segment = subject.client.playerGroupSegments.create({ movementTypeId: 1, domHand: 'LHA' })
      ;(await subject.transport.next()).fail({ phase: 'answer' })
      await subject.clock.advance(250)
      await answerNext(subject, { status })
      await answerNext(subject, { status: 200, body: { analysis_segment_id: 9 } })

      expect(await segment).toStrictEqual({ analysisSegmentId: 9, hasPossibleOrphan: true })
      expect(subject.transport.sent.slice(1).map(({ method, url }) => `${method} ${new URL(url).pathname}`)).toEqual([
        ...['POST /player_group_segments', 'GET /requested_analyses', 'POST /player_group_segments'],
      ])
    },
  )

  it('reads no more of the answer to the harmless question than that there is one', async () => {
    const subject = clientUnderTest()
    await makeHostKnown(subject)
    const session = subject.client.mocapSessions.create(aMocapSession)
    await answerNext(subject, { status: 502 })
    await subject.clock.advance(250)
    const question = await subject.transport.next()
    expect(question.request).toMatchObject({ method: 'GET', maxReplyBytes: 1 })
    question.reply({ status: 200, body: '[', isBodyCut: true })
    const repeated = await subject.transport.next()
    expect(repeated.request).toMatchObject({ method: 'POST', maxReplyBytes: 64 * 1024 * 1024 })
    repeated.reply(created)

    expect(await session).toMatchObject({ sessionId: 's-1', hasPossibleOrphan: true })
  })

  it('is tried once only where nobody wants a repetition, and says so in the singular', async () => {
    const subject = clientUnderTest({ retries: 0 })
    const failure = rejection(subject.client.mocapSessions.create(aMocapSession))
    await answerNext(subject, { status: 504 })

    expect(await failure).toMatchObject({
      message:
        'Gave up after 1 attempt to create the capture session. The last: The service failed to create the capture session (504).',
    })
  })

  it.each([502, 504, 'connection lost'] as const)(
    'leaves one possible orphan, however long the service is away (%s)',
    async (how) => {
      const subject = clientUnderTest()
      await makeHostKnown(subject)
      const waits: HostWait[] = []
      const session = subject.client.mocapSessions.create(aMocapSession, {
        onWaiting: (wait) => wait && waits.push(wait),
      })
      while (subject.clock.monotonicNow() < 600_000) {
        const request = await subject.transport.next()
        if (typeof how === 'number') request.reply({ status: how })
        else request.fail({ phase: 'answer' })
        await subject.clock.advance(0)
        await subject.clock.advance(subject.clock.nextDueInMs ?? 0)
      }
      await answerNext(subject, { status: 200, body: [] })
      await answerNext(subject, created)

      expect(await session).toMatchObject({ sessionId: 's-1', hasPossibleOrphan: true })
      expect(subject.transport.sent.filter(({ method }) => method === 'POST')).toHaveLength(2)
      expect(waits.length).toBeGreaterThan(10)
      for (const wait of waits)
        expect(wait).toMatchObject({
          ...{ operation: 'mocapSessions.create', isDoubtful: true, sinceMs: waits[0]!.sinceMs },
          giveUpAtMs: waits[0]!.giveUpAtMs,
        })
    },
  )

  it.each([502, 504, 'connection lost'] as const)(
    'is given up in its time while the service is away, and says that it is doubtful (%s)',
    async (how) => {
      const subject = clientUnderTest({ giveUpAfterMs: 600_000 })
      await makeHostKnown(subject)
      const failure = rejection(subject.client.mocapSessions.create(aMocapSession))
      const tries = await endAll(subject, failure, (request) =>
        typeof how === 'number' ? request.reply({ status: how }) : request.fail({ phase: 'answer' }),
      )

      expect(await failure).toMatchObject({
        code: 'ERR_UPLOAD_HOST_UNREACHABLE',
        details: { operation: 'mocapSessions.create', isDoubtful: true, forMs: 600_000, attempts: 1 },
      })
      expect(tries.length).toBeGreaterThan(10)
      expect(subject.transport.sent.filter(({ method }) => method === 'POST')).toHaveLength(1)
      expect(subject.clock.monotonicNow()).toBe(600_000)
    },
  )

  it('says that it is doubtful when a later try is refused', async () => {
    const subject = clientUnderTest()
    const failure = rejection(subject.client.mocapSessionFiles.register({ sessionId: 's-1', filenames: ['a.action'] }))
    ;(await subject.transport.next()).fail({ phase: 'answer' })
    await subject.clock.advance(250)
    await answerNext(subject, { status: 409 })

    expect(await failure).toMatchObject({
      code: 'ERR_UPLOAD_SERVICE_REFUSED',
      details: { status: 409, isDoubtful: true, attempts: 2 },
    })
  })

  it.each([502, 504, 'connection lost'] as const)(
    'leaves no more orphans than it has retries where all else is answered (%s)',
    async (how) => {
      const subject = clientUnderTest({ retries: 3 })
      await makeHostKnown(subject)
      const failure = rejection(subject.client.mocapSessions.create(aMocapSession))
      await endAll(subject, failure, (request) => {
        if (request.method === 'GET') request.reply({ status: 200, body: [] })
        else if (typeof how === 'number') request.reply({ status: how })
        else request.fail({ phase: 'answer' })
      })

      expect(await failure).toMatchObject({ code: 'ERR_UPLOAD_RETRIES_EXHAUSTED', details: { isDoubtful: true } })
      expect(subject.transport.sent.filter(({ method }) => method === 'POST')).toHaveLength(4)
    },
  )
})

it('makes three tries where the browser hides the answers, those of an outage before them not counted', async () => {
  const subject = clientUnderTest()
  await makeHostKnown(subject)
  const failure = rejection(confirm(subject))
  for (let tries = 1; tries <= 8; tries += 1) {
    const request = await subject.transport.next()
    request.fail(tries <= 5 ? { phase: 'connect' } : { code: 'ERR_UPLOAD_ANSWER_HIDDEN', phase: 'answer' })
    await subject.clock.advance(0)
    await subject.clock.advance(subject.clock.nextDueInMs ?? 0)
  }

  expect(await failure).toMatchObject({ code: 'ERR_UPLOAD_ANSWER_HIDDEN', details: { attempts: 8, isDoubtful: true } })
})

describe('a success whose body broke off', () => {
  const cut = { status: 200, body: '{"ok":', isBodyCut: true } as const

  it('is an answer that was lost: a confirmation is asked for again', async () => {
    const subject = clientUnderTest()
    const parts = [{ partNumber: 1, etag: '"e"' }]
    const confirmed = subject.client.videoUploads.confirm({ uploadSessionId: 1, sessionFileId: 2, parts })
    await answerNext(subject, cut)
    await subject.clock.advance(250)
    await answerNext(subject, { status: 200 })

    await expect(confirmed).resolves.toBeUndefined()
    expect(subject.clock.pending).toBe(0)
  })

  it('tells of a possible orphan when a session was asked for', async () => {
    const subject = clientUnderTest()
    const session = subject.client.mocapSessions.create(aMocapSession)
    await answerNext(subject, cut)
    await subject.clock.advance(250)
    await answerNext(subject, created)

    expect(await session).toMatchObject({ sessionId: 's-1', hasPossibleOrphan: true })
  })

  it('leaves open whether an analysis was requested, and does not request a second one', async () => {
    const subject = clientUnderTest()
    const failure = rejection(subject.client.requestedAnalyses.create(anAnalysis))
    await answerNext(subject, cut)

    expect(await failure).toMatchObject({ code: 'ERR_UPLOAD_NETWORK', details: { isDoubtful: true, attempts: 1 } })
  })

  it.each([true, false])(
    'is counted as an answer, since the host is there (it has answered before: %j)',
    async (isKnown) => {
      const subject = clientUnderTest({ retries: 4 })
      if (isKnown) await makeHostKnown(subject)
      const failure = rejection(subject.client.requestedAnalyses.list())
      for (let tries = 1; tries <= 5; tries += 1) {
        await answerNext(subject, cut)
        await subject.clock.advance(0)
        await subject.clock.advance(subject.clock.nextDueInMs ?? 0)
      }

      expect(await failure).toMatchObject({
        code: 'ERR_UPLOAD_RETRIES_EXHAUSTED',
        message: expect.stringContaining(
          'after 5 attempts to list the analyses. The last: The answer broke off.',
        ) as string,
        details: { attempts: 5 },
      })
      expect(subject.clock.pending).toBe(0)
    },
  )

  it('is not what a refusal is whose body broke off: that was understood, and nothing was done', async () => {
    const subject = clientUnderTest()
    const failure = rejection(subject.client.requestedAnalyses.create(anAnalysis))
    await answerNext(subject, { ...cut, status: 422 })

    expect(await failure).toMatchObject({
      code: 'ERR_UPLOAD_SERVICE_REFUSED',
      details: { isDoubtful: false, attempts: 1 },
    })
  })

  it('is not asked for again where the answer is larger than any may be', async () => {
    const subject = clientUnderTest({ maxReplyBytes: 1_000 })
    const failure = rejection(subject.client.requestedAnalyses.list())
    await answerNext(subject, { status: 200, body: '['.repeat(1_000), isBodyCut: true })

    expect(await failure).toMatchObject({
      code: 'ERR_UPLOAD_SERVICE_REPLY',
      message:
        'The service answered 200 with a body that is too large when asked to list the analyses. Check the base URL.',
    })
    expect(subject.clock.pending).toBe(0)
  })
})

it.each(['fails', 'gives what is no credential'])(
  'a function that %s after a create without an answer leaves it doubtful',
  async (how) => {
    let asked = 0
    const apiKey = (): string => {
      asked += 1
      if (asked === 1) return 'key-0123456789abcdef'
      if (how === 'fails') throw new Error('signed out')
      return ''
    }
    const subject = clientUnderTest({ credentials: { apiKey } })
    const failure = rejection(subject.client.mocapSessions.create(aMocapSession))
    ;(await subject.transport.next()).fail({ phase: 'answer' })
    await subject.clock.advance(250)
    await answerNext(subject, { status: 200 })
    await answerNext(subject, { status: 401 })

    expect(await failure).toMatchObject({ details: { isDoubtful: true } })
    expect(subject.clock.pending).toBe(0)
  },
)

describe('a requested analysis', () => {
  it.each([408, 500, 502, 504])('is not repeated after %i', async (status) => {
    const subject = clientUnderTest()
    const failure = rejection(subject.client.requestedAnalyses.create(anAnalysis))
    await answerNext(subject, { status })

    expect(await failure).toMatchObject({ code: 'ERR_UPLOAD_HTTP_STATUS', status, details: { isDoubtful: true } })
    expect(subject.clock.pending).toBe(0)
  })

  it('is not repeated when no answer came', async () => {
    const subject = clientUnderTest()
    const failure = rejection(subject.client.requestedAnalyses.create(anAnalysis))
    ;(await subject.transport.next()).fail({ phase: 'answer' })

    expect(await failure).toMatchObject({
      code: 'ERR_UPLOAD_NETWORK',
      message:
        'The service gave no answer (connection lost) when asked to create the analysis, so it may or may not have been done.',
      details: { isDoubtful: true, attempts: 1 },
    })
  })

  it('is repeated when it was certainly not received', async () => {
    const subject = clientUnderTest()
    const analysis = subject.client.requestedAnalyses.create(anAnalysis)
    ;(await subject.transport.next()).fail({ phase: 'connect' })
    await subject.clock.advance(250)
    await answerNext(subject, { status: 503 })
    await subject.clock.advance(500)
    await answerNext(subject, { status: 201, body: { id: 5 } })

    expect(await analysis).toStrictEqual({ id: 5 })
  })
})
