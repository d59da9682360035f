// Rates that can be compared: what is left out, and how long is measured.

import { describe, expect, it } from 'vitest'
import { BUFFER_BYTES, createGoodput } from '../../../src/core/line/goodput.ts'

const STEP_MS = 100

interface Setting {
  readonly newConnections?: number
  readonly isHasty?: boolean
  readonly partsAt?: (nth: number) => number
  /** The limit changes at this sample. */
  readonly changesAt?: number
}

/** The rates of ten seconds, each with the time at which it was known. */
function ratesOf(bytesAt: (nth: number) => number, setting: Setting = {}) {
  const { newConnections = 0, isHasty = false, partsAt = () => 0, changesAt } = setting
  const goodput = createGoodput()
  goodput.restart(0, newConnections)
  return Array.from({ length: 100 }, (_, index) => {
    const atMs = (index + 1) * STEP_MS
    if (index === changesAt) goodput.restart(index * STEP_MS, 0)
    const sample = { atMs, inFlight: 4, bytesSince: bytesAt(index), partsDone: partsAt(index) }
    return { atMs, rate: goodput.add(sample, STEP_MS, 4, isHasty) }
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
    const [first] = ratesOf((nth) => (nth < 10 ? BUFFER_BYTES / 5 : 1_000), { newConnections: 2 })

    expect(first).toEqual({ atMs: 2_100, rate: 10_000 })
  })

  it('is measured after three seconds at the latest, on a line too slow to fill all buffers', () => {
    const [first] = ratesOf(() => 1_000, { newConnections: 64 })

    expect(first).toEqual({ atMs: 4_000, rate: 10_000 })
  })

  it('is that of half a second while nothing is known, even if bytes come in bursts', () => {
    const [first] = ratesOf((nth) => (nth % 5 === 3 ? 5_000 : 0), { isHasty: true })

    expect(first).toEqual({ atMs: 800, rate: 10_000 })
  })

  it('is that of all slots turned over twice, where bytes are told only with their part', () => {
    const isDone = (nth: number): boolean => nth % 3 === 2
    const setting = { isHasty: true, partsAt: (nth: number) => Number(isDone(nth)) }
    const [first, second] = ratesOf((nth) => (isDone(nth) ? 3_000 : 0), setting)

    expect([first, second]).toEqual([
      { atMs: 2_700, rate: 10_000 },
      { atMs: 5_100, rate: 10_000 },
    ])
  })

  it('holds nothing from before the limit changed', () => {
    const [first] = ratesOf((nth) => (nth < 10 ? 50_000 : 1_000), { changesAt: 10 })

    expect(first).toEqual({ atMs: 2_300, rate: 10_000 })
  })
})
