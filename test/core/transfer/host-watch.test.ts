// What a host watch tells of an outage, when, and how many attempts it lets start meanwhile.

import { expect, it } from 'vitest'
import { HttpStatusError, TransportError, type UploadError } from '../../../src/core/errors.ts'
import { createHostWatch } from '../../../src/core/transfer/host-watch.ts'
import type { TransferEvent } from '../../../src/core/transfer/transfer-job.ts'
import { createSimulatedClock } from '../../helpers/simulated-clock.ts'

const ADDRESS = 'https://store.test/a/1?X-Amz-Signature=secret'
const GIVE_UP_AFTER_MS = 60_000

it('tells of an outage once for each pause, of each try once, and of its end', () => {
  const { host, fail, now, events, startMs } = setUp()
  expect([host.isInReach(), host.openSlots(5, now()), host.dueMs(now())]).toEqual([true, Infinity, undefined])
  host.tried()
  host.answered()
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
  expect([host.isInReach(), host.openSlots(0, now()), host.dueMs(now())]).toEqual([false, 0, 1_000])

  now.ms = 1_000
  expect([host.openSlots(0, now()), host.openSlots(1, now()), host.dueMs(now())]).toEqual([1, 0, undefined])
  for (let time = 0; time < 2; time += 1) host.tried()
  fail('answer')
  for (let time = 0; time < 2; time += 1) host.tried()
  host.answered()
  host.answered()
  host.tried()

  expect(events.slice(1)).toEqual([
    { type: 'tried' },
    { ...events[0], untilMs: startMs + 3_000 },
    { type: 'tried' },
    { type: 'reachable' },
  ])
  expect([host.isInReach(), host.openSlots(5, now())]).toEqual([true, Infinity])
})

it('tells the time of the wall, and the status where there is one', () => {
  const { host, now, events, startMs, clock } = setUp()
  now.ms = 5_000
  clock.shiftWall(3_600_000)

  host.refused(refusal(), ADDRESS, 400_000)

  const sinceMs = startMs + 3_600_000 + 5_000
  expect(events).toEqual([
    {
      ...{ type: 'unreachable', who: 'storage', host: 'store.test:443', status: 503, reason: 'it answers 503' },
      ...{ sinceMs, untilMs: sinceMs + GIVE_UP_AFTER_MS, giveUpAtMs: sinceMs + GIVE_UP_AFTER_MS },
    },
  ])
  // A pause that the host asked for is not ended by answers to what was under way before it, nor by a network that is back.
  host.answered()
  host.probeNow()
  expect([events.length, host.isInReach(), host.dueMs(now())]).toEqual([1, false, 5_000 + GIVE_UP_AFTER_MS])
})

it('may be asked at once where the network is back', () => {
  const { host, fail, now } = setUp()
  for (let time = 0; time < 3; time += 1) fail('connect')
  now.ms = 300

  host.probeNow()

  expect([host.dueMs(now()), host.openSlots(0, now())]).toEqual([undefined, 1])
})

it.each([
  [
    'connect',
    'The storage could not be reached for 70 s. Check the network, then resume the upload. The last failure: no',
    false,
  ],
  [
    'answer',
    'The storage gave no answer for 70 s. Check the network, then resume the upload. The last failure: no',
    false,
  ],
  [undefined, 'The storage took nothing for 70 s. The last failure: busy', true],
] as const)('says how a host was given up whose last failure was %s', (phase, message, isThere) => {
  const { host, fail, now, given } = setUp()
  const failOnce = (): void => (phase === undefined ? host.refused(refusal(), ADDRESS) : fail(phase))
  const sinceMs = 10_000
  now.ms = sinceMs
  for (let time = 0; time < 3; time += 1) failOnce()
  // Each probe is begun at its time: only that counts.
  for (const dueMs of [1_000, 3_000, 7_000, 15_000, 31_000, 60_000]) {
    now.ms = sinceMs + dueMs
    host.openSlots(0, now())
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

function refusal(): HttpStatusError {
  return new HttpStatusError('ERR_UPLOAD_HTTP_STATUS', 'busy', { status: 503 })
}

function setUp() {
  const clock = createSimulatedClock()
  const startMs = clock.wallNow()
  const now = Object.assign(() => now.ms, { ms: 0 })
  const events: TransferEvent[] = []
  const given: [UploadError, boolean][] = []
  const wallNow = (): number => clock.wallNow() + now.ms
  const host = createHostWatch({
    clock: { ...clock, wallNow, monotonicNow: now },
    random: () => 0,
    giveUpAfterMs: GIVE_UP_AFTER_MS,
    report: (event) => void events.push(event),
    onGiveUp: (error, isThere) => void given.push([error, isThere]),
  })
  const fail = (phase: TransportError['phase']): void =>
    host.failed(new TransportError('ERR_UPLOAD_NETWORK', 'no', { ending: 'neverWhole', phase }), ADDRESS)
  return { host, fail, now, events, given, clock, startMs }
}
