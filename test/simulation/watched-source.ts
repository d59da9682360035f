// A source in memory that counts its open readers, may read slowly, and can change while it is sent.

import { UploadError } from '../../src/core/errors.ts'
import type { Clock, Source } from '../../src/core/ports.ts'

export interface WatchedSource extends Source {
  readonly bytes: Uint8Array
  /** Readers that are open. */
  readonly openCount: number
  /** Makes it another file under the same name from now on. */
  change(): void
}

export interface WatchedSourceOptions {
  readonly clock?: Clock
  /** Time that a read takes, ms; called for each read. Default: no time. */
  readonly readMs?: () => number
  readonly isBlob?: boolean
}

export function watchedSource(name: string, bytes: Uint8Array, options: WatchedSourceOptions = {}): WatchedSource {
  const { clock, readMs } = options
  let openCount = 0
  let isChanged = false
  const verify = (): Promise<void> =>
    isChanged
      ? Promise.reject(new UploadError('ERR_UPLOAD_SOURCE_CHANGED', 'The file has changed.'))
      : Promise.resolve()

  return {
    name,
    bytes,
    get openCount() {
      return openCount
    },
    change() {
      isChanged = true
    },
    describe: () => Promise.resolve({ sizeBytes: bytes.byteLength }),
    async open(expected) {
      await verify()
      if (expected.sizeBytes !== bytes.byteLength) throw new UploadError('ERR_UPLOAD_SOURCE_CHANGED', 'Another size.')
      openCount += 1
      let isOpen = true
      return {
        async read(into, at) {
          if (!isOpen) throw new Error('A closed reader was read from.')
          const delayMs = readMs?.() ?? 0
          if (delayMs > 0) await new Promise<void>((resolve) => clock?.setTimeout(resolve, delayMs))
          into.set(bytes.subarray(at, at + into.byteLength))
        },
        verify,
        ...(options.isBlob === true
          ? { blob: (start: number, end: number) => new Blob([bytes.slice(start, end)]) }
          : {}),
        close() {
          if (isOpen) openCount -= 1
          isOpen = false
          return Promise.resolve()
        },
      }
    },
  }
}
