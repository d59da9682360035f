// What the current limit usually brings, and whether a rate differs from that. Pure. Rates are in bytes per second.

export interface UsualRate {
  /** `canSeeQueues`: a rate well below the best one then counts as fallen too, because the shortfall can be explained. */
  compare(rate: number, canSeeQueues: boolean): 'fallen' | 'risen' | 'usual'
  /** Takes in a rate between trials. */
  follow(rate: number): void
  /** The line has changed: this rate is usual now. `isBestKept`: the best rate is still to be reached again. */
  renew(rate: number, isBestKept: boolean): void
  /**
   * A trial has ended with this rate. `usual`: what the limit is known to bring, or undefined. `isBestKept`: as in `renew`.
   */
  afterTrial(rate: number, usual: number | undefined, isBestKept: boolean): void
  /** The best rate since a trial last brought nothing. */
  best(): number
}

/** A rate this far from the usual one means that the line has changed, as factors. */
const FALLEN = 0.88
const RISEN = 1.2
/**
 * The same, compared with the most that a limit brought: its connections have lost packets since. It asks for little, because
 * it only counts where there is no queue: there more connections take from nobody, and waiting for a deeper fall leaves the
 * line half empty.
 */
const BELOW_BEST = 0.93
/** How fast the usual rate follows the current one. */
const FOLLOW = 0.1

export function createUsualRate(): UsualRate {
  let usual: number | undefined
  let best = 0

  return {
    compare(rate, canSeeQueues) {
      const expected = usual ?? rate
      if (rate < Math.max(expected * FALLEN, canSeeQueues ? best * BELOW_BEST : 0)) return 'fallen'
      return rate > expected * RISEN ? 'risen' : 'usual'
    },
    follow(rate) {
      best = Math.max(best, rate)
      usual = (usual ?? rate) + (rate - (usual ?? rate)) * FOLLOW
    },
    renew(rate, isBestKept) {
      usual = rate
      if (!isBestKept) best = rate
    },
    afterTrial(rate, nextUsual, isBestKept) {
      usual = nextUsual
      best = isBestKept ? Math.max(best, rate) : rate
    },
    best: () => best,
  }
}
