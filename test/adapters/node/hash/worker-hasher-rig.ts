// Hashers whose threads are watched, and ended after each test.

import { createHash } from 'node:crypto'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach } from 'vitest'
import {
  workerHasher,
  type WorkerHasher,
  type WorkerHasherOptions,
} from '../../../../src/adapters/node/hash/worker-hasher.ts'

export const KIB = 1024
export const MIB = 1024 * KIB
/** MD5 of 64 KiB of zeros, of two such windows, and of `abc`. */
export const ZEROS_64_KIB = 'fcd6bcb56c1689fcef28b57c22475bad'
export const ZEROS_128_KIB = '0dfbe8aa4c20b52e1b8bf3cb6cbdf193'
export const ABC = '900150983cd24fb0d6963f7d28e17f72'

/** Every thread that was started, oldest first, as Node tells of them. */
export const started: Worker[] = []
const remember = (worker: Worker): void => void started.push(worker)
export const open: WorkerHasher[] = []

/** Shared memory that is no hasher's own. */
export const sharedWindow = (bytes: number): Uint8Array => new Uint8Array(new SharedArrayBuffer(bytes))

export function makeHasher(options: WorkerHasherOptions = {}): WorkerHasher {
  const hasher = workerHasher({ smallBodyBytes: 0, ...options })
  open.push(hasher)
  return hasher
}

/** Called once by each test file. */
export function watchThreads(): void {
  beforeEach(() => {
    process.on('worker', remember)
  })
  afterEach(async () => {
    process.off('worker', remember)
    await Promise.all(open.splice(0).map((hasher) => hasher.close()))
    started.length = 0
  })
}

export function md5(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex')
}
