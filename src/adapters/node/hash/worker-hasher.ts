// Hasher on a thread of its own, so that the thread that feeds the sockets does not stop to hash. Everything is hashed:
// without a thread, after `close`, and if the thread ends before it has taken a first window, the calling thread does
// it.

import { windowMemory } from '../window-memory.ts'
import { invalid, invariant, type UploadError } from '../../../core/errors.ts'
import type { BodyHash, Hasher } from '../../../core/ports.ts'
import { COPY_BYTES, createHashMemory, type HashMemory } from './hash-memory.ts'
import { startHashThread, type HashJob, type HashThread } from './hash-thread.ts'
import { md5Hasher } from './md5-hasher.ts'
import { KERNEL_LANES } from './md5-kernel.ts'
import { createShortBodies, SHORT_BYTES } from './short-bodies.ts'

export interface WorkerHasherOptions {
  /**
   * A body whose first piece is shorter than this, bytes, is hashed by the calling thread. Default 64 KiB. Measured:
   * from 32 KiB on a thread saves the calling thread more than half of the time, but below 64 KiB it takes half as much
   * processor time again.
   */
  readonly smallBodyBytes?: number | undefined
}

export interface WorkerHasher extends Hasher {
  /**
   * Zeroed memory that this hasher's thread reads without a copy: pass it to the engine as `allocate`. It lives as long
   * as the hasher. Beyond 49 MiB in all, and where memory cannot be shared, it is plain memory, which is hashed by
   * copies.
   */
  allocate(bytes: number): Uint8Array
  /** Ends the thread. Idempotent. */
  close(): Promise<void>
}

/** Once the thread has ended unasked this often, no other is started. */
const MAX_DEATHS = 3
const SMALL_BODY_BYTES = 64 * 1024
/**
 * Starting the thread costs as much as hashing 30 MB here. Hashing this much keeps the calling thread busy for some 6
 * ms in all.
 */
const BYTES_BEFORE_THREAD = 4 * 1024 * 1024
/** A host may forget its Uplink without closing it. Nothing else would end the thread before the process. */
const forgotten = new FinalizationRegistry<HashThread>((thread) => void thread.close())

/**
 * MD5 on a thread, which is not started for the first 4 MiB of bodies whose lengths are told. One thread is enough: it
 * takes all bodies under way together, and the more there are, the quicker it is. An idle hasher does not keep the
 * process alive. If the thread dies, bodies of which it had taken a window reject with ERR_UPLOAD_INTERNAL, retryable:
 * their windows are gone, so the part must be sent again. Another thread is started, up to three in all. `close` ends
 * the thread: such bodies then reject with the same code, and later bodies are hashed by the calling thread. Throws
 * ERR_UPLOAD_INVALID_ARGUMENT for options out of range.
 */
export function workerHasher(options: WorkerHasherOptions = {}): WorkerHasher {
  const { smallBodyBytes = SMALL_BODY_BYTES } = options
  if (!(smallBodyBytes >= 0)) invalid(`smallBodyBytes must be 0 or more, not ${String(smallBodyBytes)}.`)
  const callingThread = md5Hasher()
  const shortBodies = createShortBodies()
  let memory: HashMemory | null | undefined
  let thread: HashThread | undefined
  let bytesBeforeThread = BYTES_BEFORE_THREAD
  let deaths = 0
  let isClosed = false
  let lastId = 0

  /** Made when it is first wanted; null if there can be none. */
  const sharedMemory = (): HashMemory | null => {
    if (memory !== undefined) return memory
    try {
      return (memory = createHashMemory())
    } catch {
      return (memory = null)
    }
  }
  /** Undefined if the calling thread has to do it. */
  const threadForBody = (lengthBytes: number): HashThread | undefined => {
    if (thread?.isSound() === true) return thread
    if (thread !== undefined) deaths += 1
    thread = undefined
    if (isClosed || deaths >= MAX_DEATHS) return undefined
    if (lengthBytes <= bytesBeforeThread) {
      bytesBeforeThread -= lengthBytes
      return undefined
    }
    const shared = sharedMemory()
    if (shared === null) return undefined
    try {
      thread = startHashThread(shared)
    } catch {
      // A host may forbid threads, or WebAssembly. That costs speed, not uploads.
      deaths = MAX_DEATHS
      return undefined
    }
    // The hasher and its bodies hold this function, and the thread does not.
    forgotten.register(threadForBody, thread)
    return thread
  }

  return {
    lanes: KERNEL_LANES,
    allocate: (bytes) => sharedMemory()?.allocate(bytes) ?? windowMemory(bytes),
    whole: (bytes) => (bytes.byteLength < Math.min(smallBodyBytes, SHORT_BYTES) ? shortBodies.add(bytes) : undefined),
    start(lengthBytes = Infinity) {
      lastId += 1
      return createBodyHash({
        hashId: lastId,
        threadForBody: () => threadForBody(lengthBytes),
        isShared: (bytes) => memory?.placeOf(bytes) !== undefined,
        smallBodyBytes,
        callingThread,
      })
    },
    async close() {
      isClosed = true
      await thread?.close()
    },
  }
}

interface BodyHashOptions {
  readonly hashId: number
  threadForBody(): HashThread | undefined
  isShared(bytes: Uint8Array): boolean
  readonly smallBodyBytes: number
  readonly callingThread: Hasher
}

function createBodyHash({ hashId, threadForBody, isShared, smallBodyBytes, callingThread }: BodyHashOptions): BodyHash {
  /** Where the state is: nowhere before the first byte, then in one of these two. */
  let local: BodyHash | undefined
  let thread: HashThread | undefined
  let isBegunThere = false
  let isOver = false

  const goLocal = (): BodyHash => {
    thread = undefined
    return (local ??= callingThread.start())
  }
  /** If the thread ends before it has taken any of the body, nothing is lost: `again` does the step here. */
  const submit = (home: HashThread, step: HashJob['step'], again: (hash: BodyHash) => unknown): Promise<unknown> =>
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
      home.submit({ hashId, step, onDone, onLost })
    })

  const submitPiece = (home: HashThread, piece: Uint8Array): Promise<unknown> =>
    submit(home, piece, (hash) => hash.update(piece))
  /** What has to be copied goes piece by piece. */
  const submitCopied = async (home: HashThread, bytes: Uint8Array): Promise<void> => {
    const pieces = Array.from({ length: Math.ceil(bytes.byteLength / COPY_BYTES) }, (_, index) =>
      bytes.subarray(index * COPY_BYTES, (index + 1) * COPY_BYTES),
    )
    await Promise.all(pieces.map((piece) => submitPiece(home, piece)))
  }

  return {
    update(bytes) {
      invariant(!isOver, 'a digest that was taken or let go was given more bytes')
      if (bytes.byteLength === 0) return
      if (local === undefined && thread === undefined && bytes.byteLength >= smallBodyBytes) thread = threadForBody()
      if (thread === undefined) return goLocal().update(bytes)
      return isShared(bytes) ? (submitPiece(thread, bytes) as Promise<void>) : submitCopied(thread, bytes)
    },
    digest() {
      invariant(!isOver, 'a digest was asked for twice, or after it was let go')
      isOver = true
      if (thread === undefined) return goLocal().digest()
      return submit(thread, 'digest', (hash) => hash.digest()) as Promise<string>
    },
    dispose() {
      if (isOver) return
      isOver = true
      local?.dispose?.()
      // The drop waits its turn behind the windows given before. Nobody waits for it.
      thread?.submit({ hashId, step: 'drop', onDone: () => undefined, onLost: () => undefined })
    },
  }
}
