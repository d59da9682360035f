// What a background upload hears where the platform has no bare round trips.

import { describe, expect, it } from 'vitest'
import { createLineDelay } from '../../../src/core/line/line-delay.ts'
import type { Transport } from '../../../src/core/ports.ts'
import { createSimulatedClock } from '../../helpers/simulated-clock.ts'

const BYTES = 1_000_000

/** The last rate after parts that took so long, ms. */
async function rateAfter(durations: readonly number[], isProgressLive: boolean): Promise<number> {
  const clock = createSimulatedClock()
  const transport: Transport = {
    isProgressLive,
    async send({ onSent }) {
      if (isProgressLive) onSent?.(BYTES)
      await new Promise<void>((resolve) => clock.setTimeout(resolve, durations[at] ?? 0))
      onSent?.(BYTES)
      return { status: 200, headers: {}, body: new Uint8Array(), isBodyCut: false }
    },
    endingOf: () => 'neverWhole',
    close: () => Promise.resolve(),
  }
  let rate = 0
  const line = createLineDelay({ transport, clock }, (bytesPerSecond) => (rate = bytesPerSecond))
  let at = 0
  for (; at < durations.length; at += 1) {
    const body = { kind: 'bytes', bytes: new Uint8Array(BYTES) } as const
    const { signal } = new AbortController()
    const sending = line.transport.send({ method: 'PUT', url: 'https://store.test/', headers: {}, body, signal })
    line.addBytes(BYTES)
    await clock.advance(durations[at] ?? 0)
    await sending
  }
  return rate
}

describe.each([
  ['from its last byte on', true],
  ['as a whole, where progress comes only at the end,', false],
])('a part that takes longer %s', (_, isProgressLive) => {
  it('shows a queue, and the rate falls', async () => {
    const steady = [1_000, 1_000, 1_000, 1_000]
    const before = await rateAfter(steady, isProgressLive)

    expect(await rateAfter([...steady, 1_200, 1_200, 1_200], isProgressLive)).toBeLessThan(before)
    expect(await rateAfter([...steady, 1_000, 1_000, 1_000], isProgressLive)).toBeGreaterThan(before)
  })
})
