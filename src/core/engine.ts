// Sends the parts of many files of many sessions at once, never more than the cap. The queue holds the slots, at most
// twice the cap of them; which part a slot takes is decided when it frees, by the transfers' schedules. This is the
// only file that knows the queue's library.

import PQueue from 'p-queue'
import { createAdaptiveTuning } from './adaptive-tuning.ts'
import { createAlarm } from './alarm.ts'
import type { RetryAccount } from './attempt-end.ts'
import { invalid } from './errors.ts'
import type { Hearing } from './hearing.ts'
import type { Clock, Hasher, Random, Transport } from './ports.ts'
import { createRetryBudget, refillRetryBudget, spendRetry } from './retry.ts'
import type { LimitRate } from './timetable.ts'
import {
  createTransfer,
  type AttemptTally,
  type Transfer,
  type TransferPorts,
  type TransferResult,
} from './transfer.ts'
import type { TransferJob } from './transfer-job.ts'
import { checkConcurrency, fixedTuning, MAX_CONCURRENCY, type Tuning } from './tuning.ts'
import { DEFAULT_TIMEOUTS, type AttemptTimeouts } from './watchdog.ts'
import type { WholeBodies } from './whole-body.ts'
import { createWindowPool } from './windows.ts'

/** Options of an engine that always sends the same number of parts at once. */
export interface FixedEngineOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly random: Random
  /** Computes MD5 of every part; absent: nothing is verified. */
  readonly hasher?: Hasher
  /** Parts in flight across all sessions, 1 to 64. */
  readonly concurrency: number
  /** Attempts of a part that reached the host, the first included. Default 8. */
  readonly retries?: number
  /** How long a host may be out of reach before the session fails, ms. Default 1 h. */
  readonly giveUpAfterMs?: number
  readonly timeouts?: Partial<AttemptTimeouts>
  /** Memory for bodies, bytes. Default 32 MiB. Parts in flight × 2 windows never exceed it. */
  readonly memoryBytes?: number
  readonly allocate?: (bytes: number) => Uint8Array
  /** Sends short parts in one piece instead of through windows. */
  readonly wholeBodies?: WholeBodies
}

export interface EngineOptions extends Omit<FixedEngineOptions, 'concurrency'> {
  /** Parts in flight across all sessions: `auto` (default) starts at 4 and finds its own number up to 64. */
  readonly concurrency?: number | 'auto'
  /**
   * Yields to everything else on the line: as fast as makes nobody wait, in at most four parts at once unless `concurrency`
   * is a number. Default false.
   */
  readonly isBackground?: boolean
  /** Bytes a second over all parts, retries included; absent: no limit. */
  readonly limitRate?: LimitRate
  /** Listens to the line where the transport has round trips; absent: `auto` goes by rates alone, which takes it longer. */
  readonly hearing?: Hearing
}

/** An engine without a limit of its rate. */
export interface FixedEngine {
  /** Transfers a session's files. Settles as Transfer.done does; by then no attempt of the session runs. */
  run(job: TransferJob, signal: AbortSignal): Promise<TransferResult>
  /** A hint that the network may be back: hosts that are out of reach are probed at once. Decides nothing else. */
  probeNow(): void
  /** Slots taken now, the cap, and slots that wait to be taken: never more than the cap. */
  stats(): { readonly inFlight: number; readonly cap: number; readonly waiting: number }
}

export interface Engine extends FixedEngine {
  /** Another limit from now on, also for parts under way. Throws ERR_UPLOAD_INVALID_ARGUMENT. */
  limitRate(limit: LimitRate): void
}

/** How often to look while nothing is under way. */
const IDLE_SAMPLE_MS = 1_000
const MAX_WINDOW_BYTES = 1024 * 1024
const MIN_WINDOW_BYTES = 64 * 1024
const DEFAULT_MEMORY_BYTES = 32 * 1024 * 1024

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for an option that cannot be. */
export function createEngine(options: EngineOptions): Engine {
  const { concurrency = 'auto' } = options
  const tuning = createAdaptiveTuning(options)
  const engine = driveSlots(options, concurrency === 'auto' ? MAX_CONCURRENCY : concurrency, tuning)
  return { ...engine, limitRate: (limit) => tuning.limitRate(limit) }
}

/**
 * The engine without what a page may not need: no number of connections that finds itself, no rate limit, no background mode.
 * Everything else is the same, in less code. Throws ERR_UPLOAD_INVALID_ARGUMENT for an option that cannot be.
 */
export function createFixedEngine(options: FixedEngineOptions): FixedEngine {
  const { concurrency } = options
  return driveSlots(options, concurrency, fixedTuning(options.transport, checkConcurrency(concurrency)))
}

function driveSlots(
  options: Omit<FixedEngineOptions, 'transport' | 'concurrency'>,
  largestCap: number,
  tuning: Tuning,
): FixedEngine {
  const { clock } = options
  const queue = new PQueue({ concurrency: tuning.limit() })
  const transfers: Transfer[] = []
  const settings = {
    retries: options.retries ?? 8,
    giveUpAfterMs: options.giveUpAfterMs ?? 3_600_000,
    finishConcurrency: 4,
  }
  const gauge = createGauge()

  /** Starts slots while there are parts for them, and sets the alarm for the earliest part that must wait. */
  const pump = (): void => {
    const nowMs = clock.monotonicNow()
    let ready = 0
    for (const transfer of transfers) {
      transfer.feed(tuning.limit() * 2, nowMs)
      ready += transfer.readyCount(nowMs)
    }
    // A slot that finds nothing left when it frees simply ends.
    for (let wanted = ready - queue.size; wanted > 0 && queue.size < tuning.limit(); wanted -= 1)
      void queue.add(runSlot)
    alarm.set(earliest(transfers.map((transfer) => transfer.nextDueMs(nowMs))))
  }
  const runSlot = async (): Promise<void> => {
    // The first part after a time without any: from here on there is something to learn.
    if (queue.pending === 1) keepSampling()
    // A slot goes on with the next part, unless there are too many of them by now.
    while (queue.pending <= tuning.limit()) {
      const attempt = nextAttempt(transfers)
      if (attempt === undefined) return
      gauge.add(await attempt)
    }
  }
  const alarm = createAlarm(clock, pump)
  let sampleDueMs = 0
  const sampler = createAlarm(clock, () => {
    const atMs = clock.monotonicNow()
    const lateMs = Math.max(0, atMs - sampleDueMs)
    tuning.onSample({ atMs, lateMs, inFlight: queue.pending, ...gauge.sampleNow() })
    queue.concurrency = tuning.limit()
    keepSampling()
    pump()
    const isIdle = queue.size === 0 && queue.pending < tuning.limit()
    for (const transfer of transfers) transfer.resetStraggler(clock.monotonicNow(), isIdle)
  })
  const keepSampling = (): void => {
    const waitMs = queue.pending === 0 ? IDLE_SAMPLE_MS : tuning.sampleEveryMs()
    sampleDueMs = clock.monotonicNow() + waitMs
    sampler.set(transfers.length > 0 ? sampleDueMs : undefined)
  }
  const listen = (): void => {
    keepSampling()
    tuning.setActive(transfers.length > 0)
  }
  const ports: TransferPorts = {
    transport: tuning.transport,
    clock,
    random: options.random,
    hasher: options.hasher,
    windows: createWindowPool(windowOptions(options, largestCap)),
    wholeBodies: options.wholeBodies,
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
    pace: tuning.pace,
    account: createAccount(options.random),
    wake: pump,
    onBytes(bytes) {
      gauge.addBytes(bytes)
      tuning.addBytes(bytes)
    },
  }

  return {
    async run(job, signal) {
      const transfer = createTransfer(ports, job, settings, signal)
      transfers.push(transfer)
      if (transfers.length === 1) listen()
      pump()
      try {
        return await transfer.done
      } finally {
        transfers.splice(transfers.indexOf(transfer), 1)
        if (transfers.length === 0) listen()
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

/** The next attempt of the session whose turn it is. Sessions take turns, so that a long one does not starve another. */
function nextAttempt(transfers: Transfer[]): ReturnType<Transfer['attemptNext']> {
  for (let tries = transfers.length; tries > 0; tries -= 1) {
    const transfer = transfers.shift()
    if (transfer === undefined) return undefined
    transfers.push(transfer)
    const attempt = transfer.attemptNext()
    if (attempt !== undefined) return attempt
  }
  return undefined
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** What happened on the line since the last sample. */
function createGauge(): {
  add(attempt: AttemptTally): void
  addBytes(bytes: number): void
  sampleNow(): { bytesSince: number; partsDone: number; throttles: number; failures: number }
} {
  let current = { bytesSince: 0, partsDone: 0, throttles: 0, failures: 0 }
  return {
    add({ isDone, isThrottle, isFailure }) {
      current.partsDone += Number(isDone)
      current.throttles += Number(isThrottle)
      current.failures += Number(isFailure)
    },
    addBytes(bytes) {
      current.bytesSince += bytes
    },
    sampleNow() {
      const taken = current
      current = { bytesSince: 0, partsDone: 0, throttles: 0, failures: 0 }
      return taken
    },
  }
}

function createAccount(random: Random): RetryAccount {
  let budget = createRetryBudget()
  return {
    refill() {
      budget = refillRetryBudget(budget)
    },
    spend() {
      const spent = spendRetry(budget, random)
      budget = spent.budget
      return spent.delayMs
    },
  }
}

/** Windows as large as the budget allows for the largest cap, a power of two. */
function windowOptions(
  options: Pick<FixedEngineOptions, 'memoryBytes' | 'allocate'>,
  cap: number,
): {
  budgetBytes: number
  windowBytes: number
  allocate?: (bytes: number) => Uint8Array
} {
  const budgetBytes = options.memoryBytes ?? DEFAULT_MEMORY_BYTES
  const share = budgetBytes / (2 * cap)
  if (share < MIN_WINDOW_BYTES) {
    invalid(`memoryBytes must be at least ${2 * cap * MIN_WINDOW_BYTES} for ${cap} parts in flight.`)
  }
  const windowBytes = 2 ** Math.floor(Math.log2(Math.min(MAX_WINDOW_BYTES, share)))
  return { budgetBytes, windowBytes, ...(options.allocate === undefined ? {} : { allocate: options.allocate }) }
}
