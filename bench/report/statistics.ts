// What several runs say together: their median and spread. Never a best run, never a mean.

/** Median and spread of one measure over a contestant's runs. */
export interface Summary {
  readonly median: number
  readonly min: number
  readonly max: number
  /** Number of runs that had the measure. */
  readonly count: number
}

/** The middle value, or the mean of the two in the middle. Throws on an empty list: nothing was measured. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  if (low === undefined || high === undefined) throw new Error('A median needs at least one value.')
  return (low + high) / 2
}

/** Throws on an empty list and on a value that is not finite: a hole in the measurements must not become a zero. */
export function summarize(values: readonly number[]): Summary {
  if (!values.every(Number.isFinite)) throw new Error('A measure is not a number.')
  return { median: median(values), min: Math.min(...values), max: Math.max(...values), count: values.length }
}

/** A number as a person reads it: large and whole numbers without decimals, others with about three significant digits. */
export function readable(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en-GB')
  return value.toFixed(size >= 10 ? 1 : 2)
}
