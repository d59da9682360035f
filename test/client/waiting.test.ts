// What a call tells while it waits for an answer, and whether a service that has never answered is waited for.

import { getEventListeners } from 'node:events'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createUplink } from '../../src/browser.ts'
import type { HostWait } from '../../src/core/ports.ts'
import { explaining } from '../../src/adapters/node/http/explain-failure.ts'
import { aMocapSession, answerNext, clientUnderTest, makeHostKnown, rejection } from './client-under-test.ts'
import type { ClientUnderTest } from './client-under-test.ts'

const START_MS = Date.UTC(2026, 10, 20, 20)

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code })
}

/** Fails every try with this until the call is over; how often it was tried. */
async function failAll(subject: ClientUnderTest, failure: Promise<unknown>, cause: Error): Promise<number> {
  const state = { isOver: false }
  void failure.then(() => (state.isOver = true))
  for (let tries = 1; ; tries += 1) {
    ;(await subject.transport.next()).fail({ phase: 'connect', cause })
    await subject.clock.advance(0)
    if (state.isOver) return tries
    await subject.clock.advance(subject.clock.nextDueInMs!)
  }
}

/** Lets the wait pass that the end of a try has begun. */
async function passWait({ clock }: ClientUnderTest): Promise<void> {
  await clock.advance(0)
  await clock.advance(clock.nextDueInMs!)
}

describe('a call that waits', () => {
  it('tells nothing of hiccups, and then at every try since when, until when, when it gives up, and why', async () => {
    const subject = clientUnderTest({ giveUpAfterMs: 600_000 })
    await makeHostKnown(subject)
    const waits: HostWait[] = []
    const list = subject.client.requestedAnalyses.list({}, { onWaiting: (wait) => wait && waits.push(wait) })
    for (const waitMs of [250, 500, 1_000, 2_000, 4_000]) {
      ;(await subject.transport.next()).fail({ phase: 'connect', cause: withCode('ECONNREFUSED') })
      await subject.clock.advance(waitMs)
    }
    await answerNext(subject, { status: 200, body: [] })
    await list

    const one = {
      ...{ host: 'service.example:443', operation: 'requestedAnalyses.list', reason: 'connection refused' },
      ...{ isDoubtful: false, sinceMs: START_MS, giveUpAtMs: START_MS + 600_000 },
    }
    expect(waits).toEqual([
      { ...one, untilMs: START_MS + 3_750 },
      { ...one, untilMs: START_MS + 7_750 },
    ])
  })

  it('tells nothing of a hiccup however long the client is there', async () => {
    const subject = clientUnderTest()
    await makeHostKnown(subject)
    await subject.clock.advance(3_600_000)
    const waits: HostWait[] = []
    const list = subject.client.requestedAnalyses.list({}, { onWaiting: (wait) => wait && waits.push(wait) })
    ;(await subject.transport.next()).fail({ phase: 'connect' })
    await subject.clock.advance(250)
    await answerNext(subject, { status: 200, body: [] })
    await list

    expect(waits).toEqual([])
  })

  it('tells without a wait as each try begins', async () => {
    const subject = clientUnderTest()
    const told: (string | undefined)[] = []
    const list = subject.client.requestedAnalyses.list({}, { onWaiting: (wait) => told.push(wait?.reason) })
    await answerNext(subject, { status: 503, headers: { 'retry-after': '60' } })
    await subject.clock.advance(63_000)
    await answerNext(subject, { status: 200, body: [] })
    await list

    expect(told).toEqual([undefined, 'it answers 503', undefined])
  })

  it('tells of calls that wait together since one time, that ends with a success', async () => {
    const subject = clientUnderTest()
    const since: number[] = []
    const throttled = async (): Promise<void> => {
      const list = subject.client.requestedAnalyses.list({}, { onWaiting: (wait) => wait && since.push(wait.sinceMs) })
      void list.catch(() => undefined)
      await answerNext(subject, { status: 503, headers: { 'retry-after': '100' } })
      await subject.clock.advance(1_000)
    }
    await throttled()
    await throttled()
    expect(since).toEqual([START_MS, START_MS])

    await makeHostKnown(subject)
    await throttled()
    expect(since.at(-1)).toBe(START_MS + 2_000)
  })

  it('tells nothing of what a call that was given up has waited for before', async () => {
    const subject = clientUnderTest()
    const since: number[] = []
    for (const status of [503, 503, 404, 503]) {
      const abort = new AbortController()
      const list = subject.client.requestedAnalyses.list(
        {},
        { signal: abort.signal, onWaiting: (wait) => wait && since.push(wait.sinceMs) },
      )
      const ended = rejection(list)
      await answerNext(subject, { status, headers: { 'retry-after': '100' } })
      await subject.clock.advance(1_000)
      abort.abort(new Error('given up'))
      await ended
    }

    expect(since).toEqual([START_MS, START_MS + 1_000, START_MS + 3_000])
  })

  it('gives an outage its whole time again once the harmless question was answered', async () => {
    const subject = clientUnderTest({ giveUpAfterMs: 10_000 })
    await makeHostKnown(subject)
    const created = rejection(subject.client.mocapSessions.create(aMocapSession))
    const away = async (phase: 'connect' | 'answer') => {
      ;(await subject.transport.next()).fail({ phase })
      await subject.clock.advance(8_000)
    }
    await away('answer')
    await answerNext(subject, { status: 200, body: [] })
    await away('connect')

    ;(await subject.transport.next()).fail({ phase: 'connect' })
    await subject.clock.advance(8_000)
    expect(subject.transport.waitingCount).toBe(1)
    ;(await subject.transport.next()).fail({ phase: 'connect' })
    expect(await created).toMatchObject({
      code: 'ERR_UPLOAD_HOST_UNREACHABLE',
      details: { attempts: 4, isDoubtful: true },
    })
  })

  it.each(['ERR_UPLOAD_REDIRECT_REFUSED', 'ERR_UPLOAD_ANSWER_HIDDEN'] as const)(
    'takes whatever is not silence for an answer to its harmless question (%s)',
    async (code) => {
      const subject = clientUnderTest()
      await makeHostKnown(subject)
      const created = subject.client.mocapSessions.create(aMocapSession)
      for (let tries = 1; tries <= 3; tries += 1) {
        ;(await subject.transport.next()).fail({ phase: 'answer' })
        await passWait(subject)
        ;(await subject.transport.next()).fail({ code, phase: 'answer' })
      }
      await answerNext(subject, { status: 200, body: { id: 's-1', session_id: 's-1' } })

      expect(await created).toMatchObject({ hasPossibleOrphan: true })
    },
  )

  it('waits for a service that takes nothing now also with a single repetition', async () => {
    const subject = clientUnderTest({ retries: 1 })
    const list = subject.client.requestedAnalyses.list()
    for (let tries = 1; tries <= 5; tries += 1) {
      await answerNext(subject, { status: 503 })
      await passWait(subject)
    }
    await answerNext(subject, { status: 200, body: [] })

    expect((await list).items).toEqual([])
  })

  it('tells the same time of an outage when the wall clock is set', async () => {
    const subject = clientUnderTest()
    await makeHostKnown(subject)
    const since: number[] = []
    const list = subject.client.requestedAnalyses.list({}, { onWaiting: (wait) => wait && since.push(wait.sinceMs) })
    for (const waitMs of [250, 500, 1_000, 2_000, 4_000]) {
      ;(await subject.transport.next()).fail({ phase: 'connect', cause: withCode('ECONNREFUSED') })
      await subject.clock.advance(waitMs)
      if (waitMs === 2_000) subject.clock.shiftWall(3_600_000)
    }
    await answerNext(subject, { status: 200, body: [] })
    await list

    expect(since).toEqual([START_MS, START_MS])
  })

  it('tells at once of a try that took long to fail, from its beginning on', async () => {
    const subject = clientUnderTest({ callTimeoutMs: 20_000 })
    await makeHostKnown(subject)
    const waits: HostWait[] = []
    const list = subject.client.requestedAnalyses.list({}, { onWaiting: (wait) => wait && waits.push(wait) })
    ;(await subject.transport.next()).endsAs('neverWhole')
    await subject.clock.advance(20_250)
    await answerNext(subject, { status: 200, body: [] })
    await list

    expect(waits).toMatchObject([{ sinceMs: START_MS, untilMs: START_MS + 20_250, reason: 'no answer in time' }])
  })

  it.each([
    [503, START_MS + 3_600_000],
    [500, undefined],
  ])(
    'tells of the pause that %i asks for, with no time of giving up where answers are counted',
    async (status, giveUpAtMs) => {
      const subject = clientUnderTest()
      const waits: HostWait[] = []
      const list = subject.client.requestedAnalyses.list({}, { onWaiting: (wait) => wait && waits.push(wait) })
      await answerNext(subject, { status, headers: { 'retry-after': '60' } })
      await subject.clock.advance(63_000)
      await answerNext(subject, { status: 200, body: [] })
      await list

      expect(waits).toEqual([
        {
          ...{
            host: 'service.example:443',
            operation: 'requestedAnalyses.list',
            status,
            reason: `it answers ${status}`,
          },
          ...{ isDoubtful: false, sinceMs: START_MS, untilMs: START_MS + 63_000, giveUpAtMs },
        },
      ])
    },
  )

  const fail = (): never => {
    throw new Error('broken listener')
  }
  it.each([
    ['throws', fail],
    ['rejects', () => Promise.resolve().then(fail)],
  ])('goes on when its listener %s, and leaves no listener and no timer', async (_, onWaiting) => {
    const subject = clientUnderTest()
    const { signal } = new AbortController()
    const list = subject.client.requestedAnalyses.list({}, { signal, onWaiting })
    await answerNext(subject, { status: 503, headers: { 'retry-after': '60' } })
    await subject.clock.advance(63_000)
    await answerNext(subject, { status: 200, body: [] })

    expect((await list).items).toEqual([])
    expect(getEventListeners(signal, 'abort')).toEqual([])
    expect(subject.clock.pending).toBe(0)
  })
})

describe('a machine that sleeps', () => {
  const NIGHT_MS = 8 * 3_600_000

  it('hears after it the answer that came meanwhile: a create is not made a second time', async () => {
    const subject = clientUnderTest()
    await makeHostKnown(subject)
    const created = subject.client.mocapSessions.create(aMocapSession)
    const request = await subject.transport.next()

    subject.clock.suspend(NIGHT_MS)
    // What fell due is told before what came over the network is read.
    await subject.clock.advance(0)
    request.reply({ status: 200, body: { id: 's-1', session_id: 's-1' } })

    expect(await created).not.toHaveProperty('hasPossibleOrphan')
    expect(subject.clock.pending).toBe(0)
  })

  it.each(['while it waits', 'during a try'])('uses up no time of an outage: %s', async (when) => {
    const subject = clientUnderTest({ giveUpAfterMs: 600_000 })
    await makeHostKnown(subject)
    const list = subject.client.requestedAnalyses.list()
    ;(await subject.transport.next()).fail({ phase: 'connect' })
    await subject.clock.advance(0)
    if (when === 'during a try') await passWait(subject)
    subject.clock.suspend(NIGHT_MS)
    await subject.clock.advance(0)
    // The network comes back a moment later than the machine.
    ;(await subject.transport.next()).fail({ phase: 'connect' })
    await passWait(subject)
    await answerNext(subject, { status: 200, body: [] })

    expect((await list).items).toEqual([])
  })
})

describe('a service that has never answered', () => {
  it.each(['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ECONNREFUSED', 'CERT_HAS_EXPIRED'])(
    'is tried three times: its address is more likely misspelt (%s)',
    async (code) => {
      const explain = explaining(() => ({
        lo: [{ address: '::1', internal: true }],
        eth0: [{ address: '10.0.0.7', internal: false }],
      }))
      const subject = clientUnderTest({ explain })
      const failure = rejection(subject.client.requestedAnalyses.list())

      expect(await failAll(subject, failure, withCode(code))).toBe(3)
      expect(await failure).toMatchObject({ code: 'ERR_UPLOAD_HOST_UNREACHABLE' })
      expect(subject.clock.monotonicNow()).toBeLessThan(2_000)
    },
  )

  it('is tried three times on a system that does not show its addresses', async () => {
    const explain = explaining(() => {
      throw new Error('uv_interface_addresses returned Unknown system error 13')
    })
    const subject = clientUnderTest({ explain })
    const failure = rejection(subject.client.requestedAnalyses.list())

    expect(await failAll(subject, failure, withCode('ENOTFOUND'))).toBe(3)
    expect(await failure).toMatchObject({ code: 'ERR_UPLOAD_HOST_UNREACHABLE' })
  })

  it.each(['ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN'])(
    'is waited for where this machine has no way out: %s',
    async (code) => {
      // What it gave itself is no way out.
      const eth0 = ['169.254.3.4', 'fe80::1c2d'].map((address) => ({ address, internal: false }))
      const explain = explaining(() => ({ lo: [{ address: '127.0.0.1', internal: true }], eth0 }))
      const subject = clientUnderTest({ explain, giveUpAfterMs: 600_000 })
      const failure = rejection(subject.client.requestedAnalyses.list())

      const tries = await failAll(subject, failure, withCode(code))
      expect(tries).toBeGreaterThan(10)
      const { message, details } = (await failure) as { message: string; details: unknown }
      expect(message).toMatch(
        new RegExp(
          `^Could not reach service\\.example:443 for 600 s \\([a-z ]+\\)\\. Gave up after ${tries} attempts to list the analyses\\. Check the base URL and the network\\.$`,
        ),
      )
      expect(details).toMatchObject({
        ...{ operation: 'requestedAnalyses.list', host: 'service.example:443', attempts: tries, forMs: 600_000 },
      })
    },
  )

  it.each(['ENETUNREACH', 'ENETDOWN'])(
    'is waited for where there is no route, whatever addresses there are: %s',
    async (code) => {
      const explain = explaining(() => ({ eth0: [{ address: '10.0.0.7', internal: false }] }))
      const subject = clientUnderTest({ explain, giveUpAfterMs: 600_000 })
      const failure = rejection(subject.client.requestedAnalyses.list())

      expect(await failAll(subject, failure, withCode(code))).toBeGreaterThan(10)
    },
  )

  it('is waited for to the end where this machine began without a network: that is what was in the way, and no misspelling', async () => {
    const subject = clientUnderTest({ giveUpAfterMs: 600_000 })
    const waits: string[] = []
    const failure = rejection(
      subject.client.requestedAnalyses.list({}, { onWaiting: (wait) => wait && waits.push(wait.reason) }),
    )
    ;(await subject.transport.next()).fail({ phase: 'connect', cause: withCode('ENETUNREACH') })
    await subject.clock.advance(0)
    await subject.clock.advance(subject.clock.nextDueInMs!)

    expect(await failAll(subject, failure, withCode('ECONNREFUSED'))).toBeGreaterThan(10)
    expect(waits).toContain('connection refused')
    expect(await failure).toMatchObject({ code: 'ERR_UPLOAD_HOST_UNREACHABLE', details: { forMs: 600_000 } })
  })

  it.each([
    ['of which a browser says that it has no network', { onLine: false }, 'call'],
    ['from what is no browser and says nothing of its network', {}, 'failure'],
  ])('%s', async (_, navigator, expected) => {
    vi.stubGlobal('navigator', navigator)
    onTestFinished(() => void vi.unstubAllGlobals())
    const { clock, transport } = clientUnderTest()
    const uplink = createUplink({
      ...{ baseUrl: 'https://service.example', credentials: { apiKey: 'k' }, clock, transport, random: () => 0.5 },
      // As a host in plain JavaScript may give it: present but undefined counts as absent.
      ...({ explain: undefined } as object),
    })
    let ended = 'call'
    uplink.client.requestedAnalyses.list().catch(() => (ended = 'failure'))
    for (let tries = 0; tries < 4 && ended === 'call'; tries += 1) {
      ;(await transport.next()).fail({ phase: 'connect' })
      await clock.advance(0)
      await clock.advance(clock.nextDueInMs ?? 0)
    }

    expect(ended).toBe(expected)
  })

  it('is told of at once where there is no network, which is no short wait', async () => {
    const subject = clientUnderTest({ explain: () => ({ isOffline: true }) })
    const waits: (HostWait | null | undefined)[] = []
    const list = subject.client.requestedAnalyses.list({}, { onWaiting: (wait) => wait && waits.push(wait) })
    ;(await subject.transport.next()).fail({ phase: 'connect', cause: withCode('ENOTFOUND') })
    await subject.clock.advance(0)
    expect(waits).toMatchObject([{ operation: 'requestedAnalyses.list', isOffline: true }])

    await subject.clock.advance(subject.clock.nextDueInMs!)
    await answerNext(subject, { status: 200, body: [] })
    await list
  })

  it('is waited for while the platform says that there is no network, whatever the error', async () => {
    let isOffline = true
    const subject = clientUnderTest({ explain: () => ({ isOffline }) })
    const list = subject.client.requestedAnalyses.list()
    for (let tries = 0; tries < 8; tries += 1) {
      ;(await subject.transport.next()).fail({ phase: 'connect', cause: withCode('ENOTFOUND') })
      await subject.clock.advance(0)
      await subject.clock.advance(subject.clock.nextDueInMs!)
    }
    isOffline = false
    await answerNext(subject, { status: 200, body: [] })

    expect((await list).items).toEqual([])
  })

  it('is waited for where that was asked for', async () => {
    const subject = clientUnderTest({ giveUpAfterMs: 600_000, isFirstContactAwaited: true })
    const failure = rejection(subject.client.requestedAnalyses.list())

    expect(await failAll(subject, failure, withCode('ECONNREFUSED'))).toBeGreaterThan(10)
    expect(await failure).toMatchObject({ code: 'ERR_UPLOAD_HOST_UNREACHABLE', details: { forMs: 600_000 } })
    expect(subject.clock.monotonicNow()).toBe(600_000)
  })
})
