// What the far end's count says: how soon an upload fills a changed line, and how large its share of a shared one is.
// Pure.

import type { FarCount } from './site.ts'

interface Change {
  /** Since the first connection, as the far end counts. */
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

/** How long both sides may take to find their rates: as long as an upload may take to settle after a change. */
const WARM_TENTHS = 200

/**
 * What one of our connections got for each byte of one of the two others, while both ran: from twenty seconds after the later of
 * them began until one side ended. NaN when that was no time at all.
 */
export function fairness(
  count: Pick<FarCount, 'tenths' | 'otherTenths'>,
  samples: readonly (readonly [number, number, number, number])[],
): number {
  const { tenths, otherTenths } = count
  const from = Math.max(beginning(tenths), beginning(otherTenths)) + WARM_TENTHS
  const until = Math.min(tenths.length, otherTenths.length)
  const inFlight = samples.filter(([ms]) => ms >= from * 100 && ms < until * 100).map(([, , parts]) => parts)
  const perOurs = sum(tenths.slice(from, until)) / (sum(inFlight) / inFlight.length)
  return perOurs / (sum(otherTenths.slice(from, until)) / 2)
}

/** How often our process samples itself, and how late a sample says that it waited for the processor, ms. */
const SAMPLE_MS = 100
const LATE_MS = 20

/**
 * Of our samples, how many came late, percent: then the machine was busy, and not the line alone decided. NaN without two
 * samples.
 */
export function latePercent(samples: readonly (readonly [number, number, number, number])[]): number {
  const gaps = samples.slice(1).map(([ms], index) => ms - (samples[index]?.[0] ?? ms))
  return (gaps.filter((ms) => ms > SAMPLE_MS + LATE_MS).length / gaps.length) * 100
}

function beginning(tenths: readonly (number | null)[]): number {
  const first = tenths.findIndex((bytes) => (bytes ?? 0) > 0)
  return first < 0 ? tenths.length : first
}

function sum(values: readonly (number | null)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0)
}
