// Sends the parts of many files of many sessions at once, never more than the cap. The queue holds the slots, at most
// twice the cap of them; which part a slot takes is decided when it frees, by the transfers' schedules. This is the
// only file that knows the queue's library.

import PQueue from 'p-queue'
import { createConcurrency, type ConcurrencyOptions } from './concurrency.ts'
import { invalid } from './errors.ts'
import type { Clock, Hasher, Random, Transport } from './ports.ts'
import { createRateLimit } from './rate-limit.ts'
import { sleep } from './sleep.ts'
import { createTransfer, type Transfer, type TransferResult } from './transfer.ts'
import type { TransferJob } from './transfer-job.ts'
import { DEFAULT_TIMEOUTS, type AttemptTimeouts } from './watchdog.ts'
import { createWindowPool } from './windows.ts'

export interface EngineOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly random: Random
  /** Computes MD5 of every part; absent: nothing is verified. */
  readonly hasher?: Hasher
  /** Parts in flight across all sessions: `auto` (default) starts at 4 and finds its own number up to 64. */
  readonly concurrency?: number | 'auto'
  /** Attempts of a part that reached the host, the first included. Default 8. */
  readonly retries?: number
  /** How long a host may be out of reach before the session fails, ms. Default 1 h. */
  readonly giveUpAfterMs?: number
  readonly timeouts?: Partial<AttemptTimeouts>
  /** Bytes a second over all parts; absent: no limit. */
  readonly bytesPerSecond?: number
  /** Memory for bodies, bytes. Default 32 MiB. Parts in flight × 2 windows never exceed it. */
  readonly memoryBytes?: number
  readonly allocate?: (bytes: number) => Uint8Array
}

export interface Engine {
  /** Transfers a session's files. Settles as Transfer.done does; by then no attempt of the session runs. */
  run(job: TransferJob, signal: AbortSignal): Promise<TransferResult>
  /** Parts in flight now and the cap. */
  stats(): { readonly inFlight: number; readonly cap: number }
}

const MAX_CONCURRENCY = 64
const SAMPLE_MS = 1_000
const MAX_WINDOW_BYTES = 1024 * 1024
const MIN_WINDOW_BYTES = 64 * 1024
const DEFAULT_MEMORY_BYTES = 32 * 1024 * 1024

export function createEngine(options: EngineOptions): Engine {
  const { clock } = options
  const controller = createConcurrency(concurrencyOptions(options.concurrency ?? 'auto'))
  const queue = new PQueue({ concurrency: controller.limit() })
  const transfers: Transfer[] = []
  const settings = {
    retries: options.retries ?? 8,
    giveUpAfterMs: options.giveUpAfterMs ?? 3_600_000,
    finishConcurrency: 4,
  }
  const ports = {
    transport: options.transport,
    clock,
    random: options.random,
    hasher: options.hasher,
    windows: createWindowPool(windowOptions(options)),
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
    pace: createPace(clock, options.bytesPerSecond),
  }
  const sample = { bytes: 0, partsDone: 0, throttles: 0, failures: 0 }
  let timer: unknown
  let timerAtMs = Number.POSITIVE_INFINITY
  let sampler: unknown

  /** Starts slots while there are parts for them. */
  const pump = (): void => {
    let ready = 0
    for (const transfer of transfers) {
      transfer.feed(controller.limit() * 2)
      ready += transfer.readyCount()
    }
    // A slot that finds nothing left when it frees simply ends.
    for (let wanted = ready - queue.size; wanted > 0 && queue.size < controller.limit(); wanted -= 1)
      void queue.add(runSlot)
    armTimer()
  }
  const runSlot = async (): Promise<void> => {
    const attempt = nextAttempt()
    if (attempt === undefined) return
    const tally = await attempt
    sample.bytes += tally.bytes
    sample.partsDone += 1
    if (tally.isThrottle) sample.throttles += 1
    if (tally.isFailure) sample.failures += 1
  }
  /** Sessions take turns, so that a long one does not starve another. */
  const nextAttempt = (): ReturnType<Transfer['attemptNext']> => {
    for (let tries = transfers.length; tries > 0; tries -= 1) {
      const transfer = transfers.shift()
      if (transfer === undefined) return undefined
      transfers.push(transfer)
      const attempt = transfer.attemptNext()
      if (attempt !== undefined) return attempt
    }
    return undefined
  }
  /** One timer for the earliest part that waits. */
  const armTimer = (): void => {
    const now = clock.monotonicNow()
    let dueMs = Number.POSITIVE_INFINITY
    for (const transfer of transfers) dueMs = Math.min(dueMs, transfer.nextDueMs() ?? Number.POSITIVE_INFINITY)
    if (dueMs === timerAtMs) return
    if (timer !== undefined) clock.clearTimeout(timer)
    timer = undefined
    timerAtMs = dueMs
    if (dueMs === Number.POSITIVE_INFINITY || dueMs <= now) {
      timerAtMs = Number.POSITIVE_INFINITY
      return
    }
    timer = clock.setTimeout(() => {
      timer = undefined
      timerAtMs = Number.POSITIVE_INFINITY
      pump()
    }, dueMs - now)
  }
  const startSampling = (): void => {
    sampler ??= clock.setTimeout(() => {
      sampler = undefined
      controller.onSample({ atMs: clock.monotonicNow(), inFlight: queue.pending, ...takeSample() })
      queue.concurrency = controller.limit()
      if (transfers.length > 0) startSampling()
      pump()
    }, SAMPLE_MS)
  }
  const takeSample = (): { bytesSince: number; partsDone: number; throttles: number; failures: number } => {
    const { bytes: bytesSince, partsDone, throttles, failures } = sample
    Object.assign(sample, { bytes: 0, partsDone: 0, throttles: 0, failures: 0 })
    return { bytesSince, partsDone, throttles, failures }
  }

  return {
    async run(job, signal) {
      const transfer = createTransfer(ports, job, settings, signal, pump)
      transfers.push(transfer)
      startSampling()
      pump()
      try {
        return await transfer.done
      } finally {
        transfers.splice(transfers.indexOf(transfer), 1)
        if (transfers.length === 0) clock.clearTimeout(sampler)
        if (transfers.length === 0) sampler = undefined
        armTimer()
      }
    },
    stats: () => ({ inFlight: queue.pending, cap: controller.limit() }),
  }
}

function concurrencyOptions(concurrency: number | 'auto'): ConcurrencyOptions {
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
  const windowBytes = Math.min(MAX_WINDOW_BYTES, 2 ** Math.floor(Math.log2(share)))
  return { budgetBytes, windowBytes, ...(options.allocate === undefined ? {} : { allocate: options.allocate }) }
}

function createPace(
  clock: Clock,
  bytesPerSecond: number | undefined,
): ((bytes: number, signal: AbortSignal) => Promise<void> | undefined) | undefined {
  if (bytesPerSecond === undefined) return undefined
  const limit = createRateLimit({ bytesPerSecond })
  return (bytes, signal) => {
    const delayMs = limit.take(bytes, clock.monotonicNow())
    return delayMs > 0 ? sleep(clock, delayMs, signal) : undefined
  }
}
