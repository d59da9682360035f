// Deals out the night's faults, one request at a time, until it is calmed. Bad luck is bounded: no part meets more
// faults than a correct client may be expected to bear.

import type { Dice } from './dice.ts'
import type { Target } from './far-end.ts'
import type { Night, Outage, ServiceFault, StorageFault } from './night.ts'

export interface Trouble {
  ofPut(target: Target): StorageFault | undefined
  ofCall(host: Outage['host']): ServiceFault | undefined
  /** Whether an attempt that was given up after it was handed over arrives nevertheless. */
  isLate(): boolean
  lateMs(): number
  /** How long an attempt that was given up takes to end, ms. */
  settleMs(): number
  calm(): void
  isCalm(): boolean
  count(): number
}

/** The most faults of one part. */
const MOST_FOR_PART = 5

export function createTrouble(night: Night, dice: Dice, nowMs: () => number): Trouble {
  const luck = new Map<string, number>()
  let isCalm = false
  let count = 0

  /** The fault that each request meets during an outage. */
  const outageOf = (host: 'service' | 'storage'): Outage['fault'] | undefined =>
    isCalm
      ? undefined
      : night.outages.find((one) => one.host === host && nowMs() >= one.fromMs && nowMs() < one.toMs)?.fault
  return {
    ofPut({ fileName, partNumber }) {
      const outage = outageOf('storage')
      if (outage !== undefined) return outage
      if (isCalm || night.storageFaultShare === 0 || !dice.chance(night.storageFaultShare)) return undefined
      const part = `${fileName}/${String(partNumber)}`
      const had = luck.get(part) ?? 0
      if (had >= MOST_FOR_PART) return undefined
      luck.set(part, had + 1)
      count += 1
      return dice.pick(night.storageFaults)
    },
    ofCall(host) {
      const outage = outageOf(host)
      if (outage !== undefined) return outage
      if (isCalm || night.serviceFaultShare === 0 || !dice.chance(night.serviceFaultShare)) return undefined
      count += 1
      return dice.pick(night.serviceFaults)
    },
    isLate: () => dice.chance(night.lateShare),
    lateMs: () => dice.between(1, night.lateMs),
    settleMs: () => (night.settleMs === 0 ? 0 : dice.between(0, night.settleMs)),
    calm() {
      isCalm = true
    },
    isCalm: () => isCalm,
    count: () => count,
  }
}
