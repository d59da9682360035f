// Hasher on threads of its own, so that the thread that feeds the sockets does not stop to hash. A body stays on the
// thread where its first window went. What can be hashed is hashed: without threads, after `close`, and when a thread
// ends before it has taken a first window, the calling thread does it.

import { availableParallelism } from 'node:os'

import { invalid, invariant, type UploadError } from '../../../core/errors.ts'
import type { BodyHash, Hasher } from '../../../core/ports.ts'
import { startHashThread, type HashThread } from './hash-thread.ts'
import { md5Hasher } from './md5-hasher.ts'
import { MOST_LANES } from './md5-kernel.ts'
import type { HashMessage } from './worker-hash-program.ts'

export interface WorkerHasherOptions {
  /** Threads at most, 1 to 16; each starts when the others have 16 bodies. Default: 4, but no more than the cores. */
  readonly threads?: number
  /**
   * A body whose first piece is shorter, bytes, is hashed by the calling thread. Measured: from 32 KiB on a thread spares
   * the calling thread more than half, but below 64 KiB it takes half as much processor time again. Default 64 KiB.
   */
  readonly smallBodyBytes?: number
}

/** Memory that a thread can look into without a copy: pass it to the engine as `allocate`. Zeroed. */
export function sharedWindow(bytes: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(bytes))
}

/** Ends of threads that were not asked for, after which no more are started. */
const MAX_DEATHS = 3
const MAX_THREADS = 16
const SMALL_BODY_BYTES = 64 * 1024

/**
 * MD5 on threads. An idle hasher does not hold the process. When a thread dies, bodies of which it had taken a window
 * reject with ERR_UPLOAD_INTERNAL, retryable: their windows are gone, so the part must be sent again. `close` ends the
 * threads; such bodies then reject with the same code, and bodies begun later are hashed by the calling thread. Throws
 * ERR_UPLOAD_INVALID_ARGUMENT for options out of range.
 */
export function workerHasher(options: WorkerHasherOptions = {}): Hasher & { close(): Promise<void> } {
  const { threads = Math.min(4, availableParallelism()), smallBodyBytes = SMALL_BODY_BYTES } = options
  if (!Number.isInteger(threads) || threads < 1 || threads > MAX_THREADS) {
    invalid(`threads must be a whole number from 1 to ${String(MAX_THREADS)}, not ${String(threads)}.`)
  }
  if (!(smallBodyBytes >= 0)) invalid(`smallBodyBytes must be 0 or more, not ${String(smallBodyBytes)}.`)
  const pool = createThreadPool(threads)
  const callingThread = md5Hasher()
  let lastId = 0

  return {
    start() {
      lastId += 1
      return createBodyHash({ hashId: lastId, pool, smallBodyBytes, callingThread })
    },
    close: () => pool.close(),
  }
}

interface ThreadPool {
  /** The thread for a new body; undefined when the calling thread has to do it. */
  take(): HashThread | undefined
  close(): Promise<void>
}

function createThreadPool(maxThreads: number): ThreadPool {
  let living: HashThread[] = []
  let deaths = 0
  let closing: Promise<unknown> | undefined

  const startThread = (): HashThread | undefined => {
    try {
      const thread = startHashThread(() => {
        deaths += 1
        living = living.filter((other) => other !== thread)
      })
      living.push(thread)
      return thread
    } catch {
      // A host may forbid threads, or WebAssembly; that costs speed, not uploads.
      deaths = MAX_DEATHS
      return undefined
    }
  }
  /** Bodies on one thread are hashed together, so the fullest that has room; else a new one, else the emptiest. */
  const choose = (): HashThread | undefined => {
    const sound = living.filter((thread) => thread.isSound()).sort((one, other) => other.bodies - one.bodies)
    const withRoom = sound.find((thread) => thread.bodies < MOST_LANES)
    return withRoom ?? (living.length < maxThreads ? startThread() : undefined) ?? sound.at(-1)
  }

  return {
    take() {
      if (closing !== undefined || deaths >= MAX_DEATHS) return undefined
      const thread = choose()
      if (thread !== undefined) thread.bodies += 1
      return thread
    },
    async close() {
      closing ??= Promise.all(living.map((thread) => thread.close()))
      await closing
    },
  }
}

interface BodyHashOptions {
  readonly hashId: number
  readonly pool: ThreadPool
  readonly smallBodyBytes: number
  readonly callingThread: Hasher
}

function createBodyHash({ hashId, pool, smallBodyBytes, callingThread }: BodyHashOptions): BodyHash {
  /** Where the state is: nowhere before the first byte, then in one of these. */
  let local: BodyHash | undefined
  let thread: HashThread | undefined
  let isBegunThere = false
  let isOver = false

  /** Takes the body off its thread's count; returns the thread, for one last step. */
  const leaveThread = (): HashThread | undefined => {
    const left = thread
    if (left !== undefined) left.bodies -= 1
    thread = undefined
    return left
  }
  const goLocal = (): BodyHash => {
    leaveThread()
    return (local ??= callingThread.start())
  }
  /** Where the thread ends before it has taken any of the body, nothing is lost: `again` does the step here. */
  const submit = (home: HashThread, step: HashMessage[1], again: (hash: BodyHash) => unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const onDone = (digest: string | null): void => {
        isBegunThere = true
        resolve(digest)
      }
      const onLost = (error: UploadError): void => {
        if (isBegunThere) reject(error)
        // In a promise, so that what it throws rejects as well.
        else resolve(new Promise((done) => done(again(goLocal()))))
      }
      home.submit({ message: [hashId, step], onDone, onLost })
    })

  return {
    update(bytes) {
      invariant(!isOver, 'a digest that was taken or let go was given more bytes')
      if (bytes.byteLength === 0) return
      if (local === undefined && thread === undefined && bytes.byteLength >= smallBodyBytes) thread = pool.take()
      if (thread === undefined) return goLocal().update(bytes)
      return submit(thread, bytes, (hash) => hash.update(bytes)) as Promise<void>
    },
    whole(bytes) {
      invariant(!isOver && local === undefined && thread === undefined, 'a body of one piece was given more bytes')
      if (bytes.byteLength >= smallBodyBytes) return undefined
      isOver = true
      return callingThread.start().whole?.(bytes)
    },
    digest() {
      invariant(!isOver, 'a digest was asked for twice, or after it was let go')
      isOver = true
      const home = leaveThread()
      if (home === undefined) return goLocal().digest()
      return submit(home, 'digest', (hash) => hash.digest()) as Promise<string>
    },
    dispose() {
      if (isOver) return
      isOver = true
      local?.dispose?.()
      // It waits its turn behind the windows that were given before; nobody waits for it.
      leaveThread()?.submit({ message: [hashId, 'drop'], onDone: () => undefined, onLost: () => undefined })
    },
  }
}
