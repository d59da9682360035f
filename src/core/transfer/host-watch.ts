// Watches one storage host by how attempts end. It says how many attempts may start now: its congestion window decides while
// the host is in service, a circuit otherwise. It reports when the host goes out of reach or out of service, until when it is
// left alone, and when it is back.

import type { AttemptStart } from './attempts.ts'
import type { Attempt, AttemptResult } from '../attempt/attempt.ts'
import { createCircuit } from './circuit.ts'
import { createCongestionWindow } from './congestion-window.ts'
import { hostOf } from '../address/address.ts'
import { UploadError, type HttpStatusError, type TransportError } from '../errors.ts'
import type { Clock, Random, Verdict } from '../ports.ts'
import { isAwayStatus, MAX_OWN_PAUSE_MS } from '../retry.ts'
import type { TransferEvent } from './transfer-job.ts'

export interface HostWatchOptions {
  readonly clock: Clock
  readonly random: Random
  readonly giveUpAfterMs: number
  /** The attempts under way; read when it is asked. One whose source hangs holds up no other. */
  readonly running: readonly Pick<Attempt, 'isHung'>[]
  /** Called when the host goes out of reach, when it is tried again, and when it is back. */
  report(event: TransferEvent): void
  /**
   * Called when the host is given up. `isThere`: it still answered, but took nothing. Returns whether there is still something
   * to ask it for.
   */
  onGiveUp(error: UploadError, isThere: boolean): boolean
}

export interface HostWatch {
  /** Records how an attempt ended. Returns how much of a try of its part that uses up: nothing during an outage. */
  ended(start: Pick<AttemptStart, 'turn' | 'address' | 'beganAtMs'>, result: AttemptResult): number
  isInReach(nowMs: number): boolean
  /** Records that an attempt begins. */
  tried(): void
  /** The network may be back: if the host is out of reach, it is probed at once. */
  probeNow(): void
  /** How many more attempts may start now. */
  openSlots(nowMs: number): number
  /** When the next attempt may start, monotonic ms; undefined when one may start now, or when others must end first. */
  dueMs(nowMs: number): number | undefined
  /** When the next probe is due, monotonic ms; undefined while the host is in reach or is being probed. */
  probeAtMs(nowMs: number): number | undefined
}

/**
 * How much of a try is used up by an answer that says no more than: not now. With 8 tries, a part comes to its end after 57
 * such answers, whose waits take about 13 minutes on average. So a storage that throttles some requests for ten minutes costs
 * no file, and a part that alone is never taken still ends. The same goes for a source that cannot be read now.
 */
const AWAY_TRY = 1 / 8
/** Weight of a missing answer in the congestion window, as a share of a refusal: many lines break connections by themselves. */
const MISSING_WEIGHT = 0.4

export function createHostWatch(options: HostWatchOptions): HostWatch {
  const { clock, running, report } = options
  const circuit = createCircuit(options)
  const window = createCongestionWindow()
  /** What was reported last: the end of a pause, or a new try. Undefined while the host is in reach. */
  let told: number | 'tried' | undefined
  /** Missing answers since the host went out of reach. The next answer tells whether it really was. */
  let unjudged = 0

  const announce = (cause: Partial<TransportError & HttpStatusError>, address: string, nowMs: number): void => {
    const state = circuit.state(nowMs)
    const host = hostOf(address)
    if (state.kind === 'givenUp') {
      const { phase, message: last } = cause
      const what = phase === 'connect' ? 'could not be reached' : phase ? 'gave no answer' : 'took nothing'
      const advice = phase ? ' Check the network, then resume the upload.' : ''
      const message = `The storage ${host} ${what} for ${Math.round((nowMs - state.sinceMs) / 1_000)} s.${advice} The last failure: ${last}`
      const error = new UploadError('ERR_UPLOAD_HOST_UNREACHABLE', message, { cause })
      if (options.onGiveUp(error, phase === undefined)) answered(nowMs)
    } else if (state.kind === 'open' && state.untilMs !== told) {
      told = state.untilMs
      const wallOffset = clock.wallNow() - nowMs
      const { status } = cause
      report({
        type: 'unreachable',
        who: 'storage',
        host,
        sinceMs: state.sinceMs + wallOffset,
        untilMs: state.untilMs + wallOffset,
        giveUpAtMs: state.giveUpAtMs + wallOffset,
        ...(status && { status, reason: `it answers ${status}` }),
      })
    }
  }

  const isInReach = (nowMs: number): boolean => circuit.state(nowMs).kind === 'closed'
  const inFlight = (): number => running.filter(({ isHung }) => !isHung).length
  const probeAtMs = (nowMs: number): number | undefined => {
    const state = circuit.state(nowMs)
    return state.kind === 'open' ? state.untilMs : undefined
  }
  const openSlots = (nowMs: number): number => {
    const { kind } = circuit.state(nowMs)
    const others = inFlight()
    // Those that no longer hang may be too many. They take nothing away from other hosts.
    if (kind === 'closed') return Math.max(0, window.room(others, nowMs))
    return kind === 'probing' && others === 0 ? 1 : 0
  }

  const answered = (nowMs: number): void => {
    circuit.onSuccess(nowMs)
    // A pause that the host asked for is not ended by answers to requests from before it.
    if (told === undefined || !isInReach(nowMs)) return
    told = undefined
    report({ type: 'reachable' })
  }

  return {
    ended({ beganAtMs, turn, address: { url } }, result) {
      let tries = 1
      const nowMs = clock.monotonicNow()
      const others = inFlight()
      const nextProbeMs = probeAtMs(nowMs)
      if (result.kind === 'missing' && !result.error.isUnreadable) {
        circuit.onFailure(nowMs)
        announce(result.error, url, nowMs)
        if (result.error.phase === 'connect') tries = 0
      } else if (result.kind === 'refused' && isNotNow(result.verdict)) {
        circuit.onRefusal(nowMs, result.verdict.retryAfterMs, others)
        announce(result.verdict.error, url, nowMs)
        tries = AWAY_TRY
      } else if (result.kind === 'received' || result.kind === 'refused' || result.kind === 'missing') answered(nowMs)
      else return AWAY_TRY
      const isLate = result.kind === 'missing' && isAnswerLate(result.error)
      // A part that is refused again and again may itself be the cause.
      const weight = (result.kind === 'missing' && !isLate ? MISSING_WEIGHT : 1) / turn.attempt
      // During an outage one part goes at a time, so its answer says nothing about how many the host takes. What waits for its
      // answer beside others was sent before.
      if (!isInReach(nowMs)) {
        if (isLate && others) window.refused(beganAtMs, others, nowMs, weight)
        else if (result.kind === 'missing') unjudged += 1
        return 0
      }
      // The answer was to a request from before, not to a probe. So there was no outage, and the failures meanwhile mean that
      // too many parts were in flight.
      if (nextProbeMs) for (; unjudged > 0; unjudged -= 1) window.refused(beganAtMs, others, nowMs, MISSING_WEIGHT)
      unjudged = 0
      const isTaken = result.kind === 'received' || (result.kind === 'refused' && result.verdict.kind !== 'retry')
      if (isTaken) window.taken(beganAtMs, others, nowMs)
      else window.refused(beganAtMs, others, nowMs, weight)
      return tries
    },
    isInReach,
    tried() {
      if (told === undefined || told === 'tried') return
      told = 'tried'
      report({ type: 'tried' })
    },
    probeNow: () => circuit.probeNow(clock.monotonicNow()),
    openSlots,
    dueMs: (nowMs) => probeAtMs(nowMs) ?? window.dueMs(nowMs),
    probeAtMs,
  }
}

/**
 * Whether a whole part was sent, and its answer awaited in vain. A gateway that takes whole parts, and passes them on over a slower
 * line, answers none in time if it has too many. Then it looks like a host that is away, and answers the next part alone.
 */
function isAnswerLate({ code, phase }: TransportError): boolean {
  return code === 'ERR_UPLOAD_TIMEOUT' && phase === 'answer'
}

type Retry = Extract<Verdict, { kind: 'retry' }>

/**
 * Whether the storage takes nothing now, whatever it is sent: it throttles, restarts, or asks for a longer pause than a part
 * waits by itself.
 */
function isNotNow(verdict: Verdict): verdict is Retry {
  if (verdict.kind !== 'retry') return false
  const { error, isThrottle, retryAfterMs = 0 } = verdict
  return isThrottle || isAwayStatus((error as Partial<HttpStatusError>).status) || retryAfterMs > MAX_OWN_PAUSE_MS
}
