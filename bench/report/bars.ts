// Bars: what the product has to reach, judged by the numbers of one interleaved run. A bar is met, missed or not
// measured, but never left out.

import { valuesOf, type Bar, type Run } from './result.ts'
import { readable, summarize } from './statistics.ts'

export interface BarDemand {
  readonly name: string
  readonly rule: Bar['rule']
  readonly limit: number
  /** Default `×`. */
  readonly unit?: string
  /** `median` (default), or `worst`: no single run may break the limit, as for peak memory. */
  readonly of?: 'median' | 'worst'
}

/** Judges values against a limit. Without a value, or with one that is not finite, the bar was not measured. */
export function judge(demand: BarDemand, values: readonly number[]): Bar {
  const { name, rule, limit, unit = '×', of = 'median' } = demand
  if (values.length === 0 || !values.every(Number.isFinite)) return { name, rule, limit, unit, status: 'not measured' }
  const spread = summarize(values)
  const worst = rule === 'atLeast' ? spread.min : spread.max
  const value = of === 'worst' ? worst : spread.median
  const isMet = rule === 'atLeast' ? value >= limit : value <= limit
  return { name, rule, limit, unit, status: isMet ? 'met' : 'missed', value, spread }
}

/**
 * One ratio for each round in which both ran, because a slow moment of the machine affects both sides of a round alike.
 * Rounds in which one of the two is missing are left out.
 */
export function ratiosByRound(
  runs: readonly Run[],
  measure: string,
  over: string,
  under: string,
  setting: Readonly<Record<string, number | string>> = {},
): number[] {
  return ratiosToBestByRound(runs, measure, over, [under], setting)
}

/** The same against the best of several: in every round, against the largest value of those that ran. */
export function ratiosToBestByRound(
  runs: readonly Run[],
  measure: string,
  over: string,
  others: readonly string[],
  setting: Readonly<Record<string, number | string>> = {},
): number[] {
  const rounds = [...new Set(runs.map((run) => run.round))].toSorted((one, other) => one - other)
  return rounds.flatMap((round) => {
    const ofRound = runs.filter((run) => run.round === round)
    const [above] = valuesOf(ofRound, over, measure, setting)
    const below = others.flatMap((other) => valuesOf(ofRound, other, measure, setting))
    return above === undefined || below.length === 0 ? [] : [above / Math.max(...below)]
  })
}

/** The bar as one line: `met     2.91 × (2.70–3.05)  at least 2.5 ×  throughput, …`. */
export function barLine(bar: Bar): string {
  const word = { met: 'met', missed: 'MISSED', 'not measured': 'NOT MEASURED' }[bar.status]
  const value = bar.value === undefined ? '–' : `${readable(bar.value)} ${bar.unit}`
  const spread = bar.spread === undefined ? '' : ` (${readable(bar.spread.min)}–${readable(bar.spread.max)})`
  const limit = `${bar.rule === 'atLeast' ? 'at least' : 'at most'} ${readable(bar.limit)} ${bar.unit}`
  return `${word.padEnd(13)}${(value + spread).padEnd(28)}${limit.padEnd(22)}${bar.name}`
}
