// One thread that hashes: takes steps, answers those of each body in their order, and when it ends, every step that was
// not answered is given back as lost, in order. It holds the process only while a step is under way.

import { Worker } from 'node:worker_threads'

import { UploadError } from '../../../core/errors.ts'
import { HASH_PROGRAM, hashWorkerData, type HashAnswer, type HashMessage } from './worker-hash-program.ts'

/** One step of one body. A window must not change until `onDone` or `onLost` was called; one of them always is. */
export interface HashJob {
  readonly message: HashMessage
  readonly onDone: (digest: string | null) => void
  readonly onLost: (error: UploadError) => void
}

export interface HashThread {
  /** False from its first sign of failure, and once closed: nothing new should begin here. */
  readonly isSound: () => boolean
  submit(job: HashJob): void
  /** Ends it at once; what is under way is lost. Idempotent; settles when the thread is gone. */
  close(): Promise<void>
}

/**
 * Bytes that one thread is given ahead, two windows of 256 KiB for each of sixteen bodies: enough to ride out a busy turn
 * of the caller, and the bound on copies of plain memory.
 */
const MAX_AHEAD_BYTES = 8 * 1024 * 1024

/** Starts one; throws when the process may have no threads, or no WebAssembly. `onDied` hears once of an end that `close` did not ask for. */
export function startHashThread(onDied: () => void): HashThread {
  // A host's flags, its preloads (NODE_OPTIONS too) and the secrets of its environment are not for this thread.
  const worker = new Worker(HASH_PROGRAM, {
    eval: true,
    execArgv: [],
    env: {},
    name: 'mocap-uplink md5',
    workerData: hashWorkerData(),
  })
  const waiting: HashJob[] = []
  const posted: { readonly job: HashJob; readonly copy: Uint8Array | undefined }[] = []
  const copies = createCopies()
  let aheadBytes = 0
  let isSound = true
  let isClosing = false
  let lossError: UploadError | undefined
  let cause: unknown

  const post = (): void => {
    for (let job = waiting[0]; job !== undefined && mayGo(job); job = waiting[0]) {
      waiting.shift()
      aheadBytes += lengthOf(job)
      const [hashId, step] = job.message
      const copy = typeof step === 'string' || step.buffer instanceof SharedArrayBuffer ? undefined : copies.of(step)
      posted.push({ job, copy })
      worker.postMessage([hashId, copy ?? step] satisfies HashMessage)
    }
  }
  const mayGo = (job: HashJob): boolean => posted.length === 0 || aheadBytes + lengthOf(job) <= MAX_AHEAD_BYTES
  worker.on('message', ([hashId, digest]: HashAnswer) => {
    const answered = posted.find(({ job }) => job.message[0] === hashId)
    if (answered === undefined) return
    posted.splice(posted.indexOf(answered), 1)
    const { job, copy } = answered
    if (copy !== undefined) copies.free(copy)
    aheadBytes -= lengthOf(job)
    post()
    if (posted.length === 0) worker.unref()
    job.onDone(digest)
  })
  worker.on('error', (error: unknown) => {
    isSound = false
    cause = error
  })
  worker.on('exit', () => {
    isSound = false
    lossError = isClosing ? closedError() : diedError(cause)
    const lost = [...posted.splice(0).map(({ job }) => job), ...waiting.splice(0)]
    if (!isClosing) onDied()
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

function lengthOf({ message }: HashJob): number {
  return typeof message[1] === 'string' ? 0 : message[1].byteLength
}

/**
 * Copies of plain memory, into which a thread cannot look, in shared memory that is used again: with new memory for
 * every window an upload took a tenth more processor time and 70 MB more memory.
 */
function createCopies(): { of(bytes: Uint8Array): Uint8Array; free(copy: Uint8Array): void } {
  const spare: ArrayBufferLike[] = []
  let spareBytes = 0
  return {
    of(bytes) {
      let memory = spare.pop()
      spareBytes -= memory?.byteLength ?? 0
      if (memory === undefined || memory.byteLength < bytes.byteLength) memory = new SharedArrayBuffer(bytes.byteLength)
      const copy = new Uint8Array(memory, 0, bytes.byteLength)
      copy.set(bytes)
      return copy
    },
    free({ buffer }) {
      if (spareBytes + buffer.byteLength > MAX_AHEAD_BYTES) return
      spare.push(buffer)
      spareBytes += buffer.byteLength
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
