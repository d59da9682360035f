// Whom an upload waits for, as its host is shown it: the storage, or the service while one of its calls has no answer. Many may wait
// at once, and one is shown.

import type { Clock, HostWait } from '../core/ports.ts'
import type { TransferEvent } from '../core/transfer/transfer-job.ts'

/**
 * Somebody is out of reach since then, or answers only that it cannot. Wall times, ms since 1970. `operation`: the call that waits;
 * absent where parts wait for the storage, whose `reason` is absent where it gives no answer.
 */
export type Outage = Partial<Pick<HostWait, 'operation' | 'reason' | 'status' | 'isDoubtful' | 'isOffline'>> & {
  readonly who: 'service' | 'storage'
  /** `host:port`. */
  readonly host: string
  readonly sinceMs: number
  /** When it is tried again. Undefined while it is: that may take as long as `callTimeoutMs`, or as a part. */
  readonly untilMs: number | undefined
  /** When it is given up; undefined where answers are counted instead, such as 500. */
  readonly giveUpAtMs: number | undefined
}

/** A call waits for the service unless it says that it is the storage. */
export function asOutage(wait: Omit<Outage, 'who'> & Pick<HostWait, 'who'>): Outage {
  return Object.assign({ who: 'service' } as const, wait)
}

/**
 * Takes the events of a transfer. `show` hears of each change of what is shown. `movesForMs`: for how long bytes that moved still
 * count as moving, ms.
 */
export function createWaits(options: {
  readonly clock: Clock
  readonly movesForMs: () => number
  readonly show: (outage: Outage | undefined) => void
}): (event: TransferEvent) => void {
  const { clock, movesForMs, show } = options
  /** By the call that waits; under undefined that for the storage. */
  const waits = new Map<object | undefined, Outage>()
  let lastCall: object | undefined
  let shown: Outage | undefined
  let stillness: unknown
  /** A part arrived while somebody is waited for: there is a network, whatever the platform says of the way to the service. */
  let hasArrived = false

  const look = (): void => {
    clock.clearTimeout(stillness)
    const ofStorage = waits.get(undefined)
    // Of calls the first alone, so that many that wait together are no more news than one.
    const ofCall = [...waits].find(([call]) => call)?.[1]
    let outage = (lastCall ? ofCall : ofStorage) ?? ofStorage ?? ofCall
    // While bytes move, the upload is no less on its way because the service keeps some of its calls waiting. Of the last
    // byte nothing tells but that none follows; without a network none does.
    const forMs = movesForMs()
    if (outage && (hasArrived || !outage.isOffline) && !ofStorage && forMs > 0) {
      outage = undefined
      stillness = clock.setTimeout(look, forMs)
    }
    if (outage === shown) return
    shown = outage
    show(outage)
  }
  return (event) => {
    if (event.type === 'unreachable') {
      // eslint-disable-next-line @typescript-eslint/no-unused-vars -- Left out of what hosts are told.
      const { type, call, ...outage } = event
      hasArrived &&= waits.size > 0
      waits.set(call, asOutage(outage))
      lastCall = call
      // Nobody is waited for: so it is with nearly all events.
    } else if (waits.size === 0) return
    if (event.type === 'received') hasArrived = true
    if (event.type === 'reachable') waits.delete(event.call)
    if (event.type === 'tried') {
      const outage = waits.get(event.call)
      // Many tries of one call are no more news than one.
      if (outage?.untilMs !== undefined) waits.set(event.call, { ...outage, untilMs: undefined })
    }
    look()
  }
}
