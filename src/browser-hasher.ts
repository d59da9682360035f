// The hashers of pages. They stand apart from the engine because they bring a worker and WASM. With them parts are
// verified, and a file that is picked again is compared with what was sent.

import { createWorkerHashers, type WorkerHashers } from './adapters/browser/worker-hasher.ts'
import { isUploadError, UploadError } from './core/errors.ts'

export type { WorkerHashers } from './adapters/browser/worker-hasher.ts'

export interface StartHashersOptions {
  /**
   * Where `mocap-uplink/browser-hash-worker` is served, on the page's own origin. Default: beside this module, where
   * bundlers that know `new Worker(new URL(…))` put it. A page with Trusted Types must give a TrustedScriptURL.
   */
  readonly workerUrl?: string | URL | { toJSON(): string } | undefined
  /**
   * Called once with the reason if there are no hashers, in which case nothing will be verified. Default:
   * `reportError`, as if nobody had caught the error, and nothing where there is no such function, as on a server.
   */
  readonly onUnavailable?: ((error: UploadError) => void) | undefined
}

/**
 * Starts the worker, and resolves with options for the browser's `createUplink({ …, ...(await startHashers()) })`. If
 * the page cannot have a worker, it calls `onUnavailable` and resolves with no options. A Content-Security-Policy must
 * allow `worker-src 'self'` and `script-src 'wasm-unsafe-eval'`, also for the worker's script. Never rejects.
 */
export async function startHashers(options: StartHashersOptions = {}): Promise<Partial<WorkerHashers>> {
  const { reportError } = globalThis as Partial<Pick<typeof globalThis, 'reportError'>>
  const { workerUrl, onUnavailable = reportError } = options
  try {
    return await createWorkerHashers(() =>
      workerUrl === undefined
        ? new Worker(new URL('./browser-hash-worker.js', import.meta.url), { type: 'module' })
        : new Worker(workerUrl as string, { type: 'module' }),
    )
  } catch (error) {
    const words = isUploadError(error) ? error.message : String(error)
    const message = `Nothing will be verified, because no hashing worker can be started (${words}). Its script must be served (workerUrl says where), and the page's Content-Security-Policy must allow worker-src 'self' and script-src 'wasm-unsafe-eval'.`
    onUnavailable?.(new UploadError('ERR_UPLOAD_INTERNAL', message, { cause: error }))
    return {}
  }
}
