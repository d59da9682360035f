// A hashing worker as its page sees it: calls that settle with its replies, and that all reject when the worker is
// lost.

import { UploadError } from '../../core/errors.ts'
import type { HashCall, HashReply } from './hash-messages.ts'

/** The parts of a Worker that are used. */
export type WorkerLike = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>

export interface HashWorker {
  /**
   * Settles when the worker can hash. Rejects with ERR_UPLOAD_INTERNAL if the page's policy or the platform forbids it.
   */
  readonly ready: Promise<void>
  isLost(): boolean
  /**
   * Resolves with the digest if one is asked for, else with ''. Rejects with ERR_UPLOAD_SOURCE_READ for a Blob that
   * cannot be read. Rejects with ERR_UPLOAD_INTERNAL, retryable, when the worker is lost, and with it what it knew of
   * the body.
   */
  call(call: Omit<HashCall, 'call'>): Promise<string>
  /** Ends the worker. Idempotent. */
  close(): void
}

interface Waiting {
  readonly resolve: (digest: string) => void
  readonly reject: (error: UploadError) => void
}

/** Makes a hashing worker. `start` makes its Worker and may throw. */
export function createHashWorker(start: () => WorkerLike): HashWorker {
  const waiting = new Map<number, Waiting>()
  let lastCall = 0
  let lost: UploadError | undefined
  let worker: WorkerLike | undefined

  const lose = (words: string): void => {
    lost ??= new UploadError('ERR_UPLOAD_INTERNAL', `The hashing worker ended: ${words}`, { isRetryable: true })
    worker?.terminate()
    for (const { reject } of waiting.values()) reject(lost)
    waiting.clear()
  }
  const waitFor = (call: number): Promise<string> =>
    new Promise((resolve, reject) => waiting.set(call, { resolve, reject }))
  const settle = ({ call, digest = '', problem }: HashReply): void => {
    const { resolve, reject } = waiting.get(call) ?? {}
    waiting.delete(call)
    if (problem === undefined) resolve?.(digest)
    else if (call === 0) reject?.(new UploadError('ERR_UPLOAD_INTERNAL', problem))
    else reject?.(new UploadError('ERR_UPLOAD_SOURCE_READ', `It could not be read: ${problem}`))
  }

  const ready = waitFor(0).then(() => undefined)
  ready.catch(() => undefined)
  try {
    worker = start()
    worker.onmessage = ({ data }: { readonly data: HashReply }) => settle(data)
    // Browsers give no message if they could not load the script, or if a policy forbids it.
    worker.onerror = (event) => lose(event.message || 'its script could not be loaded')
  } catch (error) {
    lose(String(error))
  }

  return {
    ready,
    isLost: () => lost !== undefined,
    call(asked) {
      if (lost !== undefined) return Promise.reject(lost)
      lastCall += 1
      const reply = waitFor(lastCall)
      const { step } = asked
      // Copied first: to clone a window would clone all of the memory that it is part of.
      const own = step instanceof Uint8Array ? step.slice() : step
      worker?.postMessage({ ...asked, call: lastCall, step: own }, own instanceof Uint8Array ? [own.buffer] : [])
      return reply
    },
    close: () => lose('it was closed'),
  }
}
