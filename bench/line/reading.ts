// What the far end's count says: how soon an upload fills a changed line, and how large its share of a shared one is.
// Pure.

import type { FarCount } from './site.ts'

interface Change {
  readonly atMs: number
  readonly megabitsPerSecond: number
}

/** Of the line, over five seconds: what counts as settled, and below what it is not settled any more. */
const FILLED = 0.85
const KEPT = 0.75
const SPAN_TENTHS = 50

/**
 * The longest time that it took after a change until five seconds in a row filled the new line and no later five seconds fell
 * far below it again, s; all the time there was when that was never seen. The last five seconds, when parts run out, say nothing.
 */
export function settledSeconds(tenths: readonly (number | null)[], changes: readonly Change[]): number {
  const waits = changes.map(({ atMs, megabitsPerSecond }, index) => {
    const from = Math.ceil(atMs / 100)
    const until = Math.min(tenths.length - SPAN_TENTHS, (changes[index + 1]?.atMs ?? Infinity) / 100)
    const wholeSpan = (megabitsPerSecond * 1e6 * SPAN_TENTHS) / 80
    let settledAt: number | undefined
    for (let at = from; at + SPAN_TENTHS <= until; at += 1) {
      const share = sum(tenths.slice(at, at + SPAN_TENTHS)) / wholeSpan
      if (share >= FILLED) settledAt ??= at
      else if (share < KEPT) settledAt = undefined
    }
    return Math.max(0, (settledAt ?? until) - from) / 10
  })
  return Math.max(...waits)
}

/** What one of our connections got for each byte of one of the two others, from the tenth second until one side ended. */
export function fairness(
  count: Pick<FarCount, 'tenths' | 'otherTenths'>,
  samples: readonly (readonly [number, number, number, number])[],
): number {
  const until = Math.min(count.tenths.length, count.otherTenths.length)
  const inFlight = samples.filter(([ms]) => ms >= 10_000 && ms < until * 100).map(([, , parts]) => parts)
  const perOurs = sum(count.tenths.slice(100, until)) / (sum(inFlight) / inFlight.length)
  return perOurs / (sum(count.otherTenths.slice(100, until)) / 2)
}

function sum(values: readonly (number | null)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0)
}
