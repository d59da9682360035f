// What the page of the element's tests is made of: the element, registered, and an upload that does what a test says.

import '../../../src/element/define.ts'
import type { BrowserUplink } from '../../../src/browser.ts'
import type { Upload, UploadEvents, UploadFileStatus, UploadProgress, UploadState } from '../../../src/flows/upload.ts'

type Handlers = { [Name in keyof UploadEvents]?: ((event: UploadEvents[Name]) => void)[] }

/** An Uplink whose one upload stands still until the test changes a file and says so. */
function scriptedUplink(): {
  readonly uplink: BrowserUplink
  readonly files: UploadFileStatus[]
  change(fileIndex: number, to: Partial<UploadFileStatus>): void
} {
  const files: UploadFileStatus[] = []
  const handlers: Handlers = {}
  const progress = (): UploadProgress => ({
    ...{ sentBytes: 0, confirmedBytes: 0, totalBytes: files.length, bytesPerSecond: 0, remainingMs: undefined },
    ...{ filesConfirmed: 0, filesFailed: 0, filesTotal: files.length },
  })
  const upload = {
    ...{ flow: 'video', key: 'scripted', state: 'uploading' satisfies UploadState, progress, files: () => files },
    on(name: keyof UploadEvents, handler: never) {
      ;(handlers[name] ??= []).push(handler)
      return () => undefined
    },
    done: () => new Promise(() => undefined),
  } as unknown as Upload
  const uplink = {
    sessions: () => Promise.resolve([]),
    missingFiles: () => Promise.resolve([]),
    uploadVideos(input: { files: readonly { source: { name: string } }[] }) {
      input.files.forEach(({ source: { name } }, fileIndex) => {
        const counts = { bytes: 1, sentBytes: 0, confirmedBytes: 0, parts: 1 }
        files.push({ fileIndex, name, ...counts, state: 'pending' })
      })
      return upload
    },
  } as unknown as BrowserUplink
  return {
    ...{ uplink, files },
    change(fileIndex, to) {
      const status = files[fileIndex]
      if (status === undefined) return
      files[fileIndex] = { ...status, ...to }
      for (const handler of handlers.progress ?? []) handler(progress())
    },
  }
}

const elementRig = { scriptedUplink }

declare global {
  var elementRig: { scriptedUplink: typeof scriptedUplink }
  var scripted: ReturnType<typeof scriptedUplink>
  /** Names and details of the element's events, in order. */
  var told: { readonly name: string; readonly detail: unknown }[]
}
globalThis.elementRig = elementRig
globalThis.told = []
