// The entry point for browsers: the engine with Blobs, XMLHttpRequest and an IndexedDB journal wired in, and what else a page
// needs: files from before a reload, a screen that stays on, and a network that comes and goes.

import { tellingHiddenAnswers } from './adapters/browser/hidden-answers.ts'
import { PLACES_PER_HOST, platformLocks, sharingHosts } from './adapters/browser/host-slots.ts'
import { indexedDbJournal, type IndexedDbJournal } from './adapters/browser/indexed-db-journal.ts'
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
import type { UploadFile } from './flows/upload-definition.ts'
import type { Upload } from './flows/upload.ts'
import type { ResumeOptions } from './flows/sessions.ts'
import type { OwnPorts } from './uplink-options.ts'
import { createUplink as createPortableUplink, type Uplink, type UplinkOptions } from './uplink.ts'

export * from './index-names.ts'
export { sharingHosts } from './adapters/browser/host-slots.ts'
export { tellingHiddenAnswers } from './adapters/browser/hidden-answers.ts'
export {
  indexedDbJournal,
  type IndexedDbJournal,
  type IndexedDbJournalOptions,
} from './adapters/browser/indexed-db-journal.ts'
export { pageClock } from './adapters/browser/page-clock.ts'
export { fileFromHandle, withHandle } from './adapters/browser/picked-files.ts'
export type { FindSource, MissingFile, SessionFile } from './adapters/browser/picked-files.ts'
export { drivenSessions } from './adapters/browser/session-lease.ts'
export { xhrTransport } from './adapters/browser/xhr-transport.ts'
export { learnFacts } from './adapters/web/file-facts.ts'

/** Half of the default elsewhere: five connections need no more, and a browser sends a preflight to each part's address first. */
const PARTS_PER_FILE = 64

/** Options of createUplink in a browser: the Uplink's own, and any port you want to replace. */
export interface BrowserUplinkOptions extends UplinkOptions, OwnPorts {
  /** Keeps the screen on during uploads, not while they are paused. Default true. */
  readonly keepsAwake?: boolean | undefined
}

/** What a journal cannot hold, and where the files are. */
export interface BrowserResumeOptions extends Omit<ResumeOptions, 'source'> {
  /**
   * Finds a file again. By default, or where it returns undefined, files are looked up in `files`, then in what the browser remembers.
   */
  readonly source?: FindSource | undefined
  /** Files the person picked or dropped again. Matched by name, size and modification time; extra files are ignored. */
  readonly files?: readonly File[] | undefined
}

/** An Uplink with what a page needs to find its files again after a reload. */
export interface BrowserUplink extends Uplink {
  /**
   * Continues a session of the journal, after a reload for example. Rejects with ERR_UPLOAD_SOURCE_READ and changes nothing
   * while files are missing that are not confirmed yet; see `missingFiles`.
   */
  resume(key: string, options?: BrowserResumeOptions): Promise<Upload>
  /** Files that must be picked again or allowed before `resume` can go on; empty when there are none. */
  missingFiles(key: string, files?: readonly File[]): Promise<readonly MissingFile[]>
  /** Every file of a session. For each missing one it says how to get it back. */
  sessionFiles(key: string, files?: readonly File[]): Promise<readonly SessionFile[]>
  /** Asks the person to allow access to the files the browser remembers. Call it from a click. Returns the files still missing. */
  allowFiles(key: string): Promise<readonly MissingFile[]>
}

/**
 * Creates an Uplink for a browser. Nothing is verified without a hasher; `mocap-uplink/browser-hasher` provides one. Sessions
 * are kept in memory only when the page is not secure or has no storage, such as a frame without an origin. A worker cannot see
 * that its page may store nothing, where reading `localStorage` throws: give `journal: memoryJournal()` there. `concurrency`
 * defaults to 5, since a browser opens six connections to an HTTP/1 host; with `isBackground` to `auto`, which is four at most.
 * `concurrency: 'auto'`, `limitRate` and `isBackground` need the option `tuning`: `adaptiveTuning` from `mocap-uplink/tuning`.
 */
export function createUplink(options: BrowserUplinkOptions): BrowserUplink {
  const {
    transport,
    storageTransport,
    journal,
    clock = pageClock(),
    random,
    explain,
    keepsAwake = true,
    ...own
  } = options
  const isKeeping = platformLocks() && typeof indexedDB !== 'undefined'
  const kept = journal ?? (isKeeping ? indexedDbJournal({ clock }) : memoryJournal())
  const uplink = createPortableUplink(
    {
      ...own,
      // An option that is present but undefined counts as absent.
      concurrency: own.concurrency ?? (own.isBackground ? 'auto' : PLACES_PER_HOST),
      partSizeBytes: own.partSizeBytes ?? ((bytes) => defaultPartSize(bytes, PARTS_PER_FILE)),
    },
    {
      ...own,
      // A browser knows when it has no network, not when it has one. Other runtimes leave `onLine` undefined, which says nothing.
      explain: explain ?? (() => ({ isOffline: (navigator.onLine as boolean | undefined) === false })),
      transport: transport ?? tellingHiddenAnswers(fetchTransport()),
      storageTransport: storageTransport ?? transport ?? sharingHosts(tellingHiddenAnswers(pageTransport())),
      journal: kept,
      clock,
      random: random ?? Math.random,
    },
  )
  const { database } = kept as Partial<IndexedDbJournal>
  const picked = createPickedFiles(failingAsOurs(kept), isKeeping ? keptHandles(database) : undefined)
  const waking = keepsAwake ? createWaking() : undefined
  const stopListening = listenForNetwork(uplink)
  /** What a page does alongside every upload. */
  const accompany = (upload: Upload, files: readonly UploadFile[]): Upload => {
    picked.remember(
      upload,
      files.map(({ source }) => handleOf(source)),
    )
    waking?.tell(upload, true)
    upload.on('state', ({ state }) => waking?.tell(upload, state !== 'paused'))
    const settled = (): void => waking?.tell(upload, false)
    upload.done().then(settled, settled)
    return upload
  }
  /** A session that a later life of the page gives up needs its files no more. */
  const forgettingFiles =
    (end: Uplink['discardSession']): Uplink['discardSession'] =>
    (key, endOptions) => {
      const ended = end(key, endOptions)
      picked.remember({ key, done: () => ended }, [])
      return ended
    }
  return {
    ...uplink,
    discardSession: forgettingFiles(uplink.discardSession),
    cancelSession: forgettingFiles(uplink.cancelSession),
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

/** Pages and dedicated workers have XMLHttpRequest, with upload progress. Other workers have only fetch. */
function pageTransport() {
  return typeof XMLHttpRequest === 'undefined' ? fetchTransport() : xhrTransport()
}
