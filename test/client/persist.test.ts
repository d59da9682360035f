// A call that is tried until something ends it: how often, for how long, and what is told meanwhile.

import { describe, expect, it } from 'vitest'
import { HttpStatusError, TransportError } from '../../src/core/errors.ts'
import { persist, type Failure, type Patience } from '../../src/client/persist.ts'
import type { HostWait } from '../../src/core/ports.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

const missing = new TransportError('ERR_UPLOAD_NETWORK', 'No answer.', { ending: 'neverWhole', phase: 'connect' })
const unreadable = new TransportError('ERR_UPLOAD_NETWORK', 'The answer broke off.', {
  ...{ ending: 'doubtful', phase: 'answer', isUnreadable: true },
})
const answer = (status: number, retryAfterMs?: number) =>
  new HttpStatusError('ERR_UPLOAD_HTTP_STATUS', 'No success.', { status, retryAfterMs, isRetryable: true })

const away: Failure = { host: 'h:443', error: missing, reason: 'no connection', isDoubtful: false }
const answered: Failure = { host: 'h:443', error: answer(500), reason: 'it answers 500', isDoubtful: false }
/** The host was heard and went away, or may have heard. */
const lost: Failure = { host: 'h:443', error: missing, reason: 'connection lost', isDoubtful: true }

interface Told {
  /** What comes of the tries, one after another, and of the last from then on; a number of ms before one: how long it takes. */
  readonly tries: readonly (Failure | 'success' | readonly [number, Failure])[]
  /** What comes of the questions, likewise. */
  readonly questions?: readonly (Failure | undefined)[]
}

/** `dice`: 0 for the shortest pauses, a quarter of a second, unless the host asks for more. */
function persisting({ tries, questions }: Told, patience: Partial<Patience> = {}, dice = 0) {
  const clock = createSimulatedClock()
  const asked: string[] = []
  const waits: HostWait[] = []
  const nthOf = <T>(list: readonly T[], what: string): T => {
    asked.push(`${what} at ${String(clock.monotonicNow())}`)
    const nth = asked.filter((one) => one.startsWith(what)).length
    return list[Math.min(nth, list.length) - 1]!
  }
  const ended = persist(
    { clock, random: () => dice, retries: 3, giveUpAfterMs: 10_000, ...patience },
    {
      operation: 'do',
      signal: new AbortController().signal,
      onWaiting: (wait) => wait && waits.push(wait),
      async tryOnce() {
        const outcome = nthOf(tries, 'try')
        if (outcome === 'success') return { result: 'done' }
        if (!Array.isArray(outcome)) return { failure: outcome as Failure }
        const [ms, failure] = outcome as readonly [number, Failure]
        await new Promise<void>((resolve) => void clock.setTimeout(resolve, ms))
        return { failure }
      },
      ask: questions && (() => Promise.resolve(nthOf(questions, 'question'))),
    },
  )
  return { clock, asked, waits, ended }
}

describe('the end', () => {
  it('is reached when the tries are used up, and says nothing of an outage', async () => {
    const { clock, ended, asked } = persisting({ tries: [answered] }, { retries: 2 })
    await clock.advance(60_000)

    expect(await ended).toEqual({ failure: answered })
    expect(asked).toEqual(['try at 0', 'try at 250', 'try at 500'])
  })

  it('is not reached where a host gives no answer and nobody wants a repetition: no try was used up', async () => {
    const { clock, ended } = persisting({ tries: [away, away, 'success'] }, { retries: 0 })
    await clock.advance(60_000)

    expect(await ended).toEqual({ result: 'done' })
  })

  it('of an outage is its time, to which the last wait is cut', async () => {
    const { clock, ended, asked } = persisting({ tries: [away] }, { giveUpAfterMs: 600 })
    await clock.advance(60_000)

    expect(await ended).toEqual({ failure: away, awayMs: 600 })
    expect(asked).toEqual(['try at 0', 'try at 250', 'try at 500', 'try at 600'])
  })

  it('says how long an outage was, the time of its last try included', async () => {
    const { clock, ended } = persisting({ tries: [away, [12_000, away]] })
    await clock.advance(60_000)

    expect(await ended).toEqual({ failure: away, awayMs: 12_250 })
  })

  it('of an outage is counted anew after an answer', async () => {
    const { clock, ended, asked } = persisting({ tries: [away, answered, away] }, { giveUpAfterMs: 400 })
    await clock.advance(60_000)

    expect(await ended).toEqual({ failure: away, awayMs: 400 })
    expect(asked).toEqual(['try at 0', 'try at 250', 'try at 500', 'try at 750', 'try at 900'])
  })
})

it('asks at least every ten seconds where this machine has no network, which costs nobody anything', async () => {
  const offline = { ...away, isOffline: true }
  const { clock, asked } = persisting({ tries: [offline] }, { giveUpAfterMs: 3_600_000 }, 1)
  await clock.advance(300_000)
  const lateMs = asked.slice(-3).map((one) => Number(one.split(' ').at(-1)))

  expect([lateMs[1]! - lateMs[0]!, lateMs[2]! - lateMs[1]!]).toEqual([10_000, 10_000])
})

describe('a call that is woken, as the network may be back', () => {
  /** Fails the first try at 0, wakes all that wait at 100 ms, and lets the rest pass. */
  async function woken(failure: Failure, giveUpAfterMs?: number, often = 1) {
    const wakes = new Set<() => void>()
    const subject = persisting({ tries: [failure] }, { memory: { wakes }, ...(giveUpAfterMs && { giveUpAfterMs }) })
    for (let turn = 0; turn < often; turn += 1) {
      await subject.clock.advance(100)
      for (const wake of wakes) wake()
    }
    await subject.clock.advance(60_000)
    await subject.ended
    return { ...subject, wakes }
  }

  it('is tried again at once where it got no answer', async () => {
    const { asked, wakes } = await woken(away)
    expect(asked.slice(0, 3)).toEqual(['try at 0', 'try at 100', 'try at 350'])
    expect(wakes.size).toBe(0)
  })

  it('waits on after an answer: a host that is there has its reasons', async () => {
    const busy = { ...away, error: answer(503, 2_000), reason: 'it answers 503' }
    expect((await woken(busy)).asked.slice(0, 2)).toEqual(['try at 0', 'try at 2000'])
  })

  it.each([
    ['whose answer broke off', { ...away, error: unreadable }],
    ['of which only a few are made', { ...away, isCounted: true }],
  ])('waits on after a try %s: what may be the network again uses up no tries', async (_, failure) => {
    expect((await woken(failure, undefined, 2)).asked.slice(0, 2)).toEqual(['try at 0', 'try at 250'])
  })

  it('waits on where each try can leave something behind, and asks the question at once from then on', async () => {
    const wakes = new Set<() => void>()
    const { clock, asked } = persisting({ tries: [lost], questions: [away] }, { memory: { wakes } })
    for (let turn = 0; turn < 4; turn += 1) {
      await clock.advance(100)
      for (const wake of wakes) wake()
    }
    await clock.advance(0)
    expect(asked).toEqual(['try at 0', 'question at 250', 'question at 300', 'question at 400'])
  })

  it('is given up no earlier, however often it is woken', async () => {
    const { ended } = await woken(away, 2_000, 19)
    expect(await ended).toEqual({ failure: away, awayMs: 2_000 })
    expect((await woken(away, 2_000, 19)).asked.at(-1)).toBe('try at 2000')
  })
})

describe('what is told', () => {
  const asking = (retryAfterMs: number, more: Partial<Failure> = {}): Failure => ({
    ...away,
    error: answer(503, retryAfterMs),
    ...more,
  })

  it.each([
    ['a wait of two seconds', asking(2_000), 1],
    ['no shorter one', asking(1_999), 0],
    ['a shorter one after a try that took the rest', [1_000, asking(1_000)], 1],
    ['no shorter one after a try that took less', [1_000, asking(999)], 0],
    ['a shorter one of a machine without a network', asking(250, { isOffline: true }), 1],
    ['none of a host that nobody was asked of yet', asking(60_000, { host: undefined }), 0],
    ['none of such a host without a network', asking(60_000, { host: undefined, isOffline: true }), 0],
  ] as const)('is %s', async (_, failure, count) => {
    const { clock, waits, ended } = persisting({ tries: [failure, 'success'] }, { giveUpAfterMs: 600_000 })
    await clock.advance(600_000)

    expect(await ended).toEqual({ result: 'done' })
    expect(waits).toHaveLength(count)
  })

  it('keeps the doubt of an earlier try', async () => {
    const { clock, waits, ended } = persisting({
      tries: [{ ...lost, error: answer(503, 3_000) }, { ...away, error: answer(503, 3_000) }, 'success'],
    })
    await clock.advance(60_000)
    await ended

    expect(waits.map(({ isDoubtful }) => isDoubtful)).toEqual([true, true])
  })
})

describe('a call of which each try that was heard leaves something behind', () => {
  it('is made again only when a harmless question is answered', async () => {
    const { clock, ended, asked } = persisting({ tries: [lost, 'success'], questions: [away, away, answered] })
    await clock.advance(60_000)

    expect(await ended).toEqual({ result: 'done' })
    expect(asked).toEqual(['try at 0', 'question at 250', 'question at 500', 'question at 750', 'try at 750'])
  })

  it('uses up its tries by being lost, though the host is away each time', async () => {
    const { clock, ended, asked } = persisting({ tries: [lost], questions: [undefined] }, { retries: 2 })
    await clock.advance(60_000)

    expect(await ended).toEqual({ failure: lost })
    expect(asked.filter((one) => one.startsWith('try'))).toHaveLength(3)
  })

  it('has all of its time again once a question was answered: the host is back', async () => {
    const { clock, ended, asked } = persisting(
      { tries: [lost, away], questions: [away, undefined] },
      { giveUpAfterMs: 400 },
    )
    await clock.advance(60_000)

    expect(await ended).toEqual({ failure: away, awayMs: 400 })
    const tries = ['try at 400', 'try at 650', 'try at 800']
    expect(asked).toEqual(['try at 0', 'question at 250', 'question at 400', ...tries])
  })

  it('is tried again without a question while nobody heard it', async () => {
    const { clock, ended, asked } = persisting({ tries: [away, away, 'success'], questions: [undefined] })
    await clock.advance(60_000)

    expect(await ended).toEqual({ result: 'done' })
    expect(asked).toEqual(['try at 0', 'try at 250', 'try at 500'])
  })
})
