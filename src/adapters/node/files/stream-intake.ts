// Reads a stream of any kind once into a spool file, at the disk's pace, and lets readers wait for its bytes.

import { isUploadError, UploadError } from '../../../core/errors.ts'
import { sourceChanged } from '../../web/source-identity.ts'
import { createSpool, type Spool } from './spool.ts'
import { pullFrom, type StreamInput } from './stream-pull.ts'

export interface StreamIntakeOptions {
  readonly name: string
  readonly stream: StreamInput
  /** How long the stream says it is. Any other length is a failure. */
  readonly announcedBytes: number | undefined
  readonly tempDir: string | undefined
}

export interface StreamIntake {
  readonly receivedBytes: number
  /** True once the stream has ended as it should. */
  readonly isEnded: boolean
  /** Begins to read the stream. Idempotent. */
  start(): void
  /**
   * Resolves once `isReached` returns true, which is asked at each change. Rejects with the stream's failure if there
   * is one.
   */
  until(isReached: () => boolean): Promise<void>
  /** Makes all who wait ask again. */
  readonly wake: () => void
  /** Reads bytes that were received, and resolves with their number. */
  read(into: Uint8Array, at: number): Promise<number>
  /** Stops the stream, rejects all waits, and deletes the spool file. Idempotent. */
  dispose(): Promise<void>
}

/** Makes an intake. Before `start` nothing is pulled and no file is made. */
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
      // It may have failed while its file was being made, and a stopped stream must not be pulled any more.
      const bytes = failure === undefined ? await source.pull() : undefined
      if (failure !== undefined) return
      if (bytes === undefined) break
      if (announcedBytes !== undefined && receivedBytes + bytes.byteLength > announcedBytes) {
        throw wrongLength(name, announcedBytes, `at least ${receivedBytes + bytes.byteLength}`)
      }
      // The next piece is not asked for before this one is written, so the disk sets the pace.
      await spool.append(bytes)
      receivedBytes += bytes.byteLength
      wake()
    }
    if (announcedBytes !== undefined && receivedBytes < announcedBytes) {
      throw wrongLength(name, announcedBytes, `only ${receivedBytes}`)
    }
    if (announcedBytes === undefined && receivedBytes === 0 && source.wasRead) throw readBefore(name)
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
      // A failure here is kept for those who ask. If the removal fails too, the exit of the process removes the file.
      takeIn(spooling).catch((error: unknown) => fail(asFinal(error, name)).catch(() => undefined))
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

/** A server's body parser may have read the request, for example: what is left would be taken for a file without bytes. */
function readBefore(name: string): UploadError {
  const message = `The stream "${name}" gave nothing: it was read before. Pass a stream that nobody has read.`
  return new UploadError('ERR_UPLOAD_SOURCE_READ', message, { details: { location: name } })
}

/** What was lost of a stream does not come back, also where the disk that it was to be kept on does. */
function asFinal(error: unknown, name: string): UploadError {
  if (!isUploadError(error)) {
    return new UploadError('ERR_UPLOAD_SOURCE_READ', `The stream "${name}" cannot be read.`, { cause: error })
  }
  const { code, message, details } = error
  return error.isRetryable ? new UploadError(code, message, { cause: error, details }) : error
}
