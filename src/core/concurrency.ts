// How many parts may be in flight. Pure: it learns from samples and answers with a number. No fixed number is right: a long
// lossy line wants sixty-four connections, a short clean one two, and any more would only delay everyone else's traffic.

import { invalid } from './errors.ts'
import { createAdaptiveConcurrency } from './line/adaptive-concurrency.ts'
import type { Concurrency } from './line/concurrency-sample.ts'
import type { Hearing } from './line/hearing.ts'

export type ConcurrencyOptions =
  | {
      /** Default 4. */
      readonly start?: number
      /** Default 64. */
      readonly max?: number
      /**
       * Parts to begin with at a host so near that no line lies between. More is better where parts are prepared many at a
       * time. Default 4.
       */
      readonly near?: number
    }
  | { readonly fixed: number }

/**
 * Makes a controller: `fixed` keeps one number, the other form finds its own, `max` at most. Without `hearing` it goes by rates
 * alone. Throws ERR_UPLOAD_INVALID_ARGUMENT unless 1 ≤ start ≤ max, all whole.
 */
export function createConcurrency(
  options: ConcurrencyOptions = {},
  hearing?: Pick<Hearing, 'room' | 'earlyGrowth'>,
): Concurrency {
  if ('fixed' in options) {
    check([1, options.fixed])
    return { limit: () => options.fixed, onSample: () => undefined, isCurious: () => false }
  }
  const max = options.max ?? 64
  const start = options.start ?? Math.min(4, max)
  check([1, start, max])
  return createAdaptiveConcurrency({ start, max, near: Math.min(options.near ?? 4, max) }, hearing)
}

function check(ascending: readonly number[]): void {
  if (ascending.some((value, index) => !Number.isInteger(value) || value < (ascending[index - 1] ?? 1))) {
    invalid(`Concurrency needs whole numbers, 1 ≤ start ≤ max, not ${ascending.slice(1).join(', ')}.`)
  }
}
