// Lists with uploads that a test drives by hand.

import type { BrowserUplink } from '../../src/browser.ts'
import { chosenFile, type ChosenFile } from '../../src/element/chosen-files.ts'
import type { Upload, UploadFileStatus, UploadReport } from '../../src/flows/upload.ts'

export const ignore = (): void => undefined
export const refuse = (): Promise<never> => Promise.reject(new Error('There is nothing to take up.'))
export const neverBegin = (): never => {
  throw new Error('Nothing is begun.')
}

/** An Uplink whose journal has these sessions, all files of which the browser finds again. */
export function keeping(...keys: readonly string[]): BrowserUplink {
  // In a later task, as a database of a browser answers.
  const sessions = () => new Promise((resolve) => setTimeout(() => resolve(keys.map((key) => ({ key })))))
  return { sessions, allowFiles: () => Promise.resolve([]) } as unknown as BrowserUplink
}
export const UPLINK = keeping()

/** An upload as the list sees it: each file is what the test last said that it is; `end` is its end. */
export function driven(key: string, ...bytes: number[]) {
  let end: (report: Partial<UploadReport>) => void = ignore
  const done = new Promise<UploadReport>((resolve) => (end = (report) => resolve(report as UploadReport)))
  const statuses = bytes.map((each, fileIndex): UploadFileStatus => {
    const name = `swing-0${String(fileIndex + 1)}.mp4`
    return { fileIndex, name, bytes: each, parts: 1, sentBytes: 0, confirmedBytes: 0, state: 'pending' }
  })
  const sum = (field: 'bytes' | 'sentBytes'): number => statuses.reduce((total, status) => total + status[field], 0)
  const count = (of: string): number => statuses.filter(({ state }) => state === of).length
  const progress = () => {
    const [sentBytes, totalBytes] = [sum('sentBytes'), sum('bytes')]
    const files = { filesTotal: bytes.length, filesConfirmed: count('confirmed'), filesFailed: count('failed') }
    return { ...files, sentBytes, confirmedBytes: sentBytes, totalBytes, bytesPerSecond: 0, remainingMs: undefined }
  }
  let tell: (status: UploadFileStatus) => void = ignore
  const on = (name: string, handler: typeof tell): void => {
    if (name === 'file') tell = handler
  }
  const verbs = { pause: ignore, resume: ignore }
  const upload = { ...{ key, state: 'uploading', on, done: () => done, files: () => statuses }, ...verbs, progress }
  const say = (fileIndex: number, state: UploadFileStatus['state'], sentBytes: number): void => {
    const error = { code: 'ERR_UPLOAD_SOURCE_CHANGED', message: 'It has changed.' } as const
    tell(
      Object.assign(
        statuses[fileIndex]!,
        { state, sentBytes, confirmedBytes: sentBytes },
        state === 'failed' ? { error } : {},
      ),
    )
  }
  return { upload: upload as unknown as Upload, say, end: () => end({ status: 'partial', files: [] }) }
}

export function chosen(name: string, bytes: number, lastModified = 7): ChosenFile {
  return chosenFile(new File([new Uint8Array(bytes)], name, { lastModified }))
}
