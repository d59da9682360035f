// Rates that can be compared: what is left out, and how long is measured.

import { describe, expect, it } from 'vitest'
import { BUFFER_BYTES, createGoodput } from '../../../src/core/line/goodput.ts'

const STEP_MS = 100

/** The rates of ten seconds, each with the time at which it was known. */
function ratesOf(bytesAt: (nth: number) => number, newConnections = 0) {
  const goodput = createGoodput()
  goodput.restart(0, newConnections)
  return Array.from({ length: 100 }, (_, index) => {
    const atMs = (index + 1) * STEP_MS
    const sample = { atMs, inFlight: 4, bytesSince: bytesAt(index), partsDone: 0 }
    return { atMs, rate: goodput.add(sample, STEP_MS, 4, false) }
  }).filter(({ rate }) => rate !== undefined)
}

describe('a rate', () => {
  it('is that of a second where bytes flow evenly, once connections have settled', () => {
    const [first, second] = ratesOf(() => 1_000)

    expect([first, second]).toEqual([
      { atMs: 1_300, rate: 10_000 },
      { atMs: 2_300, rate: 10_000 },
    ])
  })

  it('takes longer where bytes come in bursts, up to two and a half seconds', () => {
    const [first, second] = ratesOf((nth) => (nth % 10 === 5 ? 10_000 : 0))

    expect((first?.atMs ?? 0) - 300).toBe(2_500)
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBe(2_500)
  })

  it('leaves out what fills the buffers of new connections', () => {
    const [first] = ratesOf((nth) => (nth < 10 ? BUFFER_BYTES / 5 : 1_000), 2)

    expect(first).toEqual({ atMs: 2_100, rate: 10_000 })
  })
})
