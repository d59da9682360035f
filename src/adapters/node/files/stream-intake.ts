// Takes one pass over a stream of any make into a spool file, at the disk's pace, and lets readers wait for its bytes.

import { isUploadError, UploadError } from '../../../core/errors.ts'
import { sourceChanged } from '../../web/source-identity.ts'
import { createSpool, type Spool } from './spool.ts'
import { pullFrom, type StreamInput } from './stream-pull.ts'

export interface StreamIntakeOptions {
  readonly name: string
  readonly stream: StreamInput
  /** How long the stream says it is; another length fails it. */
  readonly announcedBytes: number | undefined
  readonly tempDir: string | undefined
}

export interface StreamIntake {
  readonly receivedBytes: number
  /** True when the stream has ended as it should. */
  readonly isEnded: boolean
  /** Begins to take the stream in. Idempotent. */
  start(): void
  /** Settles when `isReached` says so, asked at each change; rejects with the stream's failure when there is one. */
  until(isReached: () => boolean): Promise<void>
  /** Asks all who wait again. */
  readonly wake: () => void
  /** Bytes that have been received; says how many there were. */
  read(into: Uint8Array, at: number): Promise<number>
  /** Stops the stream, refuses those who wait, and deletes the spool file. Idempotent. */
  dispose(): Promise<void>
}

/** Makes an intake; nothing is pulled and no file is made before `start`. */
export function createStreamIntake(options: StreamIntakeOptions): StreamIntake {
  const { name, announcedBytes } = options
  const source = pullFrom(options.stream, name)
  const waiting = new Set<() => void>()
  let spooling: Promise<Spool> | undefined
  let receivedBytes = 0
  let isEnded = false
  let failure: UploadError | undefined

  const wake = (): void => {
    for (const ask of [...waiting]) ask()
  }

  async function fail(error: UploadError): Promise<void> {
    failure ??= error
    source.stop()
    wake()
    const spool = await spooling?.catch(() => undefined)
    await spool?.remove()
  }

  async function takeIn(ready: Promise<Spool>): Promise<void> {
    const spool = await ready
    for (;;) {
      // It may have failed while its file was made, and what was stopped is not pulled at any more.
      const bytes = failure === undefined ? await source.pull() : undefined
      if (failure !== undefined) return
      if (bytes === undefined) break
      if (announcedBytes !== undefined && receivedBytes + bytes.byteLength > announcedBytes) {
        throw wrongLength(name, announcedBytes, `at least ${receivedBytes + bytes.byteLength}`)
      }
      // The next piece is not asked for before this one is written: the disk sets the pace.
      await spool.append(bytes)
      receivedBytes += bytes.byteLength
      wake()
    }
    if (announcedBytes !== undefined && receivedBytes < announcedBytes) {
      throw wrongLength(name, announcedBytes, `only ${receivedBytes}`)
    }
    isEnded = true
    wake()
  }

  return {
    get receivedBytes() {
      return receivedBytes
    },
    get isEnded() {
      return isEnded
    },
    start() {
      if (spooling !== undefined || failure !== undefined) return
      spooling = createSpool(options.tempDir)
      // What fails here is kept for those who ask; a removal that fails leaves a file that the process's exit takes.
      takeIn(spooling).catch((error: unknown) => fail(asUploadError(error, name)).catch(() => undefined))
    },
    until(isReached) {
      return new Promise((resolve, reject) => {
        const ask = (): void => {
          if (failure === undefined && !isReached()) return
          waiting.delete(ask)
          if (failure === undefined) resolve()
          else reject(failure)
        }
        waiting.add(ask)
        ask()
      })
    },
    wake,
    async read(into, at) {
      if (failure !== undefined) throw failure
      const spool = await spooling
      return (await spool?.read(into, at)) ?? 0
    },
    dispose() {
      return fail(
        new UploadError('ERR_UPLOAD_SOURCE_READ', `The stream "${name}" was let go: its source has been disposed of.`),
      )
    },
  }
}

function wrongLength(name: string, announcedBytes: number, received: string): UploadError {
  return sourceChanged(name, `the stream was announced with ${announcedBytes} bytes and gave ${received}`)
}

function asUploadError(error: unknown, name: string): UploadError {
  if (isUploadError(error)) return error
  return new UploadError('ERR_UPLOAD_SOURCE_READ', `The stream "${name}" cannot be read.`, { cause: error })
}
