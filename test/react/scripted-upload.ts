// An upload that does what a test says, when the test says it.

import { loudEmitter } from '../helpers/loud-emitter.ts'
import type { Upload, UploadEvents, UploadFileStatus, UploadReport, UploadState } from '../../src/flows/upload.ts'

export const file = (fileIndex: number, change: Partial<UploadFileStatus> = {}): UploadFileStatus => ({
  ...{ fileIndex, name: `swing-0${fileIndex + 1}.mp4`, bytes: 100, sentBytes: 0, confirmedBytes: 0, parts: 1 },
  ...{ state: 'pending', ...change },
})

export const report = (status: UploadReport['status']): UploadReport => ({
  ...{ status, flow: 'video', key: 'video-1', sessionId: 's-1', bytes: 200, durationMs: 5, files: [] },
  hasPossibleOrphan: false,
})

/** A promise that a test settles. */
export function deferred<Value>() {
  let resolve!: (value: Value) => void
  let reject!: (error: Error) => void
  const promise = new Promise<Value>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  return { promise, resolve, reject }
}

export interface ScriptedUpload extends Upload {
  readonly verbs: string[]
  emit<Name extends keyof UploadEvents>(name: Name, payload: UploadEvents[Name]): void
  setFiles(files: readonly UploadFileStatus[]): void
  settle(outcome: UploadReport | Error): void
  isHeard(name: keyof UploadEvents): boolean
}

export function scriptedUpload(): ScriptedUpload {
  const emitter = loudEmitter()
  const ending = deferred<UploadReport>()
  const verbs: string[] = []
  let files: readonly UploadFileStatus[] = []
  const state: UploadState = 'creating'
  return {
    ...emitter,
    ...{ flow: 'video', key: 'video-1', state, verbs },
    progress: () => ({
      ...{ sentBytes: 0, confirmedBytes: 0, totalBytes: 200, bytesPerSecond: 0, remainingMs: undefined },
      ...{ filesConfirmed: 0, filesFailed: 0, filesTotal: files.length },
    }),
    snapshot: () => report('confirmed'),
    files: () => files.map((one) => ({ ...one })),
    done: () => ending.promise,
    pause: () => void verbs.push('pause'),
    resume: () => void verbs.push('resume'),
    cancel() {
      verbs.push('cancel')
      return Promise.resolve(report('cancelled'))
    },
    discard() {
      verbs.push('discard')
      return Promise.resolve(report('cancelled'))
    },
    setFiles: (now) => (files = now),
    settle: (outcome) => (outcome instanceof Error ? ending.reject(outcome) : ending.resolve(outcome)),
  }
}
