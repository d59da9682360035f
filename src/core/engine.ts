// Sends the parts of many files of many sessions at once, never more than the cap. The queue holds the slots: at most as many
// as the cap running, and as many waiting. Which part a slot takes is decided by the transfers' schedules when it frees. This
// is the only file that knows the queue's library.

import PQueue from 'p-queue'
import { createAlarm } from './time/alarm.ts'
import type { Attempt } from './attempt/attempt.ts'
import { invalid } from './errors.ts'
import { given } from './given.ts'
import type { Clock, Hasher, Random, Transport } from './ports.ts'
import { createSettling } from './transfer/settling.ts'
import type { LimitRate } from './line/timetable.ts'
import { createTransfer, type Transfer, type TransferPorts, type TransferResult } from './transfer/transfer.ts'
import type { TransferJob } from './transfer/transfer-job.ts'
import { fixedTuning, MAX_CONCURRENCY, type Tuning, type TuningMaker, type TuningOptions } from './tuning.ts'
import { DEFAULT_TIMEOUTS, type AttemptTimeouts } from './attempt/watchdog.ts'
import { windowBodies, type WindowBodies, type WindowBodiesOptions } from './attempt/window-bodies.ts'

/** Options of an engine that always sends the same number of parts at once. */
export interface FixedEngineOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly random: Random
  /** Computes the MD5 of every part; absent: nothing is verified. */
  readonly hasher?: Hasher | undefined
  /** Parts in flight across all sessions, 1 to 64. Those whose sources hang, or did, do not count. */
  readonly concurrency: number
  /** The maximum number of tries of a part, the first included. An attempt that never reached the host uses none up. Default 8. */
  readonly retries?: number | undefined
  /** How long a host may be out of reach before the session fails, ms. Default 1 h. */
  readonly giveUpAfterMs?: number | undefined
  readonly timeouts?: { readonly [Wait in keyof AttemptTimeouts]?: number | undefined } | undefined
  /** `windowBodies()`, for bytes that must pass through our memory. Absent: only Blobs that go to the network unread can be sent. */
  readonly bodies?: WindowBodies | undefined
}

export interface EngineOptions
  extends
    Omit<FixedEngineOptions, 'concurrency' | 'bodies'>,
    TuningOptions,
    Pick<WindowBodiesOptions, 'memoryBytes' | 'allocate' | 'wholeBodies'> {}

/** An engine without a rate limit. */
export interface FixedEngine {
  /** Transfers a session's files. Settles as `Transfer.done` does; no attempt of the session is running by then. */
  run(job: TransferJob, signal: AbortSignal): Promise<TransferResult>
  /** A hint that the network may be back: hosts that are out of reach are probed at once. It has no other effect. */
  probeNow(): void
  /** Slots in use, the cap, and slots that wait to start, which are never more than the cap. */
  stats(): { readonly inFlight: number; readonly cap: number; readonly waiting: number }
}

/** An engine whose rate can be limited. */
export interface Engine extends FixedEngine {
  /** Sets a new rate limit, also for parts under way. Throws ERR_UPLOAD_INVALID_ARGUMENT for an invalid one. */
  limitRate(limit: LimitRate): void
}

/**
 * Makes an engine with the tuning that `makeTuning` makes of these options. Throws ERR_UPLOAD_INVALID_ARGUMENT for an invalid
 * option.
 */
export function createTunedEngine(options: EngineOptions, makeTuning: TuningMaker): Engine {
  const { concurrency = 'auto' } = options
  const tuning = makeTuning(options)
  const largestCap = concurrency === 'auto' ? MAX_CONCURRENCY : concurrency
  // Last, since options may be shared with a fixed engine and then hold `bodies` already.
  const engine = driveSlots({ ...options, bodies: windowBodies({ ...options, concurrency: largestCap }) }, tuning)
  return { limitRate: (limit) => tuning.limitRate(limit), ...engine }
}

/**
 * Makes an engine without what a page may not need: it does not find the number of connections by itself, has no rate limit and
 * no background mode, and resets no connection because it crawls. Without `bodies` it sends only Blobs that need not pass
 * through our memory. Everything else is the same, in less code. Throws ERR_UPLOAD_INVALID_ARGUMENT for an invalid option.
 */
export function createFixedEngine(options: FixedEngineOptions): FixedEngine {
  return driveSlots(options, fixedTuning(options))
}

function driveSlots(options: Omit<FixedEngineOptions, 'transport' | 'concurrency'>, tuning: Tuning): FixedEngine {
  const { clock, retries = 8, giveUpAfterMs = 3_600_000, timeouts = {} } = options
  const limits = { ...DEFAULT_TIMEOUTS, ...given(timeouts) }
  // With NaN, or with a text to which a time is added, neither attempts nor waits would come to their end.
  const isCounting = [retries - 1, giveUpAfterMs, ...Object.values(limits)].every((ms) => ms === Math.abs(ms))
  if (!isCounting) invalid('retries must be at least 1, giveUpAfterMs and timeouts at least 0.')
  const queue = new PQueue({ concurrency: tuning.limit() })
  const transfers: Transfer[] = []

  /** Starts slots while there are parts for them, and sets the alarm for the earliest part that must wait. */
  const pump = (): void => {
    const nowMs = clock.monotonicNow()
    let ready = 0
    let dueMs = Infinity
    for (const transfer of transfers) {
      transfer.feed(tuning.limit(), nowMs)
      ready += transfer.readyCount(nowMs)
      dueMs = Math.min(dueMs, transfer.nextDueMs(nowMs) ?? Infinity)
    }
    // A slot that finds no part when it starts simply ends.
    for (let wanted = ready - queue.size; wanted > 0 && queue.size < tuning.limit(); wanted -= 1)
      void queue.add(runSlot)
    setAlarm(dueMs === Infinity ? undefined : dueMs)
  }
  const runSlot = async (): Promise<void> => {
    if (queue.pending === 1) sampling?.begin()
    // A slot goes on with the next part, unless there are too many slots by now.
    while (queue.pending <= tuning.limit()) {
      const attempt = settling((onFree) => nextAttempt(transfers, onFree))
      if (!attempt) return
      if (await attempt) sampling?.partDone()
    }
  }
  const settling = createSettling()
  const setAlarm = createAlarm(clock, pump)
  const sampling = tuning.sample?.({
    clock,
    inFlight: () => queue.pending,
    resize() {
      queue.concurrency = tuning.limit()
    },
    sampled() {
      pump()
      const isIdle = queue.size === 0 && queue.pending < tuning.limit()
      for (const transfer of transfers) transfer.resetStraggler(clock.monotonicNow(), isIdle)
    },
  })
  const ports: TransferPorts = {
    ...options,
    ...tuning,
    retries,
    giveUpAfterMs,
    timeouts: limits,
    wake: pump,
    onBytes: (bytes) => sampling?.addBytes(bytes),
  }

  return {
    async run(job, signal) {
      const transfer = createTransfer(ports, job, signal)
      transfers.push(transfer)
      if (transfers.length === 1) sampling?.setActive(true)
      pump()
      try {
        return await transfer.done
      } finally {
        transfers.splice(transfers.indexOf(transfer), 1)
        if (transfers.length === 0) sampling?.setActive(false)
        pump()
      }
    },
    probeNow() {
      for (const transfer of transfers) transfer.probeNow()
      pump()
    },
    stats: () => ({ inFlight: queue.pending, cap: tuning.limit(), waiting: queue.size }),
  }
}

/** The next attempt of the session whose turn it is. Sessions take turns, so that a long one does not starve the others. */
function nextAttempt(transfers: Transfer[], onFree: Attempt['onFree']): ReturnType<Transfer['attemptNext']> {
  for (let tries = transfers.length; tries > 0; tries -= 1) {
    const transfer = transfers.shift()
    if (!transfer) return undefined
    transfers.push(transfer)
    const attempt = transfer.attemptNext(onFree)
    if (attempt) return attempt
  }
  return undefined
}
