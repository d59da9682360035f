// Which answers of the service are followed by another try, and when.

import { describe, expect, it } from 'vitest'
import { HttpStatusError } from '../../src/core/errors.ts'
import { aMocapSession, answerNext, clientUnderTest, makeHostKnown, rejection } from './client-under-test.ts'
import type { ScriptedReply } from '../helpers/scripted-transport.ts'
import type { ClientUnderTest } from './client-under-test.ts'
import { created, endAll, confirm } from './repeat-rig.ts'

/** With dice at 0.5 the waits are half of 500, 1,000, 2,000, 4,000 and 8,000 ms. */
const WAITS = [250, 500, 1000, 2000, 4000]

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
      isRetryable: true,
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

async function answerAll(subject: ClientUnderTest, failure: Promise<unknown>, reply: ScriptedReply): Promise<number[]> {
  return endAll(subject, failure, (request) => request.reply(reply))
}

describe.each([429, 502, 503, 504, 511])('a service that answers %i to everything', (status) => {
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
