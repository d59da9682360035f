// The script of the page for the element's tests: registers the element, and offers an upload that does what a test says.

import '../../../src/element/define.ts'
import { createUplink, drivenSessions, indexedDbJournal, type BrowserUplink } from '../../../src/browser.ts'
import { defineMocapUploader } from '../../../src/element.ts'
import type { Upload, UploadEvents, UploadFileStatus, UploadProgress, UploadState } from '../../../src/flows/upload.ts'

type Handlers = { [Name in keyof UploadEvents]?: ((event: UploadEvents[Name]) => void)[] }

/** An Uplink whose only upload stands still until the test changes a file. */
function scriptedUplink(): {
  readonly uplink: BrowserUplink
  readonly files: UploadFileStatus[]
  /** What its progress says of the line. */
  readonly line: { bytesPerSecond: number; remainingMs: number | undefined }
  change(fileIndex: number, to: Partial<UploadFileStatus>): void
  /** Has it try a part of a file again. */
  retry(fileIndex: number): void
  /** Brings it to a standstill in this state. */
  stop(state: UploadState): void
  /** Ends it by an error. */
  fail(): void
} {
  const files: UploadFileStatus[] = []
  const handlers: Handlers = {}
  const line: { bytesPerSecond: number; remainingMs: number | undefined } = {
    bytesPerSecond: 0,
    remainingMs: undefined,
  }
  const sum = (field: 'sentBytes' | 'confirmedBytes' | 'bytes'): number =>
    files.reduce((total, file) => total + file[field], 0)
  const countOf = (state: UploadFileStatus['state']): number => files.filter((file) => file.state === state).length
  const progress = (): UploadProgress => ({
    ...{ sentBytes: sum('sentBytes'), confirmedBytes: sum('confirmedBytes'), totalBytes: sum('bytes') },
    ...{ ...line, filesTotal: files.length },
    ...{ filesConfirmed: countOf('confirmed'), filesFailed: countOf('failed') },
  })
  let fail = (): void => undefined
  const ended = new Promise((_, reject) => (fail = () => reject(new Error('No service answers.'))))
  const upload = {
    ...{ flow: 'video', key: 'scripted', state: 'uploading' as UploadState, progress, files: () => files },
    // As in the engine, bytes without a receipt are sent again later.
    pause: () => stop('paused'),
    resume: () => void (upload.state = 'uploading'),
    cancel: () => stop('cancelling'),
    discard: () => stop('cancelling'),
    on(name: keyof UploadEvents, handler: never) {
      ;(handlers[name] ??= []).push(handler)
      return () => undefined
    },
    done: () => ended,
  }
  const stop = (state: UploadState): void => {
    upload.state = state
    files.forEach(({ confirmedBytes }, fileIndex) => change(fileIndex, { sentBytes: confirmedBytes }))
  }
  const retry = (fileIndex: number): void => {
    for (const handler of handlers.retry ?? []) handler({ fileIndex } as UploadEvents['retry'])
  }
  const change = (fileIndex: number, to: Partial<UploadFileStatus>): void => {
    const status = files[fileIndex]
    if (status === undefined) return
    files[fileIndex] = { ...status, ...to }
    for (const handler of handlers.progress ?? []) handler(progress())
  }
  const uplink = {
    sessions: () => Promise.resolve([]),
    missingFiles: () => Promise.resolve([]),
    sessionFiles: () => Promise.resolve([]),
    uploadVideos(input: { files: readonly { source: { name: string; size: number } }[] }) {
      input.files.forEach(({ source: { name, size } }, fileIndex) => {
        const counts = { bytes: size, sentBytes: 0, confirmedBytes: 0, parts: 1 }
        files.push({ fileIndex, name, ...counts, state: 'pending' })
      })
      return upload as unknown as Upload
    },
  } as unknown as BrowserUplink
  return { uplink, files, line, change, retry, stop, fail: () => fail() }
}

/** Makes an element with such an Uplink, which is `scripted` from then on, the only thing on the page. */
function showScripted(): {
  readonly element: HTMLElementTagNameMap['mocap-uploader']
  readonly list: HTMLUListElement
} {
  const element = document.createElement('mocap-uploader')
  globalThis.scripted = scriptedUplink()
  element.uplink = globalThis.scripted.uplink
  document.body.replaceChildren(element)
  return { element, list: element.shadowRoot!.querySelector('ul')! }
}

/** An Uplink whose journal belongs to this person. */
function uplinkOf(person: string): BrowserUplink {
  const journal = indexedDbJournal({ name: `uploads of ${person}` })
  return createUplink({ baseUrl: location.origin, credentials: { apiKey: 'own' }, journal })
}

/** Has the element try each part once, so that a failure that may pass ends its file at once. */
function tryOnce(): void {
  const element = document.querySelector('mocap-uploader')!
  const baseUrl = element.getAttribute('base-url')!
  element.uplink = createUplink({ baseUrl, credentials: element.credentials!, retries: 1 })
}

/**
 * Asks what an element asks when it looks for earlier uploads. One that was added before is answered before, and draws in the next
 * frame.
 */
async function look(): Promise<void> {
  const element = document.querySelector('mocap-uploader')!
  const uplink = createUplink({ baseUrl: element.getAttribute('base-url')!, credentials: element.credentials! })
  await drivenSessions()
  for (const { key } of await uplink.sessions()) await uplink.sessionFiles(key)
  await new Promise(requestAnimationFrame)
}

const elementRig = { scriptedUplink, showScripted, uplinkOf, tryOnce, look, defineMocapUploader }

declare global {
  var elementRig: {
    scriptedUplink: typeof scriptedUplink
    showScripted: typeof showScripted
    uplinkOf: typeof uplinkOf
    tryOnce: typeof tryOnce
    look: typeof look
    defineMocapUploader: typeof defineMocapUploader
  }
  var scripted: ReturnType<typeof scriptedUplink>
  /** The element's events in order, with names and details. */
  var told: { readonly name: string; readonly detail: unknown }[]
}
globalThis.elementRig = elementRig
globalThis.told = []
