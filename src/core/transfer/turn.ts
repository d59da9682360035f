// What the schedule gives out.

import type { Unit } from '../ports.ts'

/** A unit to send, and the history of its attempts. */
export interface Turn {
  readonly unit: Unit
  /** The number of this attempt, from 1. */
  readonly attempt: number
  /** How many of its tries are used up. An attempt may use up none, or only a fraction of one. */
  readonly usedTries: number
  /** The previous attempt failed on the network, so its connection is not trusted again. */
  readonly isFreshConnection: boolean
  /** The furthest that the storage ever accepted the part, as a byte position; absent: where the unit starts. */
  readonly furthestEnd?: number
  /** It has one of the places that are reserved for the earliest file. */
  readonly isFirstComer: boolean
  /** It waits for its source: no probe of the host is a reason to go sooner. */
  readonly isSourceBusy?: boolean
  /** How often its file had been restarted when this turn was given out. */
  readonly epoch: number
}

/** A turn that may go again, but not before this time. */
export interface WaitingTurn {
  readonly turn: Turn
  readonly notBeforeMs: number
}
