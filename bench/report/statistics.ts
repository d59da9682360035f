// What several runs say together: the middle and how far they lie apart. Never a best run, never a mean.

/** Median and spread of one measure over the runs of one contestant. */
export interface Summary {
  readonly median: number
  readonly min: number
  readonly max: number
  /** Runs that had the measure. */
  readonly count: number
}

/** The middle value, or the mean of the two in the middle. Throws for an empty list: nothing was measured. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  if (low === undefined || high === undefined) throw new Error('A median needs at least one value.')
  return (low + high) / 2
}

/** Throws for an empty list and for what is no number: a hole in the measurements must not become a zero. */
export function summarize(values: readonly number[]): Summary {
  if (!values.every(Number.isFinite)) throw new Error('A measure is not a number.')
  return { median: median(values), min: Math.min(...values), max: Math.max(...values), count: values.length }
}

/** A number as a person reads it: counts as they are, else three digits that count. */
export function readable(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en-GB')
  return value.toFixed(size >= 10 ? 1 : 2)
}
