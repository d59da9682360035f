// One thread that hashes. It takes steps and answers those of each body in order. When it ends, every step without an
// answer is given back as lost, in order. It keeps the process alive only while a step is under way.

import { Worker } from 'node:worker_threads'

import { UploadError } from '../../../core/errors.ts'
import { COPIES, copyAt, type HashMemory, type Place } from './hash-memory.ts'
import { HASH_PROGRAM, hashWorkerData, type HashAnswer, type HashMessage } from './worker-hash-program.ts'

/**
 * One step of one body: bytes in the hasher's memory, or at most COPY_BYTES from elsewhere; a request for its digest;
 * or word that the body will never be finished. The bytes must not change until `onDone` or `onLost` is called. One of
 * them always is.
 */
export interface HashJob {
  readonly hashId: number
  readonly step: Uint8Array | 'digest' | 'drop'
  readonly onDone: (digest: string | null) => void
  readonly onLost: (error: UploadError) => void
}

export interface HashThread {
  /** False from the first sign of failure, and once closed: nothing new should begin here. */
  readonly isSound: () => boolean
  submit(job: HashJob): void
  /** Ends the thread at once. What is under way is lost. Idempotent. Settles when the thread is gone. */
  close(): Promise<void>
}

/** Starts a thread. Throws if the process may have no threads, or has no WebAssembly. */
export function startHashThread(memory: HashMemory): HashThread {
  // A host's flags, its preloads (also from NODE_OPTIONS) and the secrets of its environment are not for this thread.
  const worker = new Worker(HASH_PROGRAM, {
    eval: true,
    execArgv: [],
    env: {},
    name: 'mocap-uplink md5',
    workerData: hashWorkerData(memory.memory),
  })
  const waiting: HashJob[] = []
  const posted: { readonly job: HashJob; readonly copy: number | undefined }[] = []
  const freeCopies = Array.from({ length: COPIES }, (_, index) => index)
  let isSound = true
  let isClosing = false
  let lossError: UploadError | undefined
  let cause: unknown

  const post = (): void => {
    // A dying thread takes nothing any more, and its copies belong to the next one.
    for (let job = waiting[0]; isSound && job !== undefined; job = waiting[0]) {
      const { hashId, step } = job
      const known = typeof step === 'string' ? step : memory.placeOf(step)
      const copy = known === undefined ? freeCopies.pop() : undefined
      if (known === undefined && copy === undefined) return
      waiting.shift()
      posted.push({ job, copy })
      worker.postMessage([hashId, known ?? copied(step as Uint8Array, copy as number)] satisfies HashMessage)
    }
  }
  const copied = (bytes: Uint8Array, copy: number): Place => {
    new Uint8Array(memory.memory.buffer).set(bytes, copyAt(copy))
    return [copyAt(copy), bytes.byteLength]
  }
  worker.on('message', ([hashId, digest]: HashAnswer) => {
    const index = posted.findIndex(({ job }) => job.hashId === hashId)
    const [answered] = index < 0 ? [] : posted.splice(index, 1)
    if (answered === undefined) return
    if (answered.copy !== undefined) freeCopies.push(answered.copy)
    post()
    if (posted.length === 0) worker.unref()
    answered.job.onDone(digest)
  })
  worker.on('error', (error: unknown) => {
    isSound = false
    cause = error
  })
  worker.on('exit', () => {
    isSound = false
    lossError = isClosing ? closedError() : diedError(cause)
    const lost = [...posted.splice(0).map(({ job }) => job), ...waiting.splice(0)]
    for (const job of lost) job.onLost(lossError)
  })

  return {
    isSound: () => isSound,
    submit(job) {
      if (lossError !== undefined) {
        job.onLost(lossError)
        return
      }
      if (posted.length === 0) worker.ref()
      waiting.push(job)
      post()
    },
    async close() {
      isClosing = true
      isSound = false
      await worker.terminate()
    },
  }
}

function closedError(): UploadError {
  return new UploadError('ERR_UPLOAD_INTERNAL', 'The hasher was closed while it hashed a body.')
}

function diedError(cause: unknown): UploadError {
  const message = 'The thread that hashed this body ended, and what it knew of the body is lost. Send the part again.'
  return new UploadError('ERR_UPLOAD_INTERNAL', message, {
    isRetryable: true,
    ...(cause === undefined ? {} : { cause }),
  })
}
