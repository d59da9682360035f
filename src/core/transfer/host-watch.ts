// Watches one storage host through a circuit: says how many attempts may start now, and tells when the host went out of reach or
// out of service, until when it is let alone, and when it is back.

import { createCircuit } from './circuit.ts'
import { hostOf } from '../address/address.ts'
import { UploadError, type HttpStatusError, type TransportError } from '../errors.ts'
import type { Clock, Random } from '../ports.ts'
import type { TransferEvent } from './transfer-job.ts'

export interface HostWatchOptions {
  readonly clock: Clock
  readonly random: Random
  readonly giveUpAfterMs: number
  /** Hears when the host goes out of reach, of each try, and when it is back. */
  report(event: TransferEvent): void
  /** `isThere`: it answered to the last, and took nothing. */
  onGiveUp(error: UploadError, isThere: boolean): void
}

export interface HostWatch {
  /** An answer came that says more than: not now. */
  answered(): void
  /** No answer came. */
  failed(error: TransportError, address: string): void
  /** An answer came that says no more than: not now, and maybe when. */
  refused(error: UploadError, address: string, retryAfterMs?: number): void
  isInReach(): boolean
  /** An attempt begins. */
  tried(): void
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
  /** Until when it was told to be out of reach; undefined while it is in reach, NaN once it was told that it is asked again. */
  let toldUntilMs: number | undefined
  const now = (): number => clock.monotonicNow()

  const announce = (cause: Partial<TransportError & HttpStatusError>, address: string): void => {
    const state = circuit.state(now())
    if (state.kind === 'givenUp') {
      const { phase, message: last } = cause
      const what =
        phase === undefined ? 'took nothing' : phase === 'connect' ? 'could not be reached' : 'gave no answer'
      const advice = phase === undefined ? '' : ' Check the network, then resume the upload.'
      const message = `The storage ${what} for ${Math.round((now() - state.sinceMs) / 1_000)} s.${advice} The last failure: ${last}`
      options.onGiveUp(new UploadError('ERR_UPLOAD_HOST_UNREACHABLE', message, { cause }), phase === undefined)
    } else if (state.kind === 'open' && state.untilMs !== toldUntilMs) {
      toldUntilMs = state.untilMs
      const wallOffset = clock.wallNow() - now()
      const { status } = cause
      options.report({
        type: 'unreachable',
        who: 'storage',
        host: hostOf(address),
        sinceMs: state.sinceMs + wallOffset,
        untilMs: state.untilMs + wallOffset,
        giveUpAtMs: state.giveUpAtMs + wallOffset,
        ...(status && { status, reason: `it answers ${status}` }),
      })
    }
  }

  return {
    answered() {
      circuit.onSuccess(now())
      // A pause that the host asked for is not ended by answers to what was under way before it.
      if (toldUntilMs === undefined || circuit.state(now()).kind !== 'closed') return
      toldUntilMs = undefined
      options.report({ type: 'reachable' })
    },
    failed(error, address) {
      circuit.onFailure(now())
      announce(error, address)
    },
    refused(error, address, retryAfterMs) {
      circuit.onRefusal(now(), retryAfterMs)
      announce(error, address)
    },
    isInReach: () => circuit.state(now()).kind === 'closed',
    tried() {
      if (toldUntilMs === undefined || Number.isNaN(toldUntilMs)) return
      toldUntilMs = NaN
      options.report({ type: 'tried' })
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
