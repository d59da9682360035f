// Simulates one night from a seed and returns the promises that were broken in it.

import { wholeBodies } from '../../src/core/attempt/whole-body.ts'
import { applyRecord } from '../../src/core/journal/apply-record.ts'
import { createLedger, type Ledger } from '../../src/core/journal/ledger.ts'
import type { Random } from '../../src/core/ports.ts'
import { watchCompletion, watchProgress, watchSending } from './checkers.ts'
import type { MemoryJob } from './memory-job.ts'
import type { Fault, StoreRequest } from './object-store.ts'
import { testProtocol } from './test-protocol.ts'
import { seededRandom } from '../helpers/seeded-random.ts'
import { createWorld, type World } from './world.ts'

export interface SimulationOutcome {
  readonly violations: readonly string[]
  readonly faultCount: number
  readonly requestCount: number
  readonly simulatedMs: number
}

type Order = 'any' | 'next'

export async function simulate(seed: number, order: Order): Promise<SimulationOutcome> {
  const random = seededRandom(seed)
  const between = (low: number, high: number): number => low + Math.floor(random() * (high - low + 1))
  const cap = between(1, 9)
  const faults = drawFaults(random, order)
  const isSlowDisk = random() < 0.3
  const partSizeBytes = between(40_000, 400_000)
  const isPaced = random() < 0.15
  const world = createWorld({
    windowMs: between(0, 40),
    answerMs: between(0, 200),
    fault: faults.next,
    ...(random() < 0.5 ? { hashMs: () => between(0, 30) } : {}),
    storesAborted: () => random() < 0.5,
    engine: {
      random,
      // In every second one, last parts and small files go out in one piece.
      ...(cap % 2 === 0 ? { wholeBodies: wholeBodies() } : {}),
      concurrency: cap,
      // A part that is larger than a window needs two. This is the smallest allowed budget.
      memoryBytes: cap * 2 * 64 * 1024,
      ...(isPaced ? { limitRate: between(200_000, 2_000_000) } : {}),
    },
  })
  const sizes = Array.from({ length: between(1, 6) }, () => (random() < 0.1 ? 0 : between(1, 900_000)))
  const sources = world.sources(sizes, { ...(isSlowDisk ? { readMs: () => between(0, 90) } : {}) })
  const renewals = new Map<number, number>()
  const voids = new Map<number, number>()
  const makeJob = (ledger?: Ledger): MemoryJob =>
    world.job({
      sources,
      partSizeBytes,
      protocol: testProtocol({ order, addressing: seed % 3 === 0 ? 'batches' : 'session', batchSize: 2 }),
      onRecord: () => (random() < 0.3 ? pass(world, between(1, 20)) : undefined),
      renew: ({ plan }) => count(renewals, plan.fileIndex) <= 60,
      confirm: async (file) => {
        await pass(world, between(0, 500))
        const doubtful = file.parts.filter((part) => part.isDoubtful).map((part) => part.partNumber)
        return order === 'any' && random() < 0.3 && count(voids, file.plan.fileIndex) < 3 ? doubtful : []
      },
      ...(ledger === undefined ? {} : { ledger }),
    })

  const violations: string[] = []
  const sending = watchSending(world, cap, violations)
  let job = makeJob()
  const jobs = [job]
  for (let pauses = between(0, 3); ; pauses -= 1) {
    const isLast = pauses === 0
    if (isLast) faults.calm()
    const isOver = await oneLife(world, job, isLast ? undefined : between(10, 4_000), violations)
    sending.expectQuiet(sources)
    if (isOver) break
    if (isLast) {
      violations.push('the last life was not the last')
      break
    }
    // The next life knows only what the journals say.
    job = makeJob(fold(jobs))
    jobs.push(job)
  }
  watchCompletion(world, job, sources, violations)
  for (const each of jobs) watchProgress(each, violations)
  violations.push(
    ...(world.hasher?.violations ?? []),
    ...world.store.violations,
    ...jobs.flatMap((each) => each.violations),
  )
  return {
    violations,
    faultCount: faults.count(),
    requestCount: world.store.requests.length,
    simulatedMs: world.clock.monotonicNow(),
  }
}

/** Runs a session until it is over or until it is paused after a while. Returns true if it is over. */
async function oneLife(
  world: World,
  job: MemoryJob,
  pauseAfterMs: number | undefined,
  violations: string[],
): Promise<boolean> {
  const controller = new AbortController()
  const listeners = countListeners(controller.signal)
  const timer =
    pauseAfterMs === undefined
      ? undefined
      : world.clock.setTimeout(() => controller.abort(new Error('paused')), pauseAfterMs)
  try {
    await world.until(world.engine.run(job, controller.signal))
    return true
  } catch (error) {
    if (!controller.signal.aborted) throw error
    return false
  } finally {
    world.clock.clearTimeout(timer)
    if (listeners.count() > 0) violations.push('a listener was left on the signal')
  }
}

function fold(jobs: readonly MemoryJob[]): Ledger {
  const ledger = createLedger(jobs[0]!.plans)
  for (const job of jobs) for (const record of job.records) applyRecord(ledger, record)
  return ledger
}

/** Counts the listeners that were added to a signal and not removed. 0 if the signal has fired. */
function countListeners(signal: AbortSignal): { count(): number } {
  const listeners = new Set<unknown>()
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (type: string, listener: unknown, options?: unknown) => {
    listeners.add(listener)
    add(type, listener as EventListener, options as AddEventListenerOptions)
  }
  signal.removeEventListener = (type: string, listener: unknown) => {
    listeners.delete(listener)
    remove(type, listener as EventListener)
  }
  return { count: () => (signal.aborted ? 0 : listeners.size) }
}

function count(map: Map<number, number>, key: number): number {
  const next = (map.get(key) ?? 0) + 1
  map.set(key, next)
  return next
}

function pass(world: World, ms: number): Promise<void> {
  return new Promise((resolve) => world.clock.setTimeout(resolve, ms))
}

interface Faults {
  next(request: StoreRequest): Fault | undefined
  /** Stops all faults, so that a healthy engine must finish with everything stored. */
  calm(): void
  count(): number
}

function drawFaults(random: Random, order: Order): Faults {
  const rate = random() < 0.2 ? 0 : random() * 0.5
  const kinds = Array.from({ length: 1 + Math.floor(random() * 5) }, () => drawKind(random, order))
  let isCalm = false
  let drawn = 0
  /** Faults of each part so far. They are limited, so that no file is given up. */
  const luck = new Map<string, number>()
  return {
    next({ fileIndex, partNumber }) {
      const part = `${String(fileIndex)}/${String(partNumber)}`
      const had = luck.get(part) ?? 0
      if (isCalm || had >= 6 || random() >= rate) return undefined
      luck.set(part, had + 1)
      drawn += 1
      return kinds[Math.floor(random() * kinds.length)]!()
    },
    calm() {
      isCalm = true
    },
    count: () => drawn,
  }
}

function drawKind(random: Random, order: Order): () => Fault {
  const kinds: (() => Fault)[] = [
    () => ({ kind: 'connect' }),
    () => ({ kind: 'reset', share: random() * 0.99 }),
    () => ({ kind: 'lostAnswer', isStored: random() < 0.5 }),
    () => ({ kind: 'silence', phase: (['connect', 'send', 'answer'] as const)[Math.floor(random() * 3)]! }),
    () => ({ kind: 'early' }),
    () => ({ kind: 'wrongEtag' }),
    () => ({ kind: 'opaqueEtag' }),
    () => ({ kind: 'status', status: 503, headers: random() < 0.5 ? { 'retry-after': '2' } : {} }),
    () => ({ kind: 'status', status: 503, headers: { 'retry-after': '400' } }),
    () => ({ kind: 'status', status: 403, code: 'RequestExpired' }),
    () => ({ kind: 'status', status: 400, code: 'RequestTimeout' }),
  ]
  if (order === 'next') kinds.push(() => ({ kind: 'partial', share: random() }))
  const isPartialNight = order === 'next' && random() < 0.5
  return isPartialNight ? kinds[kinds.length - 1]! : kinds[Math.floor(random() * kinds.length)]!
}
