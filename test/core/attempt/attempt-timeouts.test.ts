import { expect, test } from 'vitest'
import { timeoutsFor } from '../../../src/core/attempt/attempt-timeouts.ts'
import { DEFAULT_TIMEOUTS as timeouts } from '../../../src/core/attempt/watchdog.ts'
import type { Transport } from '../../../src/core/ports.ts'

const of = (traits: Pick<Transport, 'hasQueue' | 'isProgressLive'>, lengthBytes = 0) =>
  timeoutsFor({ transport: traits as Transport, timeouts }, lengthBytes)

test('are those that were given where the transport tells how far it is', () => {
  expect(of({}, 1e9)).toEqual(timeouts)
})

test('give a request minutes where the platform may queue it unseen', () => {
  expect(of({ hasQueue: true })).toEqual({ ...timeouts, connectMs: 300_000 })
  expect(of({ hasQueue: true, isProgressLive: false }).connectMs).toBe(300_000 + timeouts.answerMs)
})

test('give time for the answer, and grow with the body, where the transport says nothing before the answer', () => {
  expect(of({ isProgressLive: false })).toMatchObject({ connectMs: 75_000 })
  expect(of({ isProgressLive: false }, 16_384)).toEqual({ connectMs: 77_000, stallMs: 92_000, answerMs: 122_000 })
})
