// What a host watch tells of an outage, when, and how many attempts it lets start meanwhile.

import { describe, expect, it } from 'vitest'
import { readAddress } from '../../../src/core/address/address.ts'
import type { Attempt, AttemptResult } from '../../../src/core/attempt/attempt.ts'
import { HttpStatusError, TransportError, type UploadError } from '../../../src/core/errors.ts'
import { createHostWatch } from '../../../src/core/transfer/host-watch.ts'
import type { TransferEvent } from '../../../src/core/transfer/transfer-job.ts'
import { createSimulatedClock } from '../../helpers/simulated-clock.ts'

const ADDRESS = readAddress('https://store.test/a/1?X-Amz-Signature=secret')
const RECEIPT = { acceptedEnd: 1, isVerified: false }
const UNIT = { fileIndex: 0, partNumber: 1, start: 0, end: 1 }
const TURN = { unit: UNIT, attempt: 1, usedTries: 0, isFreshConnection: false, isFirstComer: false, epoch: 0 }
const GIVE_UP_AFTER_MS = 60_000

it('tells of an outage once for each pause, of each try once, and of its end', () => {
  const { host, fail, answer, open, now, events, startMs } = setUp()
  expect([host.isInReach(now()), open(5), host.dueMs(now())]).toEqual([true, Infinity, undefined])
  host.tried()
  answer()
  fail('connect')
  fail('send')
  expect(events).toEqual([])

  for (let late = 0; late < 3; late += 1) fail('connect')
  expect(events).toEqual([
    {
      ...{ type: 'unreachable', who: 'storage', host: 'store.test:443' },
      ...{ sinceMs: startMs, untilMs: startMs + 1_000, giveUpAtMs: startMs + GIVE_UP_AFTER_MS },
    },
  ])
  expect([host.isInReach(now()), open(0), host.dueMs(now()), host.probeAtMs(now())]).toEqual([false, 0, 1_000, 1_000])

  now.ms = 1_000
  expect([open(0), host.dueMs(now())]).toEqual([1, undefined])
  expect([open(1), host.dueMs(now())]).toEqual([0, undefined])
  for (let time = 0; time < 2; time += 1) host.tried()
  fail('answer')
  for (let time = 0; time < 2; time += 1) host.tried()
  answer()
  answer()
  host.tried()

  expect(events.slice(1)).toEqual([
    { type: 'tried' },
    { ...events[0], untilMs: startMs + 3_000 },
    { type: 'tried' },
    { type: 'reachable' },
  ])
  expect([host.isInReach(now()), open(5)]).toEqual([true, Infinity])
})

it('tells the time of the wall, and the status where there is one', () => {
  const { host, refuse, answer, now, events, startMs, clock } = setUp()
  now.ms = 5_000
  clock.shiftWall(3_600_000)

  refuse(400_000)

  const sinceMs = startMs + 3_600_000 + 5_000
  expect(events).toEqual([
    {
      ...{ type: 'unreachable', who: 'storage', host: 'store.test:443', status: 503, reason: 'it answers 503' },
      ...{ sinceMs, untilMs: sinceMs + GIVE_UP_AFTER_MS, giveUpAtMs: sinceMs + GIVE_UP_AFTER_MS },
    },
  ])
  // A pause that the host asked for is not ended by answers to what was under way before it, nor by a network that is back.
  answer()
  host.probeNow()
  expect([events.length, host.isInReach(now()), host.dueMs(now())]).toEqual([1, false, 5_000 + GIVE_UP_AFTER_MS])
})

it('may be asked at once where the network is back', () => {
  const { host, fail, open, now } = setUp()
  for (let time = 0; time < 3; time += 1) fail('connect')
  now.ms = 300

  host.probeNow()

  expect([open(0), host.dueMs(now())]).toEqual([1, undefined])
})

it.each([
  [
    'connect',
    'The storage store.test:443 could not be reached for 70 s. Check the network, then resume the upload. The last failure: no',
    false,
  ],
  [
    'answer',
    'The storage store.test:443 gave no answer for 70 s. Check the network, then resume the upload. The last failure: no',
    false,
  ],
  [undefined, 'The storage store.test:443 took nothing for 70 s. The last failure: busy', true],
] as const)('says how a host was given up whose last failure was %s', (phase, message, isThere) => {
  const { fail, refuse, open, now, given } = setUp()
  const failOnce = (): unknown => (phase === undefined ? refuse() : fail(phase))
  open(0)
  const sinceMs = 10_000
  now.ms = sinceMs
  for (let time = 0; time < 3; time += 1) failOnce()
  // Each probe is begun at its time: only that counts.
  for (const dueMs of [1_000, 3_000, 7_000, 15_000, 31_000, 60_000]) {
    now.ms = sinceMs + dueMs
    open(0)
    if (dueMs === 60_000) now.ms += 9_600
    failOnce()
  }

  expect(given).toMatchObject([
    [
      { code: 'ERR_UPLOAD_HOST_UNREACHABLE', message, cause: { message: phase === undefined ? 'busy' : 'no' } },
      isThere,
    ],
  ])
})

it('counts how much of a try each end uses up, and none during an outage', () => {
  const { host, fail, refuse, answer, end, now } = setUp()
  const error = new HttpStatusError('ERR_UPLOAD_HTTP_STATUS', 'no', { status: 403 })
  expect([answer(), end({ kind: 'refused', verdict: { kind: 'renew', error } })]).toEqual([1, 1])
  expect(end({ kind: 'source', ending: 'neverWhole', error })).toBe(1 / 8)
  expect([fail('connect'), fail('send'), refuse()]).toEqual([0, 1, 1 / 8])

  refuse(400_000)

  expect([host.isInReach(now()), fail('send'), refuse()]).toEqual([false, 0, 0])
})

it('is not out of service by what it refuses before its first answer, while others are in flight, and is when none is', () => {
  const { host, refuse, open, now } = setUp()
  for (let time = 0; time < 8; time += 1) refuse(60_000)
  expect(host.isInReach(now())).toBe(true)

  open(0)
  refuse()
  expect(host.isInReach(now())).toBe(false)
})

it.each([
  ['no answer', 'send'],
  ['no connection', 'connect'],
  ['a refusal', undefined],
] as const)('holds parts back by its window while it is in service: %s', (_, phase) => {
  const { fail, refuse, answer, open } = setUp()
  for (let time = 0; time < (phase === undefined ? 6 : 20); time += 1) {
    answer()
    if (phase === undefined) refuse()
    else fail(phase)
  }

  expect([open(0), open(64)]).not.toContain(Infinity)
})

it('learns nothing of numbers from an outage, nor from what ends by itself', () => {
  const { fail, refuse, answer, end, open, now } = setUp()
  for (let time = 0; time < 64; time += 1) fail('connect')
  for (let time = 0; time < 64; time += 1) refuse()
  // Of the probe.
  now.ms = 1_000
  answer()
  for (let time = 0; time < 64; time += 1) end({ kind: 'aborted', ending: 'neverWhole' })
  for (let time = 0; time < 64; time += 1) end({ kind: 'expired' })

  expect(open(64)).toBe(Infinity)
})

it('takes it for too many, and for no outage, where one fails after the other and what was under way with them is answered', () => {
  const { fail, answer, open, events } = setUp()
  for (let time = 0; time < 20; time += 1) fail('send')
  open(8)
  answer()

  expect(events.map(({ type }) => type)).toEqual(['unreachable', 'reachable'])
  expect([open(8), open(7)]).toEqual([0, 1])
})

it('is in service again where those that it never took are given up, and others go on', () => {
  const { host, fail, refuse, open, now, events } = setUp({ goesOn: true })
  open(0)
  for (let time = 0; time < 3; time += 1) refuse()
  for (const dueMs of [1_000, 3_000, 7_000, 15_000, 31_000, 60_000]) {
    now.ms = dueMs
    open(0)
    refuse()
  }

  expect([host.isInReach(now()), events.at(-1), fail('connect')]).toEqual([true, { type: 'reachable' }, 0])
})

const final = new HttpStatusError('ERR_UPLOAD_HTTP_STATUS', 'no', { status: 503 })
const unreadable = new TransportError('ERR_UPLOAD_ANSWER_HIDDEN', 'hidden', { ending: 'doubtful', phase: 'answer' })

it.each<[string, AttemptResult]>([
  ['a receipt', { kind: 'received', receipt: RECEIPT }],
  ['a refusal of the part alone', { kind: 'refused', verdict: { kind: 'final', error: final } }],
  ['an answer that cannot be read', { kind: 'missing', ending: 'doubtful', error: unreadable }],
])('is back by any answer: %s', (_, answer) => {
  const { host, fail, end, open, now, events } = setUp()
  for (let time = 0; time < 3; time += 1) fail('connect')
  now.ms = 1_000
  open(0)

  expect(end(answer)).toBe(1)
  expect([host.isInReach(now()), events.at(-1)]).toEqual([true, { type: 'reachable' }])
})

it('is in reach while it answers, whatever it answers, and what takes a part up says nothing against their number', () => {
  const { host, end, open, now } = setUp()
  for (let time = 0; time < 64; time += 1) end({ kind: 'missing', ending: 'doubtful', error: unreadable })
  expect(host.isInReach(now())).toBe(true)
  const other = setUp()
  for (let time = 0; time < 64; time += 1) other.end({ kind: 'refused', verdict: { kind: 'final', error: final } })

  expect([other.host.isInReach(now()), other.open(64), open(64)]).toEqual([true, Infinity, expect.any(Number)])
  expect(open(64)).toBeLessThan(Infinity)
})

it.each([
  ['by its word', 400, true, 0, 1 / 8],
  ...[429, 502, 503, 504].map((status) => ['by its status', status, false, 0, 1 / 8] as const),
  ['by a pause that no part waits by itself', 400, false, 300_001, 0],
  ['and not by a shorter pause', 400, false, 300_000, 1],
] as const)(
  'takes it for an answer of the host, and not of the part: %s (%i)',
  (_, status, isThrottle, retryAfterMs, used) => {
    const { end, answer } = setUp()
    answer()
    const error = new HttpStatusError('ERR_UPLOAD_HTTP_STATUS', 'busy', { status })

    expect(end({ kind: 'refused', verdict: { kind: 'retry', error, isThrottle, retryAfterMs } })).toBe(used)
  },
)

it.each(['while it takes few at once', 'while it is probed'])(
  'does not count an attempt whose source hangs: %s',
  (when) => {
    const { host, fail, refuse, answer, now, isRunning } = setUp()
    if (when === 'while it is probed') for (let time = 0; time < 3; time += 1) fail('connect')
    else {
      isRunning(0)
      answer()
      for (let time = 0; time < 6; time += 1) refuse()
    }
    now.ms = 1_000
    isRunning(1)
    expect(host.openSlots(now())).toBe(0)

    isRunning(1, true)

    expect([host.openSlots(now()), host.dueMs(now())]).toEqual([1, undefined])
  },
)

describe('what it holds against the number in flight', () => {
  /** Failures that are taken for an outage, of which something that was under way before tells that it was none. */
  const noOutage = (count: number, { refusals = 0, before = 0 } = {}) => {
    const { fail, refuse, answer, open, now } = setUp()
    for (let time = 0; time < before; time += 1) fail('send')
    if (before > 0) {
      now.ms = 1_000
      open(0)
      open(63)
      // Of the probe; and then the line is sound for a while.
      for (let time = 0; time < 100; time += 1) answer()
    }
    for (let time = 0; time < count; time += 1) fail('send')
    for (let time = 0; time < refusals; time += 1) refuse()
    answer()
    return open(64)
  }

  it('are failures that add up to five refusals, and no refusal of an outage', () => {
    expect([noOutage(12), noOutage(12, { refusals: 9 })]).toEqual([Infinity, Infinity])
    expect(noOutage(13)).toBeLessThan(Infinity)
  })

  it('is nothing of an outage before that a probe has ended', () => {
    expect(noOutage(12, { before: 12 })).toBe(Infinity)
    expect(noOutage(13, { before: 12 })).toBeLessThan(Infinity)
  })

  it('is less of a missing answer than of a refusal, and little of a part that is refused again and again', () => {
    const missing = setUp()
    for (let time = 0; time < 12; time += 1) {
      missing.fail('send')
      missing.answer()
    }
    const again = setUp()
    for (let time = 0; time < 20; time += 1) again.refuse(0, 10)

    expect([missing.open(64), again.open(64)]).toEqual([Infinity, Infinity])
  })

  it('is forgotten step by step while it takes what it is sent', () => {
    const { refuse, answer, open, now } = setUp()
    answer()
    for (let time = 0; time < 6; time += 1) refuse()
    const before = open(0)
    open(63)
    now.ms = 1_000
    answer()

    expect(open(0)).toBe(before + 1)
  })

  it('is a pause where not even one gets through', () => {
    const { host, fail, answer, open, now } = setUp()
    open(0)
    for (let time = 0; time < 18; time += 1) {
      answer()
      fail('send')
    }

    expect([host.isInReach(now()), open(0), host.dueMs(now())]).toEqual([true, 0, expect.any(Number)])
    expect(host.dueMs(now())).toBeGreaterThan(now.ms)
  })
})

function setUp({ goesOn = false } = {}) {
  const clock = createSimulatedClock()
  const startMs = clock.wallNow()
  const now = Object.assign(() => now.ms, { ms: 0 })
  const events: TransferEvent[] = []
  const given: [UploadError, boolean][] = []
  const wallNow = (): number => clock.wallNow() + now.ms
  const running: Pick<Attempt, 'isHung'>[] = []
  const isRunning = (count: number, isHung = false): void =>
    void running.splice(0, Infinity, ...Array.from({ length: count }, () => ({ isHung })))
  isRunning(63)
  const host = createHostWatch({
    clock: { ...clock, wallNow, monotonicNow: now },
    random: () => 0,
    giveUpAfterMs: GIVE_UP_AFTER_MS,
    running,
    report: (event) => void events.push(event),
    onGiveUp: (error, isThere) => given.push([error, isThere]) > 0 && goesOn,
  })
  const end = (result: AttemptResult, attempt = 1): number =>
    host.ended({ turn: { ...TURN, attempt }, address: ADDRESS, beganAtMs: now.ms }, result)
  return {
    ...{ host, now, events, given, clock, startMs, end, isRunning },
    /** How many may start where so many are in flight. */
    open(others: number) {
      isRunning(others)
      return host.openSlots(now.ms)
    },
    fail: (phase: TransportError['phase']) =>
      end({
        ...{ kind: 'missing', ending: 'neverWhole' },
        error: new TransportError('ERR_UPLOAD_NETWORK', 'no', { ending: 'neverWhole', phase }),
      }),
    refuse(retryAfterMs = 0, attempt = 1) {
      const error = new HttpStatusError('ERR_UPLOAD_HTTP_STATUS', 'busy', { status: 503 })
      return end({ kind: 'refused', verdict: { kind: 'retry', error, isThrottle: true, retryAfterMs } }, attempt)
    },
    answer: () => end({ kind: 'received', receipt: RECEIPT }),
  }
}
