// A model of a line and of TCP on it: connections begin slowly, grow as CUBIC does, are cut when a packet is lost, and share
// one queue that drops what does not fit. Time and chance are its own: a seed replays a run.
//
// What it is true to: the sources of RFC 9438 (CUBIC, with its friendly region), HyStart's early end of the slow start, the
// initial window of RFC 6928, and send buffers that take more than was sent. It is fluid: packets are counted, not
// simulated. So it tells what a controller does on such lines, not how many percent a real one would carry.

export interface LineSetting {
  readonly roundTripMs: number
  readonly megabitsPerSecond: number
  /** Packets lost by chance, percent. */
  readonly lossPercent: number
  /** How long a full queue is, ms. */
  readonly queueMs: number
}

export const STEP_MS = 10
const PACKET_BYTES = 1_448
const INITIAL_PACKETS = 10
/** CUBIC's own constants. */
const CUT = 0.7
const STEEPNESS = 0.4
const LEAST_BUFFER_BYTES = 128 * 1024
const SLOWEST_RETRANSMISSION_MS = 200

export interface Connection {
  /** What arrived at the far end, bytes. */
  readonly deliveredBytes: number
  /** What the system has taken: what arrived, and what waits in its buffer. */
  readonly handedBytes: number
  /** Nothing is left of what it was given. */
  readonly isIdle: boolean
  /** Gives it more to send. */
  send(bytes: number): void
}

export interface SimulatedLine {
  readonly nowMs: number
  /** A bare round trip at this moment, ms. */
  roundTripMs(): number
  set(setting: LineSetting): void
  /** Makes a connection; it sends after one round trip. */
  connect(): Connection
  /** Lets ten milliseconds pass. */
  step(): void
}

interface Flow extends Connection {
  deliveredBytes: number
  handedBytes: number
  givenBytes: number
  window: number
  threshold: number
  mostWindow: number
  cutAtMs: number
  /** It sends from then on. */
  fromMs: number
}

export function createSimulatedLine(first: LineSetting, chance: () => number): SimulatedLine {
  let setting = first
  let nowMs = 0
  let queuedPackets = 0
  let droppedShare = 0
  const flows: Flow[] = []
  const packetsPerMs = (): number => (setting.megabitsPerSecond * 1_000) / 8 / (PACKET_BYTES + 52)
  const queueDelayMs = (): number => queuedPackets / packetsPerMs()

  const cut = (flow: Flow, roundTripMs: number): void => {
    if (nowMs - flow.cutAtMs < roundTripMs) return
    flow.cutAtMs = nowMs
    // A window too small to tell of the loss by what comes after it waits for a timer.
    if (flow.window < 4) flow.fromMs = nowMs + Math.max(SLOWEST_RETRANSMISSION_MS, 2 * roundTripMs)
    flow.mostWindow = flow.window < flow.mostWindow ? (flow.window * (1 + CUT)) / 2 : flow.window
    flow.window = Math.max(2, flow.window * CUT)
    flow.threshold = flow.window
  }
  const grow = (flow: Flow, packets: number, roundTripMs: number): void => {
    if (flow.window < flow.threshold) {
      flow.window += packets
      const early = Math.min(16, Math.max(4, setting.roundTripMs / 8))
      if (flow.window >= 16 && queueDelayMs() > early) {
        flow.threshold = flow.window
        flow.mostWindow = flow.window
        flow.cutAtMs = nowMs
      }
      return
    }
    const seconds = (nowMs - flow.cutAtMs) / 1_000
    const reach = Math.cbrt((flow.mostWindow * (1 - CUT)) / STEEPNESS)
    const cubic = STEEPNESS * (seconds + roundTripMs / 1_000 - reach) ** 3 + flow.mostWindow
    const friendly = flow.threshold + (0.53 * seconds * 1_000) / roundTripMs
    const target = Math.max(cubic, friendly)
    if (target > flow.window) flow.window += Math.min(0.5, (target - flow.window) / flow.window) * packets
  }
  const fillBuffer = (flow: Flow): void => {
    const bufferBytes = Math.max(LEAST_BUFFER_BYTES, 2 * flow.window * PACKET_BYTES)
    flow.handedBytes = Math.max(flow.handedBytes, Math.min(flow.givenBytes, flow.deliveredBytes + bufferBytes))
  }

  return {
    get nowMs() {
      return nowMs
    },
    roundTripMs() {
      // A first packet that is lost is sent again after a second. A full queue drops it as often as any other.
      const isLost = chance() < (setting.lossPercent / 100) * 2 + droppedShare
      return setting.roundTripMs + queueDelayMs() + (isLost ? 1_000 : 0)
    },
    set(next) {
      setting = next
    },
    connect() {
      const flow: Flow = {
        ...{ deliveredBytes: 0, handedBytes: 0, givenBytes: 0, window: INITIAL_PACKETS, threshold: Infinity },
        ...{ mostWindow: 0, cutAtMs: -Infinity, fromMs: nowMs + setting.roundTripMs + queueDelayMs() },
        get isIdle() {
          return flow.deliveredBytes >= flow.givenBytes
        },
        send(bytes) {
          flow.givenBytes += bytes
        },
      }
      flows.push(flow)
      return flow
    },
    step() {
      nowMs += STEP_MS
      const roundTripMs = setting.roundTripMs + queueDelayMs()
      const active = flows.filter((flow) => !flow.isIdle && flow.fromMs <= nowMs)
      const wanted = active.map((flow) =>
        Math.min((flow.window * STEP_MS) / roundTripMs, (flow.givenBytes - flow.deliveredBytes) / PACKET_BYTES),
      )
      const sum = wanted.reduce((total, packets) => total + packets, 0)
      queuedPackets = Math.max(0, queuedPackets + sum - packetsPerMs() * STEP_MS)
      const overflow = Math.max(0, queuedPackets - packetsPerMs() * setting.queueMs)
      queuedPackets -= overflow
      droppedShare = sum === 0 ? 0 : overflow / sum
      const lost = droppedShare + (1 - droppedShare) * (setting.lossPercent / 100)
      active.forEach((flow, index) => {
        const packets = wanted[index] ?? 0
        flow.deliveredBytes += packets * (1 - lost) * PACKET_BYTES
        if (flow.givenBytes - flow.deliveredBytes < 1) flow.deliveredBytes = flow.givenBytes
        if (chance() < 1 - (1 - lost) ** packets) cut(flow, roundTripMs)
        else grow(flow, packets, roundTripMs)
      })
      for (const flow of flows) fillBuffer(flow)
    },
  }
}
