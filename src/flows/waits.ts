// Whom an upload waits for, as shown to its host: the storage, or the service while one of its calls has no answer. Many waits may
// be open at once; one of them is shown.

import type { Clock, HostWait, Outage } from '../core/ports.ts'
import type { TransferEvent } from '../core/transfer/transfer-job.ts'

/** A call waits for the service unless it says that it waits for the storage. */
export function asOutage(wait: Omit<Outage, 'who'> & Pick<HostWait, 'who'>): Outage {
  return Object.assign({ who: 'service' } as const, wait)
}

/**
 * Takes the events of a transfer. `show` is called at each change of what is shown. `movesForMs`: for how long bytes sent a moment
 * ago still count as moving, ms.
 */
export function createWaits(
  clock: Clock,
  movesForMs: () => number,
  show: (outage: Outage | undefined) => void,
): (event: TransferEvent) => void {
  /** The waits by call; the storage's is under undefined. */
  const waits = new Map<object | undefined, Outage>()
  let lastCall: object | undefined
  let shown: Outage | undefined
  let stillness: unknown
  /** A part arrived during a wait, so there is a network, whatever the platform says about the way to the service. */
  let hasArrived = false

  const look = (): void => {
    clock.clearTimeout(stillness)
    const ofStorage = waits.get(undefined)
    // Only the first waiting call counts, so that many calls waiting together are reported like one.
    const ofCall = [...waits].find(([call]) => call)?.[1]
    let outage = (lastCall ? ofCall : ofStorage) ?? ofStorage ?? ofCall
    // While bytes move the upload is under way, even if some calls wait for the service. Nothing marks the last byte, so a timer
    // looks again. Without a network no bytes follow, so that outage is shown at once.
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
      // eslint-disable-next-line @typescript-eslint/no-unused-vars -- Hosts are not told these two.
      const { type, call, ...outage } = event
      hasArrived &&= waits.size > 0
      waits.set(call, asOutage(outage))
      lastCall = call
      // Nearly all events come while nobody is waited for.
    } else if (waits.size === 0) return
    if (event.type === 'received') hasArrived = true
    if (event.type === 'reachable') waits.delete(event.call)
    if (event.type === 'tried') {
      const outage = waits.get(event.call)
      // Many tries of one call are reported like one.
      if (outage?.untilMs !== undefined) waits.set(event.call, { ...outage, untilMs: undefined })
    }
    look()
  }
}
