// A source of a simulated life. Reads take time, handles are counted, and the file may change.

import { UploadError } from '../../../src/core/errors.ts'
import type { Reader, Source } from '../../../src/core/ports.ts'
import { never, type Life } from './life.ts'
import type { Memory } from './memory.ts'
import type { NightFile } from './night.ts'

/** A file on the disk, which the sources of all lives read. */
export interface FileState {
  readonly file: NightFile
  isChanged: boolean
  /** It cannot be read now. */
  isDenied?: boolean
}

export interface Handles {
  openCount: number
}

export interface LifeSourceOptions {
  readonly life: Life
  readonly readMs: number
  readonly handles: Handles
  readonly memory?: Pick<Memory, 'beginRead' | 'endRead'>
  /** It opens, and is read, without waiting. Default false. */
  readonly isQuick?: boolean
}

export function lifeSource(state: FileState, options: LifeSourceOptions): Source {
  const { life, readMs, handles, memory, isQuick = false } = options
  const { name, bytes } = state.file
  const modifiedAtMs = (): number => (state.isChanged ? 2_000 : 1_000)
  const changed = (): UploadError => new UploadError('ERR_UPLOAD_SOURCE_CHANGED', `${name} has changed.`)
  const denied = (): UploadError => new UploadError('ERR_UPLOAD_SOURCE_READ', `${name} cannot be read.`)
  return {
    name,
    location: `/night/${name}`,
    describe() {
      if (life.dies()) return never()
      if (state.isDenied === true) return Promise.reject(denied())
      return Promise.resolve({ sizeBytes: bytes.byteLength, modifiedAtMs: modifiedAtMs() })
    },
    open(expected) {
      if (life.dies()) return never()
      if (state.isDenied === true) return Promise.reject(denied())
      if (expected.modifiedAtMs !== modifiedAtMs()) return Promise.reject(changed())
      handles.openCount += 1
      let isOpen = true
      const fill = (into: Uint8Array, at: number): void => {
        if (!isOpen) throw new Error('A closed reader was read from.')
        if (state.isDenied === true) throw denied()
        into.set(bytes.subarray(at, at + into.byteLength))
        // Another file under the same name has other bytes.
        if (state.isChanged) into.fill(0xee)
      }
      const reader: Reader = {
        read(into, at) {
          if (life.dies()) return never()
          memory?.beginRead(into)
          if (!isQuick)
            return life.pass(readMs).then(() => {
              memory?.endRead(into)
              fill(into, at)
            })
          memory?.endRead(into)
          fill(into, at)
          return undefined
        },
        verify() {
          if (expected.modifiedAtMs !== modifiedAtMs()) return Promise.reject(changed())
          return isQuick ? undefined : Promise.resolve()
        },
        close() {
          if (isOpen) handles.openCount -= 1
          isOpen = false
          return Promise.resolve()
        },
      }
      return isQuick ? reader : Promise.resolve(reader)
    },
  }
}
