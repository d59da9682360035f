// What the present limit usually brings, and whether a rate is another: pure. Rates in bytes a second.

export interface UsualRate {
  /** `canSeeQueues`: then a rate below the best one counts as well, because what is short of it can be explained. */
  compare(rate: number, canSeeQueues: boolean): 'fallen' | 'risen' | 'usual'
  /** A rate between trials. */
  follow(rate: number): void
  /** The line has changed: this is usual now. `isBestKept`: what it carried once is still to be reached. */
  renew(rate: number, isBestKept: boolean): void
  /** A trial has ended. `usual`: what the limit is known to bring; undefined when it is not. `best`: see `compare`. */
  afterTrial(usual: number | undefined, best: number): void
  /** The best rate since a trial brought nothing. */
  best(): number
}

/** A rate this far from the usual one is another line. */
const FALLEN = 0.88
const RISEN = 1.2
/**
 * The same, of the most that a limit brought: connections have lost packets since. It asks for little, because it is only heard
 * where there is no queue: then more connections take from nobody, and waiting for a deeper fall leaves the line half empty.
 */
const BELOW_BEST = 0.93
/** How fast the usual rate follows the present one. */
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
    afterTrial(nextUsual, nextBest) {
      usual = nextUsual
      best = nextBest
    },
    best: () => best,
  }
}
