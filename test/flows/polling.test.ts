// How an analysis is asked for: defaults where an option is named without a value, and no questions without a pause.

import { describe, expect, it } from 'vitest'

import { UploadError, type UploadErrorCode } from '../../src/core/errors.ts'
import { checkPolling, pollAnalysis, verdictOf, type PollingOptions } from '../../src/flows/polling.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'

/** As a host in plain JavaScript passes on what it was not given. */
const NAMED_ONLY = {
  deadlineMs: undefined,
  pollDelaysMs: undefined,
  completedStatuses: undefined,
  failedStatuses: undefined,
} as unknown as Parameters<typeof pollAnalysis>[2]

/** What kept us from a later word of the service. */
const SILENCE = { code: 'ERR_UPLOAD_TIMEOUT', message: 'The service gave no answer until the deadline.' }

/** Polls a service that gives these answers in turn, the last of them for ever, until the default deadline. */
async function polled(answers: readonly (Record<string, unknown> | Error)[], options: PollingOptions = {}) {
  const clock = createSimulatedClock()
  const words: string[] = []
  let asked = 0
  const get = () => {
    const answer = answers[Math.min(asked++, answers.length - 1)]!
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
  }
  const polling = pollAnalysis(clock, get, options, new AbortController().signal, (word) => words.push(word)).then(
    (outcome) => ({ outcome }),
    (error: unknown) => ({ outcome: undefined, error }),
  )
  await clock.advance(5 * 3_600_000)
  return { ...(await polling), words, asked }
}

it.each([
  ['done', ' Fertig', { verdict: 'completed' }],
  ['failed', 'KAPUTT ', { verdict: 'failed' }],
])('takes the words that the host names for %s, and ours no more', async (_, word, outcome) => {
  const options = { completedStatuses: ['Fertig'], failedStatuses: ['kaputt'], pollDelaysMs: [1_000] }
  const answers = ['completed', 'failed', word].map((status) => ({ status }))

  expect(await polled(answers, options)).toEqual({ outcome, words: ['completed', 'failed', word], asked: 3 })
})

it('keeps the last word where an answer says none', async () => {
  const { outcome, words } = await polled([{ status: 'requested' }, {}, { status: 'requested' }, { status: 'done' }])

  expect([outcome, words]).toEqual([{ verdict: 'completed' }, ['requested', 'done']])
})

describe('a question that fails', () => {
  const failure = (code: UploadErrorCode, isRetryable: boolean) => new UploadError(code, 'No.', { isRetryable })

  it('is asked again at the next turn where the service may be back, and is no word of the deadline then', async () => {
    const { outcome, asked } = await polled([failure('ERR_UPLOAD_RETRIES_EXHAUSTED', true), { status: 'requested' }])

    expect(outcome).toEqual({ verdict: 'deadline' })
    expect(asked).toBeGreaterThan(50)
  })

  it.each([
    ['a refusal', failure('ERR_UPLOAD_SERVICE_REFUSED', false)],
    ['an error of the host’s', new TypeError('no such field')],
  ])('ends all where it is %s, though the service has answered before', async (_, error) => {
    expect(await polled([{ status: 'requested' }, error])).toEqual({ error, words: ['requested'], asked: 2 })
  })
})

it('takes options that are named without a value for options that are not given', async () => {
  const clock = createSimulatedClock()
  const askedAtMs: number[] = []
  const signal = new AbortController().signal
  const get = (): Promise<{ status: string }> => {
    askedAtMs.push(clock.monotonicNow())
    return Promise.resolve({ status: askedAtMs.length < 4 ? 'requested' : 'Completed' })
  }

  const words: string[] = []

  const polling = pollAnalysis(clock, get, NAMED_ONLY, signal, (word) => words.push(word))
  await clock.advance(3_600_000)

  expect(await polling).toEqual({ verdict: 'completed' })
  expect(words).toEqual(['requested', 'Completed'])
  const [beganAtMs = 0] = askedAtMs
  expect(askedAtMs.map((atMs) => atMs - beganAtMs)).toEqual([0, 60_000, 180_000, 480_000])
  expect(verdictOf('rejected', NAMED_ONLY)).toBe('failed')
})

it.each([
  ['a deadline that is no number', { deadlineMs: NaN }, 'deadlineMs is NaN: give an integer of 0 or more.'],
  [
    'a pause that is no number',
    { pollDelaysMs: [60_000, NaN] },
    'pollDelaysMs[1] is NaN: give an integer of 0 or more.',
  ],
  ['a pause that is no list', { pollDelaysMs: 5 }, 'pollDelaysMs is 5: give an array.'],
  ['no pause', { pollDelaysMs: [] }, 'pollDelaysMs is empty: give at least one.'],
  ['one word for done', { completedStatuses: 'done' }, 'completedStatuses is "done": give an array.'],
  ['a word for failed that is no text', { failedStatuses: [5] }, 'failedStatuses[0] is 5: give a string.'],
])('refuses %s, which would be found out after the analysis was requested', (_what, options, message) => {
  const check = () => checkPolling(options as PollingOptions)

  expect(check).toThrow(expect.objectContaining({ code: 'ERR_UPLOAD_INVALID_ARGUMENT', message }) as Error)
})

it.each([
  ['two hours', 7_200_000, 7_200_000],
  ['none', 0, 60_000],
])('asks a service that is away no longer than there is time: %s', async (_what, deadlineMs, endsMs) => {
  const clock = createSimulatedClock()
  const get = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    })
  let outcome: unknown

  void pollAnalysis(clock, get, { deadlineMs }, new AbortController().signal, () => undefined).then(
    (ended) => (outcome = ended),
  )
  await clock.advance(endsMs - 1)
  expect(outcome).toBeUndefined()
  await clock.advance(1)

  expect(outcome).toEqual({ verdict: 'deadline', error: SILENCE })
})

it.each([
  ['forward, as where it was wrong since the machine was started', 366 * 86_400_000],
  ['back by an hour', -3_600_000],
])('waits as long as it was told, though the clock is set %s', async (_what, byMs) => {
  const clock = createSimulatedClock()
  const get = () => Promise.resolve({ status: 'requested' })
  let outcome: unknown
  void pollAnalysis(clock, get, {}, new AbortController().signal, () => undefined).then((ended) => (outcome = ended))

  await clock.advance(90_000)
  clock.shiftWall(byMs)
  await clock.advance(5 * 3_600_000 - 90_001)
  expect(outcome).toBeUndefined()
  await clock.advance(1)

  expect(outcome).toEqual({ verdict: 'deadline' })
})

it('asks once more when the machine slept past the deadline: the service did not', async () => {
  const clock = createSimulatedClock()
  let isDone = false
  const get = () => Promise.resolve({ status: isDone ? 'done' : 'requested' })
  const polling = pollAnalysis(clock, get, {}, new AbortController().signal, () => undefined)

  await clock.advance(90_000)
  isDone = true
  clock.suspend(8 * 3_600_000)
  await clock.advance(0)

  expect(await polling).toEqual({ verdict: 'completed' })
})

it('ends five minutes after the machine has slept past the deadline during a question that nobody answers', async () => {
  const clock = createSimulatedClock()
  const get = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    })
  const options = { deadlineMs: 12 * 3_600_000 }
  let outcome: unknown
  void pollAnalysis(clock, get, options, new AbortController().signal, () => undefined).then((end) => (outcome = end))

  await clock.advance(90_000)
  clock.suspend(21 * 3_600_000)
  await clock.advance(299_999)
  expect(outcome).toBeUndefined()
  await clock.advance(1)

  expect(outcome).toEqual({ verdict: 'deadline', error: SILENCE })
})

it('ends its question when it is stopped', async () => {
  const stopping = new AbortController()
  let heard: unknown
  const get = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        heard = signal.reason
        reject(signal.reason as Error)
      })
    })

  const polling = pollAnalysis(createSimulatedClock(), get, {}, stopping.signal, () => undefined)
  stopping.abort(new Error('stopped'))

  await expect(polling).rejects.toThrow('stopped')
  expect(heard).toBe(stopping.signal.reason)
})

it('ends where nobody was ever there: the address is misspelt, and five hours would go by in silence', async () => {
  const details = { host: 'service.example:443', isBaseUrlDoubtful: true }
  const nobody = new UploadError('ERR_UPLOAD_HOST_UNREACHABLE', 'Could not reach it.', { isRetryable: true, details })
  const get = (): Promise<never> => Promise.reject(nobody)

  const polling = pollAnalysis(createSimulatedClock(), get, {}, new AbortController().signal, () => undefined)

  await expect(polling).rejects.toBe(nobody)
})

it('goes on where nobody was there for the hour that was waited, since this machine had no network', async () => {
  const clock = createSimulatedClock()
  const details = { host: 'service.example:443', isBaseUrlDoubtful: true, forMs: 3_600_000 }
  const away = new UploadError('ERR_UPLOAD_HOST_UNREACHABLE', 'Could not reach it.', { isRetryable: true, details })
  let asked = 0
  const get = () => ((asked += 1) === 1 ? Promise.reject(away) : Promise.resolve({ status: 'done' }))

  const polling = pollAnalysis(clock, get, {}, new AbortController().signal, () => undefined)
  await clock.advance(60_000)

  expect(await polling).toEqual({ verdict: 'completed' })
})

describe('an answer that is not the service’s: the page of a sign-in, a redirect to one', () => {
  const foreign = (code: UploadErrorCode) => new UploadError(code, 'The service answered with a web page.')

  it.each(['ERR_UPLOAD_SERVICE_REPLY', 'ERR_UPLOAD_REDIRECT_REFUSED'] as const)(
    'is passed over once the service itself has answered, for as long as it comes (%s)',
    async (code) => {
      const clock = createSimulatedClock()
      let asked = 0
      const get = (): Promise<{ status: string }> => {
        asked += 1
        if (asked === 1) return Promise.resolve({ status: 'requested' })
        return asked < 9 ? Promise.reject(foreign(code)) : Promise.resolve({ status: 'done' })
      }

      const polling = pollAnalysis(clock, get, {}, new AbortController().signal, () => undefined)
      await clock.advance(3_600_000)

      expect(await polling).toEqual({ verdict: 'completed' })
    },
  )

  it('is told with the deadline where it comes for ever: the service’s last word is hours old by then', async () => {
    const clock = createSimulatedClock()
    let asked = 0
    const get = (): Promise<{ status: string }> =>
      (asked += 1) === 1
        ? Promise.resolve({ status: 'requested' })
        : Promise.reject(foreign('ERR_UPLOAD_SERVICE_REPLY'))
    let outcome: unknown
    void pollAnalysis(clock, get, {}, new AbortController().signal, () => undefined).then((ended) => (outcome = ended))

    await clock.advance(5 * 3_600_000 - 1)
    expect(outcome).toBeUndefined()
    await clock.advance(1)

    expect(outcome).toEqual({
      verdict: 'deadline',
      error: { code: 'ERR_UPLOAD_SERVICE_REPLY', message: 'The service answered with a web page.' },
    })
    expect(clock.pending).toBe(0)
  })

  it('is the end where nothing else was ever answered: the base URL is of something else', async () => {
    const get = (): Promise<never> => Promise.reject(foreign('ERR_UPLOAD_SERVICE_REPLY'))
    const polling = pollAnalysis(createSimulatedClock(), get, {}, new AbortController().signal, () => undefined)

    await expect(polling).rejects.toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY' })
  })
})
