// Measures how long the line takes to answer, when somebody asks: one bare round trip at a time to the host that was sent to
// last. A full queue shows here long before a part's answer would tell.

import type { Clock, Transport } from '../ports.ts'
import { sendThrough } from '../send-through.ts'

export interface RoundTrips {
  /** The transport to send with, so that the host is known. */
  readonly transport: Transport
  /** Begins a round trip, unless one is under way, one has just ended, or the transport cannot. */
  measure(): void
  /** The newest round trip since this was last asked, ms; undefined when there was none. */
  takeNewest(): number | undefined
  /** Gives up the round trip under way. */
  stop(): void
}

/** What round trips are made with. */
export interface RoundTripPorts {
  readonly transport: Transport
  readonly clock: Clock
}

const PAUSE_MS = 100
/** A round trip that takes longer is given up and counts as one of this length. */
const TIMEOUT_MS = 2_000
const TOO_LONG = /* @__PURE__ */ new Error('The round trip took too long.')

export function createRoundTrips(ports: RoundTripPorts): RoundTrips {
  const { transport, clock } = ports
  let url: string | undefined
  let underWay: AbortController | undefined
  let newestMs: number | undefined
  let endedAtMs = -Infinity

  const measureOnce = async (to: string, controller: AbortController): Promise<void> => {
    newestMs = (await timeRoundTrip(ports, to, controller)) ?? newestMs
    underWay = undefined
    endedAtMs = clock.monotonicNow()
  }
  const measure = (): void => {
    if (transport.roundTrip === undefined || url === undefined || underWay !== undefined) return
    if (clock.monotonicNow() - endedAtMs < PAUSE_MS) return
    underWay = new AbortController()
    void measureOnce(url, underWay)
  }

  return {
    transport: sendThrough(transport, {
      send(request, forward) {
        const isFirst = url === undefined
        url = request.url
        // The first round trip, while the line is still empty, is what all others are compared with.
        if (isFirst) measure()
        return forward(request)
      },
    }),
    measure,
    takeNewest() {
      const taken = newestMs
      newestMs = undefined
      return taken
    },
    stop() {
      underWay?.abort()
    },
  }
}

/** Makes a round trip. Resolves with how long it took, ms; undefined when it failed or was aborted. Never rejects. */
export async function timeRoundTrip(
  { transport, clock }: RoundTripPorts,
  url: string,
  controller: AbortController,
): Promise<number | undefined> {
  const beganAtMs = clock.monotonicNow()
  const timer = clock.setTimeout(() => controller.abort(TOO_LONG), TIMEOUT_MS)
  try {
    await transport.roundTrip?.(url, controller.signal)
    return clock.monotonicNow() - beganAtMs
  } catch {
    // A host that refuses or cannot be reached is the attempts' business. Only a long wait says something here.
    return controller.signal.reason === TOO_LONG ? TIMEOUT_MS : undefined
  } finally {
    clock.clearTimeout(timer)
  }
}
