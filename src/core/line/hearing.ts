// How the line is listened to, where the platform has bare round trips, for engines that find their number of parts. Apart from
// the engine, so that a page, which has none, does not load it.

import { createEarlyGrowth, type EarlyGrowth } from './early-growth.ts'
import { createLineRoom, type LineRoom } from './line-room.ts'
import { createRoundTrips, type RoundTripPorts, type RoundTrips } from './round-trips.ts'

/** What detects a queue on the line. */
export interface Hearing {
  /** Measures round trips, with a transport that has them. */
  roundTrips(ports: RoundTripPorts): RoundTrips
  /** Judges by them whether the line has room for more parts. */
  room(): LineRoom
  /** Doubles the parts while the line is known to be empty; a near host gets `nearLimit`. */
  earlyGrowth(nearLimit: number): EarlyGrowth
}

/** Makes the port `hearing`. */
export function lineHearing(): Hearing {
  return { roundTrips: createRoundTrips, room: createLineRoom, earlyGrowth: createEarlyGrowth }
}
