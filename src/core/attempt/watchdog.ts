// Watches the waits of one attempt: to connect, to go on sending, to be answered. Only time that the far end is responsible for
// counts: while the body waits for the disk or for a rate token, the watch is on hold. One timer serves the whole attempt; it
// is not moved with every window, but looks at the newest deadline when it fires.

import { TransportError } from '../errors.ts'
import type { Clock } from '../ports.ts'
import { hasSlept } from '../time/suspend.ts'

/** How long an attempt may wait, ms. */
export interface AttemptTimeouts {
  /** From the start until the first byte of the body is asked for. Default 15,000. */
  readonly connectMs: number
  /** The longest time without a window being taken. Default 30,000. */
  readonly stallMs: number
  /** From the last byte handed over until the answer; time for what the kernel may still hold is added. Default 60,000. */
  readonly answerMs: number
}

export const DEFAULT_TIMEOUTS: AttemptTimeouts = { connectMs: 15_000, stallMs: 30_000, answerMs: 60_000 }

/** What the kernel may still hold of a body that was handed over, bytes: Linux lets a send buffer grow to 4 MiB. */
const KERNEL_BUFFER_BYTES = 4_194_304

export interface Watchdog {
  /** A queued request has been handed to the platform: from now on it waits to be connected. */
  started(): void
  /** Bytes of the body moved on the line. Does not end a hold. */
  moved(): void
  /** The attempt waits for us (disk, hash, rate) until `resume` is called. */
  hold(): void
  /** It waits for the line again. */
  resume(): void
  /** The whole body was handed over: what the line and we did before no longer counts. */
  handedOver(sentBytes: number): void
  /** Stops the watch: nothing expires any more. Idempotent. */
  stop(): void
}

type Phase = 'connect' | 'send' | 'answer'

/**
 * Calls `expire` at most once, with what went wrong, when a wait takes too long. `who`: whose waits these are, for messages.
 */
export function createWatchdog(
  clock: Clock,
  timeouts: AttemptTimeouts,
  who: string,
  expire: (error: TransportError) => void,
): Watchdog {
  const { connectMs, stallMs, answerMs } = timeouts
  const beganAtMs = clock.monotonicNow()
  let phase: Phase = 'connect'
  let deadlineMs = beganAtMs + connectMs
  let movedAtMs = beganAtMs
  let isHeld = false
  let timer: unknown
  let armedForMs = 0

  /** Moves the timer only when the new deadline is earlier: otherwise it looks again when it fires. */
  const wait = (next: Phase, nowMs: number, waitMs: number): void => {
    phase = next
    deadlineMs = nowMs + waitMs
    if (deadlineMs >= armedForMs) return
    clock.clearTimeout(timer)
    arm(deadlineMs, nowMs)
  }
  const arm = (atMs: number, nowMs: number): void => {
    armedForMs = atMs
    timer = clock.setTimeout(look, Math.max(1, atMs - nowMs))
  }
  const look = (): void => {
    const nowMs = clock.monotonicNow()
    // Bytes that moved after the timer was due show that the machine was awake. After a sleep, older connections cannot be
    // trusted.
    if (hasSlept(clock, Math.max(armedForMs, movedAtMs))) {
      fail('was interrupted: this machine was suspended or busy', nowMs - armedForMs)
    } else if (isHeld) arm(nowMs + stallMs, nowMs)
    else if (nowMs < deadlineMs) arm(deadlineMs, nowMs)
    else if (phase === 'connect') fail('got no connection', connectMs)
    else if (phase === 'send') fail('got no further on the line', stallMs)
    else fail('got no answer', answerMs)
  }
  const fail = (what: string, ms: number): void => {
    const ending = phase === 'answer' ? 'doubtful' : 'neverWhole'
    expire(new TransportError('ERR_UPLOAD_TIMEOUT', `${who} ${what} for ${seconds(ms)}.`, { ending, phase }))
  }
  const stop = (): void => {
    clock.clearTimeout(timer)
    // No deadline is earlier than this, so no timer is set any more. After the timer has fired, none is set either:
    // `armedForMs` is past.
    armedForMs = -Infinity
  }
  const moved = (): void => {
    if (phase === 'answer') return
    movedAtMs = clock.monotonicNow()
    wait('send', movedAtMs, stallMs)
  }
  arm(deadlineMs, beganAtMs)

  return {
    moved,
    stop,
    started() {
      isHeld = false
      wait('connect', clock.monotonicNow(), connectMs)
    },
    hold() {
      isHeld = phase !== 'answer'
    },
    resume() {
      isHeld = false
      moved()
    },
    handedOver(sentBytes) {
      if (phase === 'answer') return
      const nowMs = clock.monotonicNow()
      const bytesPerMs = sentBytes / Math.max(1, nowMs - beganAtMs)
      const drainMs = bytesPerMs === 0 ? 0 : Math.min(sentBytes, KERNEL_BUFFER_BYTES) / bytesPerMs
      isHeld = false
      wait('answer', nowMs, answerMs + Math.min(drainMs, 10 * answerMs))
    },
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`
}
