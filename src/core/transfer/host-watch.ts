// Watches one storage host through a circuit: says how many attempts may start now, and tells when the host went out
// of reach, until when it is let alone, and when it is back. An unreachable host uses up no attempts.

import { createCircuit } from './circuit.ts'
import { UploadError, type TransportError } from '../errors.ts'
import type { Clock, Random } from '../ports.ts'

export interface HostWatchOptions {
  readonly clock: Clock
  readonly random: Random
  readonly giveUpAfterMs: number
  /** Wall times, ms since 1970. Called again when a probe failed, with the time of the next one. */
  onUnreachable(sinceMs: number, untilMs: number): void
  onReachable(): void
  onGiveUp(error: UploadError): void
}

export interface HostWatch {
  /** An answer came, whatever it was. */
  answered(): void
  /** No answer came. Returns whether the attempt counts: attempts do not while the host is out of reach. */
  failed(error: TransportError): boolean
  /** The host asked for a pause longer than a part waits by itself. Returns when it is asked again, monotonic ms. */
  holdFor(delayMs: number): number
  /** The network may be back: probes at once, where the host is out of reach. */
  probeNow(): void
  /** How many more attempts may start, given how many run. */
  openSlots(inFlight: number, nowMs: number): number
  /** When the next probe is due, monotonic ms; undefined while the host is in reach. */
  dueMs(nowMs: number): number | undefined
}

export function createHostWatch(options: HostWatchOptions): HostWatch {
  const { clock } = options
  const circuit = createCircuit({ giveUpAfterMs: options.giveUpAfterMs, random: options.random })
  /** Until when it was told to be out of reach; undefined while it is in reach. */
  let toldUntilMs: number | undefined
  const now = (): number => clock.monotonicNow()

  const announce = (cause?: TransportError): void => {
    const state = circuit.state(now())
    if (state.kind === 'givenUp') {
      const waited = String(Math.round((now() - state.sinceMs) / 1_000))
      options.onGiveUp(
        new UploadError(
          'ERR_UPLOAD_HOST_UNREACHABLE',
          `The storage ${cause?.phase === 'connect' ? 'could not be reached' : 'gave no answer'} for ${waited} s. Check the network, then resume the upload.` +
            ` The last failure: ${cause?.message}`,
          { cause },
        ),
      )
    } else if (state.kind === 'open' && state.untilMs !== toldUntilMs) {
      toldUntilMs = state.untilMs
      const wallOffset = clock.wallNow() - now()
      options.onUnreachable(state.sinceMs + wallOffset, state.untilMs + wallOffset)
    }
  }

  return {
    answered() {
      circuit.onSuccess(now())
      // A pause that the host asked for is not ended by answers to what was under way before it.
      if (toldUntilMs === undefined || circuit.state(now()).kind !== 'closed') return
      toldUntilMs = undefined
      options.onReachable()
    },
    failed(error) {
      circuit.onFailure(now())
      announce(error)
      return error.phase !== 'connect' && circuit.state(now()).kind === 'closed'
    },
    holdFor(delayMs) {
      const untilMs = circuit.holdUntil(now() + delayMs)
      announce()
      return untilMs
    },
    probeNow() {
      circuit.probeNow(now())
    },
    openSlots(inFlight, nowMs) {
      const { kind } = circuit.state(nowMs)
      if (kind === 'closed') return Infinity
      return kind === 'probing' && inFlight === 0 ? 1 : 0
    },
    dueMs(nowMs) {
      const state = circuit.state(nowMs)
      return state.kind === 'open' ? state.untilMs : undefined
    },
  }
}
