// The waits of one attempt: to connect, to go on sending, to be answered. Only time that the far end is responsible for
// counts: while the body waits for the disk or for a rate token, the watch is held. One timer serves the whole attempt; it
// is not moved with every window, but looks at the newest deadline when it fires.

import { TransportError } from './errors.ts'
import type { Clock } from './ports.ts'

/** How long an attempt may wait, ms. */
export interface AttemptTimeouts {
  /** From the start until the first byte of the body is asked for. Default 15,000. */
  readonly connectMs: number
  /** Without a window being taken. Default 30,000. */
  readonly stallMs: number
  /** From the last byte handed over until the answer; what the kernel may still hold is added. Default 60,000. */
  readonly answerMs: number
}

export const DEFAULT_TIMEOUTS: AttemptTimeouts = Object.freeze({ connectMs: 15_000, stallMs: 30_000, answerMs: 60_000 })

/** A timer this late means that the machine was asleep: connections from before it cannot be trusted. */
const SUSPEND_LATE_MS = 5_000
/** What a kernel may still hold of a body that was handed over, bytes: Linux lets a send buffer grow to 4 MiB. */
const KERNEL_BUFFER_BYTES = 4 * 1024 * 1024

export interface Watchdog {
  /** The body moved: a window was taken. */
  moved(sentBytes: number): void
  /** The attempt waits for us (disk, rate) until `moved` is called. */
  hold(): void
  /** The whole body was handed over. */
  handedOver(sentBytes: number): void
  stop(): void
}

type Phase = 'connect' | 'send' | 'answer'

/** Calls `expire` once, with what went wrong, when a wait is over. */
export function createWatchdog(
  clock: Clock,
  timeouts: AttemptTimeouts,
  what: string,
  expire: (error: TransportError) => void,
): Watchdog {
  const beganAt = clock.monotonicNow()
  let phase: Phase = 'connect'
  let deadlineMs = beganAt + timeouts.connectMs
  let isHeld = false
  let timer: unknown
  let armedForMs = 0

  const arm = (atMs: number): void => {
    armedForMs = atMs
    timer = clock.setTimeout(look, Math.max(1, atMs - clock.monotonicNow()))
  }
  const look = (): void => {
    const now = clock.monotonicNow()
    if (now - armedForMs > SUSPEND_LATE_MS) {
      expire(
        failure(phase, `${what} was interrupted: this machine was suspended or busy for ${seconds(now - armedForMs)}.`),
      )
    } else if (isHeld) arm(now + timeouts.stallMs)
    else if (now < deadlineMs) arm(deadlineMs)
    else expire(failure(phase, `${what} got ${WAITED_FOR[phase]} for ${seconds(waitOf(phase))}.`))
  }
  const waitOf = (of: Phase): number =>
    of === 'connect' ? timeouts.connectMs : of === 'send' ? timeouts.stallMs : timeouts.answerMs
  arm(deadlineMs)

  return {
    moved() {
      phase = 'send'
      isHeld = false
      deadlineMs = clock.monotonicNow() + timeouts.stallMs
    },
    hold() {
      isHeld = true
    },
    handedOver(sentBytes) {
      const now = clock.monotonicNow()
      const bytesPerMs = sentBytes / Math.max(1, now - beganAt)
      const drainMs = bytesPerMs === 0 ? 0 : Math.min(sentBytes, KERNEL_BUFFER_BYTES) / bytesPerMs
      phase = 'answer'
      isHeld = false
      deadlineMs = now + timeouts.answerMs + Math.min(drainMs, 10 * timeouts.answerMs)
      // The answer's deadline may be nearer than the one the timer was set for.
      if (deadlineMs < armedForMs) {
        clock.clearTimeout(timer)
        arm(deadlineMs)
      }
    },
    stop() {
      clock.clearTimeout(timer)
    },
  }
}

const WAITED_FOR: Readonly<Record<Phase, string>> = {
  connect: 'no connection',
  send: 'no further on the line',
  answer: 'no answer',
}

function failure(phase: Phase, message: string): TransportError {
  const ending = phase === 'answer' ? 'doubtful' : 'neverWhole'
  return new TransportError('ERR_UPLOAD_TIMEOUT', message, { ending, phase })
}

function seconds(ms: number): string {
  return `${String(Math.round(ms / 100) / 10)} s`
}
