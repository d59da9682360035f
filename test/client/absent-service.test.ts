// A service that is not there.

import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/service-client.ts'
import { createScriptedTransport } from '../helpers/scripted-transport.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'
import { answerNext, clientUnderTest, makeHostKnown, rejection } from './client-under-test.ts'
import { confirm } from './repeat-rig.ts'

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

  it('is asked no sooner by hints of a network while it has never answered: they would use up its tries', async () => {
    const [transport, clock] = [createScriptedTransport(), createSimulatedClock()]
    const { client, memory } = createClient({
      ...{ baseUrl: 'https://misspelt.example', credentials: { apiKey: 'key' } },
      ...{ transport, clock, random: () => 0.5 },
    })
    const stop = new AbortController()
    const failure = rejection(client.requestedAnalyses.list({}, { signal: stop.signal }))
    ;(await transport.next()).fail({ phase: 'connect' })
    await clock.advance(0)
    expect(clock.nextDueInMs).toBe(250)

    expect(memory.wakes.size).toBe(0)
    stop.abort(new Error('enough'))
    await failure
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

    expect(first.request.isFreshConnection).toBe(false)
    expect(second.request.isFreshConnection).toBe(true)
  })
})
