// What the tests of transfers read out of what was told and asked.

import type { TransferEvent } from '../../../src/core/transfer/transfer-job.ts'
import type { Fault } from '../../simulation/object-store.ts'
import { type WorldOptions } from '../../simulation/world.ts'

export const signal = (): AbortSignal => new AbortController().signal

/** The first requests get these faults, one each; later ones none. */
export function nth(faults: readonly (Fault | undefined)[]): NonNullable<WorldOptions['fault']> {
  let index = 0
  return () => faults[index++]
}

export function delays(events: readonly TransferEvent[]): number[] {
  return events.flatMap((event) => (event.type === 'retry' ? [event.delayMs] : []))
}
