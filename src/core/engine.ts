// Sends the parts of many files of many sessions at once, never more than the cap. The queue holds the slots, at most
// twice the cap of them; which part a slot takes is decided when it frees, by the transfers' schedules. This is the
// only file that knows the queue's library.

import PQueue from 'p-queue'
import { createAlarm } from './alarm.ts'
import type { RetryAccount } from './attempt-end.ts'
import { createConcurrency, type ConcurrencyOptions } from './concurrency.ts'
import { invalid } from './errors.ts'
import { createLineDelay } from './line-delay.ts'
import { createPace } from './pace.ts'
import type { Clock, Hasher, Random, Transport } from './ports.ts'
import { createRoundTrips } from './round-trips.ts'
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
import { DEFAULT_TIMEOUTS, type AttemptTimeouts } from './watchdog.ts'
import { createWindowPool } from './windows.ts'

export interface EngineOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly random: Random
  /** Computes MD5 of every part; absent: nothing is verified. */
  readonly hasher?: Hasher
  /** Parts in flight across all sessions: `auto` (default) starts at 2 and finds its own number up to 64. */
  readonly concurrency?: number | 'auto'
  /** Attempts of a part that reached the host, the first included. Default 8. */
  readonly retries?: number
  /** How long a host may be out of reach before the session fails, ms. Default 1 h. */
  readonly giveUpAfterMs?: number
  readonly timeouts?: Partial<AttemptTimeouts>
  /**
   * Yields to everything else on the line: as fast as makes nobody wait, in at most four parts at once unless `concurrency`
   * is a number. Default false.
   */
  readonly isBackground?: boolean
  /** Bytes a second over all parts, retries included; absent: no limit. */
  readonly limitRate?: LimitRate
  /** Memory for bodies, bytes. Default 32 MiB. Parts in flight × 2 windows never exceed it. */
  readonly memoryBytes?: number
  readonly allocate?: (bytes: number) => Uint8Array
}

export interface Engine {
  /** Transfers a session's files. Settles as Transfer.done does; by then no attempt of the session runs. */
  run(job: TransferJob, signal: AbortSignal): Promise<TransferResult>
  /** Another limit from now on, also for parts under way. Throws ERR_UPLOAD_INVALID_ARGUMENT. */
  limitRate(limit: LimitRate): void
  /** A hint that the network may be back: hosts that are out of reach are probed at once. Decides nothing else. */
  probeNow(): void
  /** Slots taken now, the cap, and slots that wait to be taken: never more than the cap. */
  stats(): { readonly inFlight: number; readonly cap: number; readonly waiting: number }
}

const MAX_CONCURRENCY = 64
const BACKGROUND_CONCURRENCY: ConcurrencyOptions = { start: 2, max: 4 }
/** How often the controller hears: while a trial is near, between trials, and while nothing is under way. */
const SAMPLE_MS = { curious: 100, calm: 500, idle: 1_000 }
const MAX_WINDOW_BYTES = 1024 * 1024
const MIN_WINDOW_BYTES = 64 * 1024
const DEFAULT_MEMORY_BYTES = 32 * 1024 * 1024

export function createEngine(options: EngineOptions): Engine {
  const { clock } = options
  const controller = createConcurrency(concurrencyOptions(options))
  const queue = new PQueue({ concurrency: controller.limit() })
  const transfers: Transfer[] = []
  const settings = {
    retries: options.retries ?? 8,
    giveUpAfterMs: options.giveUpAfterMs ?? 3_600_000,
    finishConcurrency: 4,
  }
  const gauge = createGauge()
  const pace = createPace(clock, options.limitRate)
  const line = options.isBackground === true ? createLineDelay(options, (rate) => pace.setCeiling(rate)) : undefined

  /** Starts slots while there are parts for them, and sets the alarm for the earliest part that must wait. */
  const pump = (): void => {
    const nowMs = clock.monotonicNow()
    let ready = 0
    for (const transfer of transfers) {
      transfer.feed(controller.limit() * 2, nowMs)
      ready += transfer.readyCount(nowMs)
    }
    // A slot that finds nothing left when it frees simply ends.
    for (let wanted = ready - queue.size; wanted > 0 && queue.size < controller.limit(); wanted -= 1)
      void queue.add(runSlot)
    alarm.set(earliest(transfers.map((transfer) => transfer.nextDueMs(nowMs))))
  }
  const runSlot = async (): Promise<void> => {
    // The first part after a time without any: from here on there is something to learn.
    if (queue.pending === 1) keepSampling()
    // A slot goes on with the next part, unless there are too many of them by now.
    while (queue.pending <= controller.limit()) {
      const attempt = nextAttempt(transfers)
      if (attempt === undefined) return
      gauge.add(await attempt)
    }
  }
  const alarm = createAlarm(clock, pump)
  const roundTrips = createRoundTrips({ transport: line?.transport ?? options.transport, clock })
  const sampler = createAlarm(clock, () => {
    const roundTripMs = roundTrips.takeNewest()
    controller.onSample({ atMs: clock.monotonicNow(), inFlight: queue.pending, roundTripMs, ...gauge.sampleNow() })
    queue.concurrency = controller.limit()
    if (queue.pending > 0 && controller.isCurious()) roundTrips.measure()
    keepSampling()
    pump()
    const isIdle = queue.size === 0 && queue.pending < controller.limit()
    for (const transfer of transfers) transfer.resetStraggler(clock.monotonicNow(), isIdle)
  })
  const keepSampling = (): void => {
    const eager = controller.isCurious() ? SAMPLE_MS.curious : SAMPLE_MS.calm
    const waitMs = queue.pending === 0 ? SAMPLE_MS.idle : eager
    sampler.set(transfers.length > 0 ? clock.monotonicNow() + waitMs : undefined)
  }
  const listen = (): void => {
    keepSampling()
    line?.setActive(transfers.length > 0)
    if (transfers.length === 0) roundTrips.stop()
  }
  const ports: TransferPorts = {
    transport: roundTrips.transport,
    clock,
    random: options.random,
    hasher: options.hasher,
    windows: createWindowPool(windowOptions(options)),
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
    pace,
    account: createAccount(options.random),
    wake: pump,
    onBytes(bytes) {
      gauge.addBytes(bytes)
      line?.addBytes(bytes)
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
    limitRate: (limit) => pace.setLimit(limit),
    probeNow() {
      for (const transfer of transfers) transfer.probeNow()
      pump()
    },
    stats: () => ({ inFlight: queue.pending, cap: controller.limit(), waiting: queue.size }),
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

function concurrencyOptions({ concurrency = 'auto', isBackground = false }: EngineOptions): ConcurrencyOptions {
  if (concurrency === 'auto' && isBackground) return BACKGROUND_CONCURRENCY
  if (concurrency === 'auto') return { max: MAX_CONCURRENCY }
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > MAX_CONCURRENCY) {
    invalid(
      `concurrency must be 'auto' or a whole number from 1 to ${String(MAX_CONCURRENCY)}, not ${String(concurrency)}.`,
    )
  }
  return { fixed: concurrency }
}

/** Windows as large as the budget allows for the largest cap, a power of two. */
function windowOptions(options: EngineOptions): {
  budgetBytes: number
  windowBytes: number
  allocate?: (bytes: number) => Uint8Array
} {
  const budgetBytes = options.memoryBytes ?? DEFAULT_MEMORY_BYTES
  const cap = typeof options.concurrency === 'number' ? options.concurrency : MAX_CONCURRENCY
  const share = budgetBytes / (2 * cap)
  if (share < MIN_WINDOW_BYTES) {
    invalid(`memoryBytes must be at least ${String(2 * cap * MIN_WINDOW_BYTES)} for ${String(cap)} parts in flight.`)
  }
  const windowBytes = 2 ** Math.floor(Math.log2(Math.min(MAX_WINDOW_BYTES, share)))
  return { budgetBytes, windowBytes, ...(options.allocate === undefined ? {} : { allocate: options.allocate }) }
}
