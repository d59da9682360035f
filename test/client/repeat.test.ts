import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { HttpStatusError, UploadError } from '../../src/core/errors.ts'
import {
  aMocapSession,
  anAnalysis,
  answerNext,
  clientUnderTest,
  makeHostKnown,
  rejection,
} from './client-under-test.ts'
import type { HostWait } from '../../src/core/ports.ts'
import type { ScriptedReply, ScriptedRequest } from '../helpers/scripted-transport.ts'
import type { ClientUnderTest } from './client-under-test.ts'

/** With dice at 0.5 the waits are half of 500, 1,000, 2,000, 4,000 and 8,000 ms. */
const WAITS = [250, 500, 1000, 2000, 4000]

const created = { status: 200, body: { id: 's-1' } }

describe('what is answered', () => {
  it.each([408, 425, 429, 500, 502, 503, 504, 599])('repeats a read after %i', async (status) => {
    const subject = clientUnderTest()
    const list = subject.client.requestedAnalyses.list()
    await answerNext(subject, { status })
    await subject.clock.advance(249)
    expect(subject.transport.waitingCount).toBe(0)

    await subject.clock.advance(1)
    await answerNext(subject, { status: 200, body: [] })

    expect((await list).items).toStrictEqual([])
    expect(subject.clock.pending).toBe(0)
  })

  it.each([501, 505])('never repeats what is answered by %i: the same once more changes nothing', async (status) => {
    const subject = clientUnderTest()
    const failure = rejection(subject.client.mocapSessions.create(aMocapSession))
    await answerNext(subject, { status })

    expect(await failure).toMatchObject({
      code: 'ERR_UPLOAD_HTTP_STATUS',
      message: `The service failed to create the capture session (${status}).`,
      isRetryable: false,
      details: { status, attempts: 1 },
    })
    expect(subject.clock.pending).toBe(0)
  })

  it('gives up after the retries, with the last answer as the cause', async () => {
    const subject = clientUnderTest()
    const failure = rejection(subject.client.requestedAnalyses.list())
    for (const waitMs of WAITS) {
      await answerNext(subject, { status: 500 })
      await subject.clock.advance(0)
      expect(subject.clock.nextDueInMs).toBe(waitMs)
      await subject.clock.advance(waitMs)
    }
    await answerNext(subject, { status: 599 })

    const error = await failure
    expect(error).toMatchObject({
      code: 'ERR_UPLOAD_RETRIES_EXHAUSTED',
      message:
        'Gave up after 6 attempts to list the analyses. The last: The service failed to list the analyses (599).',
      details: { operation: 'requestedAnalyses.list', attempts: 6, status: 599 },
      cause: { code: 'ERR_UPLOAD_HTTP_STATUS', status: 599 },
    })
    expect(subject.transport.sent).toHaveLength(6)
  })

  it.each([
    [400, 'ERR_UPLOAD_SERVICE_REFUSED'],
    [404, 'ERR_UPLOAD_SERVICE_REFUSED'],
    [409, 'ERR_UPLOAD_SERVICE_REFUSED'],
    [401, 'ERR_UPLOAD_CREDENTIALS_REFUSED'],
    [403, 'ERR_UPLOAD_CREDENTIALS_REFUSED'],
    [301, 'ERR_UPLOAD_REDIRECT_REFUSED'],
    [308, 'ERR_UPLOAD_REDIRECT_REFUSED'],
  ])('does not repeat after %i: %s', async (status, code) => {
    const isBaseUrlDoubtful = code === 'ERR_UPLOAD_REDIRECT_REFUSED' || undefined
    const subject = clientUnderTest()
    const failure = rejection(subject.client.requestedAnalyses.get(7))
    await answerNext(subject, { status, headers: { location: 'https://evil.example/?token=abc' } })

    const error = await failure
    expect(error).toBeInstanceOf(HttpStatusError)
    expect(error).toMatchObject({
      code,
      status,
      isRetryable: false,
      details: { status, attempts: 1, isBaseUrlDoubtful },
    })
    expect(String(error)).not.toContain('evil')
    expect(subject.transport.sent).toHaveLength(1)
  })
})

describe('Retry-After', () => {
  it('is waited for, with a little chance on top', async () => {
    const subject = clientUnderTest()
    const list = subject.client.requestedAnalyses.list()
    await answerNext(subject, { status: 429, headers: { 'retry-after': '60' } })
    await subject.clock.advance(62_999)
    expect(subject.transport.waitingCount).toBe(0)

    await subject.clock.advance(1)
    await answerNext(subject, { status: 200, body: [] })

    expect((await list).raw).toStrictEqual([])
  })

  it('may be a date', async () => {
    const subject = clientUnderTest()
    const list = subject.client.requestedAnalyses.list()
    await answerNext(subject, { status: 503, headers: { 'retry-after': 'Fri, 20 Nov 2026 20:01:00 GMT' } })
    await subject.clock.advance(59_999)
    expect(subject.transport.waitingCount).toBe(0)

    await subject.clock.advance(3001)
    await answerNext(subject, { status: 200, body: [] })

    expect((await list).items).toStrictEqual([])
  })

  it('is measured by the time of the service where it is a date, whatever the clock of this machine says', async () => {
    const subject = clientUnderTest()
    const list = subject.client.requestedAnalyses.list()
    const headers = { date: 'Fri, 20 Nov 2026 20:10:00 GMT', 'retry-after': 'Fri, 20 Nov 2026 20:11:00 GMT' }
    await answerNext(subject, { status: 503, headers })
    await subject.clock.advance(0)
    expect(subject.clock.nextDueInMs).toBe(63_000)

    await subject.clock.advance(63_000)
    await answerNext(subject, { status: 200, body: [] })

    expect((await list).items).toStrictEqual([])
  })

  it.each([500, 503])('of more than five minutes is kept for five (%i)', async (status) => {
    const subject = clientUnderTest()
    const session = subject.client.mocapSessions.create(aMocapSession)
    await answerNext(subject, { status, headers: { 'retry-after': '7200' } })
    await subject.clock.advance(0)
    expect(subject.clock.nextDueInMs).toBe(315_000)

    await subject.clock.advance(315_000)
    await answerNext(subject, created)
    expect(await session).toMatchObject({ sessionId: 's-1' })
  })
})

/** Ends every try in this way until the call is over; how long each was waited for, ms. */
async function endAll(
  subject: ClientUnderTest,
  failure: Promise<unknown>,
  end: (request: ScriptedRequest) => void,
): Promise<number[]> {
  const state = { isOver: false }
  void failure.then(() => (state.isOver = true))
  for (const waits: number[] = []; ;) {
    end(await subject.transport.next())
    await subject.clock.advance(0)
    if (state.isOver) return waits
    const waitMs = subject.clock.nextDueInMs
    if (waitMs === undefined || subject.transport.waitingCount > 0) continue
    waits.push(waitMs)
    await subject.clock.advance(waitMs)
  }
}

async function answerAll(subject: ClientUnderTest, failure: Promise<unknown>, reply: ScriptedReply): Promise<number[]> {
  return endAll(subject, failure, (request) => request.reply(reply))
}

describe.each([429, 502, 503, 504])('a service that answers %i to everything', (status) => {
  it.each([true, false])('is waited for as one that is away (it has answered before: %j)', async (isKnown) => {
    const subject = clientUnderTest({ giveUpAfterMs: 3_600_000 })
    if (isKnown) await makeHostKnown(subject)
    const failure = rejection(confirm(subject))
    const waits = await answerAll(subject, failure, { status, body: { message: 'down until six' } })

    expect(waits.slice(0, 8)).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000])
    expect(Math.max(...waits)).toBe(30_000)
    expect(subject.clock.monotonicNow()).toBe(3_600_000)
    const attempts = waits.length + 1
    expect(await failure).toMatchObject({
      code: 'ERR_UPLOAD_HOST_UNREACHABLE',
      message: `service.example:443 was asked in vain for 3600 s. Gave up after ${attempts} attempts to confirm the file. The last: The service failed to confirm the file (${status}). It says: down until six`,
      isRetryable: true,
      details: { host: 'service.example:443', forMs: 3_600_000, attempts, status },
      cause: { code: 'ERR_UPLOAD_HTTP_STATUS', status },
    })
    expect(subject.clock.pending).toBe(0)
  })

  it('is asked again no sooner than it says, and no later than it is given up', async () => {
    const subject = clientUnderTest({ giveUpAfterMs: 150_000 })
    const failure = rejection(confirm(subject))
    const waits = await answerAll(subject, failure, { status, headers: { 'retry-after': '60' } })

    expect(waits).toEqual([63_000, 63_000, 24_000])
    expect(await failure).toMatchObject({ code: 'ERR_UPLOAD_HOST_UNREACHABLE' })
  })

  it('is final for who wants no repetition', async () => {
    const subject = clientUnderTest({ retries: 0 })
    const failure = rejection(confirm(subject))

    expect(await answerAll(subject, failure, { status })).toEqual([])
    expect(await failure).toMatchObject({ code: 'ERR_UPLOAD_RETRIES_EXHAUSTED', details: { attempts: 1, status } })
  })
})

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

  it.each([425, 429, 503])('is repeated without a trace after %i', async (status) => {
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

describe('a host that is not there', () => {
  it('is asked three times when it has never answered', async () => {
    const subject = clientUnderTest({ baseUrl: 'https://misspelt.example:8443/api' })
    const failure = rejection(subject.client.requestedAnalyses.list())
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    for (const waitMs of [250, 500, 0]) {
      ;(await subject.transport.next()).fail({ phase: 'connect', cause })
      await subject.clock.advance(waitMs)
    }

    expect(await failure).toMatchObject({
      code: 'ERR_UPLOAD_HOST_UNREACHABLE',
      message:
        'Could not reach misspelt.example:8443 (connection refused). Gave up after 3 attempts to list the analyses. Check the base URL and the network.',
      details: { attempts: 3, host: 'misspelt.example:8443' },
    })
    expect(subject.transport.sent).toHaveLength(3)
  })

  it.each(['connect', 'send', 'answer'] as const)(
    'uses up no attempts once it has answered (%s), and is waited for until the limit',
    async (phase) => {
      const subject = clientUnderTest({ giveUpAfterMs: 7_200_000, random: () => 0.999 })
      await makeHostKnown(subject)
      const failure = rejection(confirm(subject))
      let error: unknown
      void failure.then((reason) => (error = reason))
      let tries = 0
      while (error === undefined && tries < 1000) {
        ;(await subject.transport.next()).fail({ phase })
        tries += 1
        await subject.clock.advance(0)
        const waitMs = subject.clock.nextDueInMs
        if (waitMs === undefined) break
        expect(waitMs).toBeLessThanOrEqual(60_000)
        await subject.clock.advance(waitMs)
      }

      expect(await failure).toMatchObject({
        code: 'ERR_UPLOAD_HOST_UNREACHABLE',
        message: `Could not reach service.example:443 for 7200 s (${phase === 'connect' ? 'no connection' : 'connection lost'}). Gave up after ${tries} attempts to confirm the file. Check the network.`,
        details: { host: 'service.example:443', forMs: 7_200_000, attempts: tries },
      })
      expect(tries).toBeGreaterThan(100)
      expect(subject.clock.monotonicNow()).toBe(7_200_000)
    },
  )

  it('has one limit, however it is away', async () => {
    const subject = clientUnderTest({ giveUpAfterMs: 100_000 })
    await makeHostKnown(subject)
    const confirmed = rejection(confirm(subject))
    const state = { isOver: false }
    void confirmed.then(() => (state.isOver = true))
    for (let tries = 0; !state.isOver; tries += 1) {
      const request = await subject.transport.next()
      if (tries % 2 === 0) request.fail({ phase: 'connect' })
      else request.reply({ status: 502 + ((tries - 1) % 3) })
      await subject.clock.advance(0)
      await subject.clock.advance(subject.clock.nextDueInMs ?? 0)
    }

    expect(await confirmed).toMatchObject({ code: 'ERR_UPLOAD_HOST_UNREACHABLE', details: { forMs: 100_000 } })
  })

  it('has a new limit after each answer', async () => {
    const subject = clientUnderTest({ giveUpAfterMs: 1000 })
    await makeHostKnown(subject)
    const confirmed = confirm(subject)
    for (let round = 0; round < 4; round += 1) {
      ;(await subject.transport.next()).fail({ phase: 'connect' })
      await subject.clock.advance(0)
      await subject.clock.advance(subject.clock.nextDueInMs!)
      await answerNext(subject, { status: 500 })
      await subject.clock.advance(0)
      await subject.clock.advance(subject.clock.nextDueInMs!)
    }
    await answerNext(subject, { status: 200 })

    await expect(confirmed).resolves.toBeUndefined()
  })

  it('is asked over a new connection', async () => {
    const subject = clientUnderTest()
    const list = subject.client.requestedAnalyses.list()
    const first = await subject.transport.next()
    first.fail({ phase: 'send' })
    await subject.clock.advance(250)
    const second = await subject.transport.next()
    second.reply({ status: 200, body: [] })
    await list

    expect(first.request.isFreshConnection).toBeUndefined()
    expect(second.request.isFreshConnection).toBe(true)
  })
})

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

  it('before the call sends nothing', async () => {
    const subject = clientUnderTest()

    const error = await rejection(subject.client.requestedAnalyses.list({}, { signal: AbortSignal.abort(reason) }))

    expect(error).toBe(reason)
    expect(subject.transport.sent).toHaveLength(0)
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
    expect(error).toMatchObject({ code: 'ERR_UPLOAD_INTERNAL' })
    expect(JSON.stringify(error)).not.toContain('0123456789abcdef')
  })
})

function confirm({ client }: ClientUnderTest): Promise<void> {
  return client.videoUploads.confirm({
    uploadSessionId: 'us-1',
    sessionFileId: 7,
    parts: [{ partNumber: 1, etag: 'e' }],
  })
}
