// Hashers of a page whose work is done by one Web Worker, so that the page's own thread neither reads nor hashes.

import { UploadError, invariant } from '../../core/errors.ts'
import { onAbort } from '../../core/on-abort.ts'
import type { BodyHash, Hasher } from '../../core/ports.ts'
import type { HashCall } from './hash-messages.ts'
import { createHashWorker, type HashWorker, type WorkerLike } from './hash-worker.ts'

/** Hashes Blobs as well as bytes. */
type BlobHasher = Hasher & Required<Pick<Hasher, 'digestBlob'>>

/** What the options of a browser's createUplink take. */
export interface WorkerHashers {
  /** MD5 of every part, while it is sent. */
  readonly hasher: BlobHasher
  /** SHA-256 of whole files, for `verify: 'full'`. */
  readonly contentHasher: BlobHasher
}

/**
 * Resolves when the worker can hash. Rejects with ERR_UPLOAD_INTERNAL if it cannot be started. A worker that is lost
 * later is replaced at the next body. The bodies that it held must be sent again.
 */
export async function createWorkerHashers(start: () => WorkerLike): Promise<WorkerHashers> {
  let worker = createHashWorker(start)
  await worker.ready
  let lastBody = 0
  const begin = (algorithm: HashCall['algorithm']): ((step: HashCall['step']) => Promise<string>) => {
    if (worker.isLost()) worker = createHashWorker(start)
    const home: HashWorker = worker
    const body = (lastBody += 1)
    return (step) => home.call({ body, algorithm, step })
  }
  const hasherOf = (algorithm: HashCall['algorithm']): BlobHasher => ({
    start: () => createBodyHash(begin(algorithm)),
    digestBlob: (blob, signal) => digestBlob(begin(algorithm), blob, signal),
  })
  return { hasher: hasherOf('md5'), contentHasher: hasherOf('sha256') }
}

type Say = (step: HashCall['step']) => Promise<string>

/** Frees what the worker holds of a body. Nobody waits for it, and a lost worker holds nothing. */
function drop(say: Say): void {
  say('drop').catch(() => undefined)
}

function createBodyHash(say: Say): BodyHash {
  let isBegun = false
  let isOver = false
  return {
    async update(bytes) {
      invariant(!isOver, 'a digest that was taken or let go was given more bytes')
      if (bytes.byteLength === 0) return
      isBegun = true
      await say(bytes)
    },
    digest() {
      invariant(!isOver, 'a digest was asked for twice, or after it was let go')
      isOver = true
      return say('digest')
    },
    dispose() {
      if (isBegun && !isOver) drop(say)
      isOver = true
    },
  }
}

async function digestBlob(say: Say, blob: Blob, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted()
  let isOver = false
  const stop = (): void => {
    if (!isOver) drop(say)
    isOver = true
  }
  const leave = onAbort(signal, stop)
  try {
    await say(blob)
    signal.throwIfAborted()
    isOver = true
    return await say('digest')
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw error instanceof UploadError ? error : new UploadError('ERR_UPLOAD_INTERNAL', String(error))
  } finally {
    stop()
    leave()
  }
}
