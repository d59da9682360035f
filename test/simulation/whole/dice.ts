// The dice of one simulated session. Everything random in it comes from one seed.

import type { Random } from '../../../src/core/ports.ts'
import { seededRandom } from '../../helpers/seeded-random.ts'

export interface Dice {
  readonly random: Random
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number
  chance(share: number): boolean
  pick<T>(items: readonly T[]): T
  /** Independent dice: throwing these does not change the results of the others. */
  apart(): Dice
}

export function createDice(seed: number): Dice {
  const random = seededRandom(seed)
  return {
    random,
    between: (low, high) => low + Math.floor(random() * (high - low + 1)),
    chance: (share) => random() < share,
    pick: (items) => items[Math.floor(random() * items.length)]!,
    apart: () => createDice(Math.floor(random() * 2 ** 32)),
  }
}
