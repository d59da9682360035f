// Puts an engine, a storage and sources into one simulated time, which it advances until a promise settles.

import { createEngine } from '../../src/core/adaptive-engine.ts'
import type { Engine, EngineOptions } from '../../src/core/engine.ts'
import { createSimulatedClock, type SimulatedClock } from '../helpers/simulated-clock.ts'
import { createMemoryJob, type MemoryJob, type MemoryJobOptions } from './memory-job.ts'
import { createObjectStore, type ObjectStore, type ObjectStoreOptions } from './object-store.ts'
import { slowHasher, type SlowHasher } from './slow-hasher.ts'
import { watchedSource, type WatchedSource, type WatchedSourceOptions } from './watched-source.ts'

export interface World {
  readonly clock: SimulatedClock
  readonly store: ObjectStore
  readonly engine: Engine
  /** Present with `hashMs`. */
  readonly hasher: SlowHasher | undefined
  /** Sources of these sizes, each with its own bytes. */
  sources(sizes: readonly number[], options?: WatchedSourceOptions): WatchedSource[]
  job(options: Omit<MemoryJobOptions, 'clock'>): MemoryJob
  /** Lets time pass until the promise settles. Rejects if that takes longer than the limit (default: a simulated day). */
  until<T>(promise: Promise<T>, limitMs?: number): Promise<T>
}

export interface WorldOptions extends Omit<ObjectStoreOptions, 'clock'> {
  readonly engine?: Partial<Omit<EngineOptions, 'clock' | 'transport'>>
  /** Hashes every part. The result is the time that an update takes, ms. */
  readonly hashMs?: () => number
}

export function createWorld({ engine: engineOptions = {}, hashMs, ...storeOptions }: WorldOptions = {}): World {
  const clock = createSimulatedClock()
  const store = createObjectStore({ clock, ...storeOptions })
  const hasher = hashMs === undefined ? undefined : slowHasher(clock, hashMs)
  const hashing = hasher === undefined ? {} : { hasher }
  const engine = createEngine({
    ...hashing,
    clock,
    transport: store,
    random: () => 0.5,
    concurrency: 4,
    ...engineOptions,
  })
  return {
    ...{ clock, store, engine, hasher },
    sources: (sizes, options) =>
      sizes.map((size, index) => watchedSource(`file-${String(index)}.bin`, fill(size, index), { clock, ...options })),
    job: (options) => createMemoryJob({ clock, ...options }),
    until: (promise, limitMs = 86_400_000) => until(clock, promise, limitMs),
  }
}

async function until<T>(clock: SimulatedClock, promise: Promise<T>, limitMs: number): Promise<T> {
  const state = { isSettled: false }
  const settled = promise.finally(() => {
    state.isSettled = true
  })
  settled.catch(() => undefined)
  const endMs = clock.monotonicNow() + limitMs
  await clock.advance(0)
  while (!state.isSettled) {
    const nextMs = clock.nextDueInMs
    if (nextMs === undefined) throw new Error('Deadlock: nothing is under way, and the promise has not settled.')
    if (clock.monotonicNow() + nextMs > endMs) throw new Error(`Not settled after ${String(limitMs)} ms.`)
    await clock.advance(nextMs)
  }
  return settled
}

/** Bytes whose pattern does not repeat with any window or part size. */
export function fill(sizeBytes: number, salt: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes)
  for (let at = 0; at < sizeBytes; at += 1) bytes[at] = ((at * 2654435761 + salt * 40503) >>> 13) & 255
  return bytes
}
