// Follows one upload for a view: snapshots that keep their identity while nothing changed, told at most once a frame.

import type { Upload, UploadEvents, UploadFileStatus, UploadProgress, UploadReport } from '../flows/upload.ts'
import type { FinalStatus } from '../core/journal/journal.ts'
import { onNextFrame } from './next-frame.ts'

/** What is to be seen. A new object whenever something changed, the same one while nothing did; so is each file. */
export interface UploadView {
  /** `idle` before the first start and after `reset`; final words only together with `report` or `error`. */
  readonly state: 'idle' | Upload['state']
  /** Between start and end, a pause included. */
  readonly isActive: boolean
  readonly progress: UploadProgress
  /** In the order given; empty until the sources have been looked at. */
  readonly files: readonly UploadFileStatus[]
  /**
   * Present while the storage, or with a `host` the service, holds the upload up, until when it is asked again; wall times, ms
   * since 1970.
   */
  readonly waiting: UploadEvents['waiting'] | undefined
  /** What a person should know that did not stop the upload; the last 20. */
  readonly warnings: readonly UploadEvents['warning'][]
  /** How it ended, also when it failed or was cancelled; absent when it could not be begun. */
  readonly report: UploadReport | undefined
  /** Why it failed or could not be begun; an UploadError with a `code`, unless your own function threw. A cancel is none. */
  readonly error: Error | undefined
  /** The upload itself, for its other events. */
  readonly upload: Upload | undefined
}

export interface UploadStore {
  /**
   * Calls `begin` at once and follows the upload that it returns: `start(() => uplink.uploadVideos({ … }))`, or
   * `start(() => uplink.resume(key))`. While one is active nothing is called and nothing changes, so a double click, or an
   * effect that runs twice, uploads once. Never throws: what `begin` throws is the view's `error`.
   */
  start(begin: () => Upload | Promise<Upload>): void
  pause(): void
  resume(): void
  /** Gives the upload up, also one that is only about to begin. */
  cancel(): void
  /** Back to idle, after the end; while one is active, nothing. */
  reset(): void
  view(): UploadView
  /** Hears that `view()` has changed. Returns what ends that. */
  subscribe(listener: () => void): () => void
}

export interface UploadStoreOptions {
  /** When to tell what gathered since. Default: the next frame, or 250 ms later in a page that is hidden. */
  readonly schedule?: (tell: () => void) => void
}

const MOST_WARNINGS = 20

const NO_PROGRESS: UploadProgress = {
  sentBytes: 0,
  confirmedBytes: 0,
  totalBytes: 0,
  bytesPerSecond: 0,
  remainingMs: undefined,
  filesConfirmed: 0,
  filesFailed: 0,
  filesTotal: 0,
}

export const NOTHING_YET: UploadView = {
  state: 'idle',
  isActive: false,
  progress: NO_PROGRESS,
  files: [],
  warnings: [],
  waiting: undefined,
  report: undefined,
  error: undefined,
  upload: undefined,
}

/** Makes a store that is idle. It needs no React and no page. */
export function createUploadStore({ schedule = onNextFrame }: UploadStoreOptions = {}): UploadStore {
  const listeners = new Set<() => void>()
  let shown = NOTHING_YET
  let gathered = NOTHING_YET
  let isScheduled = false
  let isCancelAsked = false

  const tell = (): void => {
    isScheduled = false
    if (shown === gathered) return
    shown = gathered
    for (const listener of [...listeners]) listener()
  }
  const gather = (change: Partial<UploadView>): void => {
    gathered = { ...gathered, ...change }
    if (isScheduled) return
    isScheduled = true
    schedule(tell)
  }
  /** What a person did is shown at once. */
  const show = (change: UploadView): void => {
    gathered = change
    tell()
  }

  async function run(begin: () => Upload | Promise<Upload>): Promise<void> {
    try {
      const upload = await begin()
      gather({ upload })
      const unfollow = follow(upload, { gather, view: () => gathered })
      if (isCancelAsked) void upload.cancel()
      const report = await upload.done().finally(unfollow)
      gather({ ...ended(gathered, upload), report, state: report.status })
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      const report = (error as { readonly report?: UploadReport }).report
      const state = report?.status ?? 'failed'
      gather({ ...ended(gathered, gathered.upload), report, state, error: state === 'cancelled' ? undefined : error })
    }
  }

  return {
    start(begin) {
      if (gathered.isActive) return
      isCancelAsked = false
      show({ ...NOTHING_YET, state: 'creating', isActive: true })
      void run(begin)
    },
    pause: () => gathered.upload?.pause(),
    resume: () => gathered.upload?.resume(),
    cancel() {
      isCancelAsked = gathered.isActive
      if (gathered.isActive) void gathered.upload?.cancel()
    },
    reset() {
      if (!gathered.isActive) show(NOTHING_YET)
    },
    view: () => shown,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

const FINAL: ReadonlySet<string> = new Set<FinalStatus>(['confirmed', 'partial', 'cancelled', 'failed'])

/** Gathers what an upload tells; returns what ends that. */
function follow(
  upload: Upload,
  { gather, view }: { gather: (change: Partial<UploadView>) => void; view: () => UploadView },
): () => void {
  const onState = ({ state }: UploadEvents['state']): void => {
    // An end is shown together with its report.
    if (!FINAL.has(state)) gather({ state, ...(state === 'waiting' ? {} : { waiting: undefined }) })
  }
  const onProgress = (progress: UploadProgress): void =>
    gather({ progress, files: keepingEqual(view().files, upload.files()) })
  const onFile = (file: UploadFileStatus): void => {
    const { files } = view()
    gather({ files: files.length === 0 ? upload.files() : files.with(file.fileIndex, file) })
  }
  const onWaiting = (waiting: UploadEvents['waiting']): void => gather({ waiting })
  const onWarning = (warning: UploadEvents['warning']): void =>
    gather({ warnings: [...view().warnings, warning].slice(-MOST_WARNINGS) })
  upload.on('state', onState)
  upload.on('progress', onProgress)
  upload.on('file', onFile)
  upload.on('waiting', onWaiting)
  upload.on('warning', onWarning)
  // One that was begun elsewhere has a past.
  onProgress(upload.progress())
  onState(upload)
  return () => {
    upload.off('state', onState)
    upload.off('progress', onProgress)
    upload.off('file', onFile)
    upload.off('waiting', onWaiting)
    upload.off('warning', onWarning)
  }
}

function ended({ files }: UploadView, upload: Upload | undefined): Partial<UploadView> {
  const last = upload === undefined ? {} : { progress: upload.progress(), files: keepingEqual(files, upload.files()) }
  return { isActive: false, waiting: undefined, ...last }
}

/** `now`, with every file that did not change as the object that it was: rows of a list are not drawn again for nothing. */
function keepingEqual(
  before: readonly UploadFileStatus[],
  now: readonly UploadFileStatus[],
): readonly UploadFileStatus[] {
  const kept = now.map((file, index) => {
    const old = before[index]
    return old !== undefined && isEqual(old, file) ? old : file
  })
  return kept.length === before.length && kept.every((file, index) => file === before[index]) ? before : kept
}

function isEqual(one: UploadFileStatus, other: UploadFileStatus): boolean {
  return (
    one.sentBytes === other.sentBytes &&
    one.confirmedBytes === other.confirmedBytes &&
    one.state === other.state &&
    one.error === other.error &&
    one.name === other.name &&
    one.bytes === other.bytes
  )
}
