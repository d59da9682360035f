// The face for browsers: the engine with Blobs, XMLHttpRequest and a journal in IndexedDB wired in, and what a page needs
// beside them: the files of an earlier life, a screen that stays on, a network that comes and goes.

import { tellingHiddenAnswers } from './adapters/browser/hidden-answers.ts'
import { PLACES_PER_HOST, platformLocks, sharingHosts } from './adapters/browser/host-slots.ts'
import { indexedDbJournal } from './adapters/browser/indexed-db-journal.ts'
import { keptHandles } from './adapters/browser/kept-handles.ts'
import { listenForNetwork } from './adapters/browser/network-hints.ts'
import { pageClock } from './adapters/browser/page-clock.ts'
import { createPickedFiles, handleOf, type FindSource } from './adapters/browser/picked-files.ts'
import type { MissingFile, SessionFile } from './adapters/browser/picked-files.ts'
import { createWaking } from './adapters/browser/wake-lock.ts'
import { xhrTransport } from './adapters/browser/xhr-transport.ts'
import { fetchTransport } from './adapters/web/fetch-transport.ts'
import { memoryJournal } from './adapters/web/memory-journal.ts'
import { failingAsOurs } from './core/journal/journal-failure.ts'
import { defaultPartSize } from './core/plan.ts'
import type { UploadFile, Upload } from './flows/upload.ts'
import type { ResumeOptions } from './flows/sessions.ts'
import { createUplink as createPortableUplink, type Uplink, type UplinkOptions, type UplinkPorts } from './uplink.ts'

export * from './index-names.ts'
export { sharingHosts } from './adapters/browser/host-slots.ts'
export { tellingHiddenAnswers } from './adapters/browser/hidden-answers.ts'
export { indexedDbJournal, type IndexedDbJournalOptions } from './adapters/browser/indexed-db-journal.ts'
export { pageClock } from './adapters/browser/page-clock.ts'
export { fileFromHandle, withHandle, type MissingFile, type SessionFile } from './adapters/browser/picked-files.ts'
export { drivenSessions } from './adapters/browser/session-lease.ts'
export { xhrTransport } from './adapters/browser/xhr-transport.ts'
export { learnFacts } from './adapters/web/file-facts.ts'

/** Half of what it is elsewhere: five connections need no more, and a browser asks first for the address of each part. */
const PARTS_PER_FILE = 64

/** Options of createUplink in a browser: the Uplink's own, and any port to replace. */
export interface BrowserUplinkOptions extends UplinkOptions, Partial<UplinkPorts> {
  /** Keeps the screen on while something uploads. Default true. */
  readonly keepsAwake?: boolean
}

export interface BrowserResumeOptions extends Omit<ResumeOptions, 'source'> {
  /** Finds a file again. Default, and where it gives undefined: among `files`, or by what the browser remembers. */
  readonly source?: FindSource
  /** What the person picked or dropped again; matched by name, size and time of change. Others may be among them. */
  readonly files?: readonly File[]
}

export interface BrowserUplink extends Uplink {
  /**
   * Takes a session of the journal up, after a reload for example. Rejects with ERR_UPLOAD_SOURCE_READ, and changes
   * nothing, while files are missing that are not confirmed yet; see `missingFiles`.
   */
  resume(key: string, options?: BrowserResumeOptions): Promise<Upload>
  /** What must be picked again, or allowed, before `resume` can go on; empty when nothing. */
  missingFiles(key: string, files?: readonly File[]): Promise<readonly MissingFile[]>
  /** Every file of a session, those that are missing with how they can be had again. */
  sessionFiles(key: string, files?: readonly File[]): Promise<readonly SessionFile[]>
  /** Asks the person to allow the files that the browser remembers. Call it in a click; gives what is missing still. */
  allowFiles(key: string): Promise<readonly MissingFile[]>
}

/**
 * Makes an Uplink for a browser. Without a hasher nothing is verified; `mocap-uplink/browser-hasher` has one. In a page
 * that is not secure, or may keep nothing (a frame without an origin), sessions are kept in memory only.
 * `concurrency` defaults to 5, since a browser opens six connections to an HTTP/1 host; `concurrency: 'auto'`, `limitRate` and
 * `isBackground` need the option `tuning`: `adaptiveTuning` of `mocap-uplink/tuning`.
 */
export function createUplink(options: BrowserUplinkOptions): BrowserUplink {
  const { transport, storageTransport, journal, clock = pageClock(), random, keepsAwake = true, ...own } = options
  const isKeeping = platformLocks() !== undefined && typeof indexedDB !== 'undefined'
  const kept = journal ?? (isKeeping ? indexedDbJournal({ clock }) : memoryJournal())
  const uplink = createPortableUplink(
    {
      ...own,
      // What is named and undefined is not named.
      concurrency: own.concurrency ?? PLACES_PER_HOST,
      partSizeBytes: own.partSizeBytes ?? ((bytes) => defaultPartSize(bytes, PARTS_PER_FILE)),
    },
    {
      // That it has a network the browser does not know, and what runs this without being one says nothing.
      explain: () => ({ isOffline: (navigator.onLine as boolean | undefined) === false }),
      ...own,
      transport: transport ?? tellingHiddenAnswers(fetchTransport()),
      storageTransport: storageTransport ?? transport ?? sharingHosts(tellingHiddenAnswers(pageTransport())),
      journal: kept,
      clock,
      random: random ?? Math.random,
    },
  )
  const picked = createPickedFiles(failingAsOurs(kept), isKeeping ? keptHandles() : undefined)
  const waking = keepsAwake ? createWaking() : undefined
  const stopListening = listenForNetwork(() => uplink.probeNow())
  /** What a page does beside every upload. */
  const accompany = (upload: Upload, files: readonly UploadFile[]): Upload => {
    picked.remember(
      upload,
      files.map(({ source }) => handleOf(source)),
    )
    const letSleep = waking?.hold()
    const settled = (): void => letSleep?.()
    upload.done().then(settled, settled)
    return upload
  }
  return {
    ...uplink,
    uploadVideos: (input) => accompany(uplink.uploadVideos(input), input.files),
    uploadCaptures: (input) => accompany(uplink.uploadCaptures(input), input.files),
    upload: (input) => accompany(uplink.upload(input), input.files),
    async resume(key, { files, source, ...resumeOptions } = {}) {
      const found = await picked.sources(key, files, source)
      return accompany(await uplink.resume(key, { ...resumeOptions, source: found }), [])
    },
    missingFiles: async (key, files) => (await picked.look(key, files)).missing,
    sessionFiles: async (key, files) => (await picked.look(key, files)).all,
    allowFiles: async (key) => (await picked.look(key, undefined, true)).missing,
    async close() {
      stopListening()
      await uplink.close()
    },
  }
}

/** Pages and dedicated workers have XMLHttpRequest, with live progress; other workers have fetch alone. */
function pageTransport() {
  return typeof XMLHttpRequest === 'undefined' ? fetchTransport() : xhrTransport()
}
