import { expect, test } from 'vitest'
import { timeoutsFor } from '../../../src/core/attempt/attempt-timeouts.ts'
import { DEFAULT_TIMEOUTS as timeouts } from '../../../src/core/attempt/watchdog.ts'
import type { Transport } from '../../../src/core/ports.ts'

const of = (traits: Pick<Transport, 'hasQueue' | 'isProgressLive'>, lengthBytes = 0) =>
  timeoutsFor({ transport: traits as Transport, timeouts }, lengthBytes)

test('are those that were given where the transport tells how far it is', () => {
  expect(of({}, 1e9)).toEqual(timeouts)
})

test.each([true, false])(
  'give a request minutes where the platform may queue it unseen (live progress: %s)',
  (isLive) => {
    expect(of({ hasQueue: true, isProgressLive: isLive })).toEqual({ ...timeouts, connectMs: 300_000 })
  },
)

test('grow with the body where the transport says nothing before the answer', () => {
  expect(of({ isProgressLive: false }, 16_384)).toEqual({ connectMs: 17_000, stallMs: 32_000, answerMs: 62_000 })
})
