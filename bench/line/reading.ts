// Pure evaluation of a run: whether it is a result at all, how soon an upload fills a changed line, and how large its share of a shared
// line is.

import type { FarCount } from './site.ts'

/** Exit code of our own process when it was stopped. Its output then still counts. */
const STOPPED = 3

/** How a contestant's process ended. */
export interface Ending {
  /** Null if a signal ended it. */
  readonly code: number | null
  /** It took too long, so we told it to stop. */
  readonly isStopped: boolean
  /** In our own process's words; others say nothing. */
  readonly status?: string | undefined
  /** Of bodies that came to their end, each byte of a file counted once. */
  readonly arrivedBytes: number
  readonly wantedBytes: number
}

/** Whether a contestant came to its end by itself. Throws if it failed, or sent less than it should: that is no result. */
export function isWholeRun({ code, isStopped, status = 'confirmed', arrivedBytes, wantedBytes }: Ending): boolean {
  if (isStopped && (code === STOPPED || code === null)) return false
  if (code !== 0) throw new Error(code === null ? 'was ended by a signal' : `ended with ${String(code)}`)
  if (status !== 'confirmed') throw new Error(`ended ${status}`)
  if (arrivedBytes < wantedBytes) throw new Error(`sent ${String(arrivedBytes)} of ${String(wantedBytes)} bytes`)
  return true
}

/** The count of a run that was stopped: what stood still until then got nothing, and had not come to its end. */
export function untilStopped<Count extends Pick<FarCount, 'tenths' | 'otherTenths' | 'untilMs'>>(count: Count): Count {
  const whole = (tenths: FarCount['tenths']): FarCount['tenths'] => [
    ...tenths,
    ...Array.from({ length: Math.max(0, Math.floor(count.untilMs / 100) - tenths.length) }, () => 0),
  ]
  const { tenths, otherTenths } = count
  return { ...count, tenths: whole(tenths), otherTenths: otherTenths.length === 0 ? [] : whole(otherTenths) }
}

interface Change {
  /** Since the first connection, like the far end's counts. */
  readonly atMs: number
  readonly megabitsPerSecond: number
}

/** Share of the line over five seconds: from `FILLED` on the upload counts as settled, below `KEPT` no longer. */
const FILLED = 0.85
const KEPT = 0.75
const SPAN_TENTHS = 50

/**
 * The longest time, over all changes, from a change until five seconds in a row filled the new line and no later five seconds fell
 * far below it. Seconds. If that never happened, all the time that there was. The last five seconds, when parts run out, are ignored.
 * NaN if there was no time after a change: nothing was measured then.
 */
export function settledSeconds(tenths: readonly (number | null)[], changes: readonly Change[]): number {
  const waits = changes.map(({ atMs, megabitsPerSecond }, index) => {
    const from = Math.ceil(atMs / 100)
    const until = Math.min(tenths.length - SPAN_TENTHS, (changes[index + 1]?.atMs ?? Infinity) / 100)
    if (until <= from) return NaN
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
 * How many bytes one of our connections got for each byte of one of the two others, while both sides ran: from twenty
 * seconds after the later side began until one side ended. NaN if there was no such time.
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

/** How often our process takes a sample, and how late a sample must be to show that the process waited for the processor, ms. */
const SAMPLE_MS = 100
const LATE_MS = 20

/**
 * The share of our samples that came late, percent. If many did, the machine was busy and the result does not depend on
 * the line alone. NaN with fewer than two samples.
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
