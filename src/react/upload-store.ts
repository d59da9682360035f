// Follows one upload for a view: snapshots that keep their identity while nothing changed, told at most once a frame.

import type { Upload, UploadReport } from '../flows/upload.ts'
import { ended, follow } from './follow-upload.ts'
import { onNextFrame } from './next-frame.ts'
import { NOTHING_YET, type UploadView } from './upload-view.ts'

export interface UploadStore {
  /**
   * Calls `begin` at once and follows the upload that it returns: `start(() => uplink.uploadVideos({ … }))`, or
   * `start(() => uplink.resume(key))`. While one is active nothing is called and nothing changes, so a double click, or an
   * effect that runs twice, uploads once. Never throws: what `begin` throws is the view's `error`.
   */
  start(begin: () => Upload | Promise<Upload>): void
  pause(): void
  resume(): void
  /** Gives the upload up, confirmed files too; also one that is only about to begin. */
  cancel(): void
  /** The same, but what is confirmed stays confirmed. */
  discard(): void
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

/** Makes a store that is idle. It needs no React and no page. */
export function createUploadStore({ schedule = onNextFrame }: UploadStoreOptions = {}): UploadStore {
  const listeners = new Set<() => void>()
  let shown = NOTHING_YET
  let gathered = NOTHING_YET
  let isScheduled = false
  /** How to give up an upload that is about to begin. */
  let asked: 'cancel' | 'discard' | undefined

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
      if (asked) void upload[asked]()
      const report = await upload.done().finally(unfollow)
      gather({ ...ended(gathered, upload), report, state: report.status })
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      const report = (error as { readonly report?: UploadReport }).report
      const state = report?.status ?? 'failed'
      gather({ ...ended(gathered, gathered.upload), report, state, error: state === 'cancelled' ? undefined : error })
    }
  }

  const giveUp = (how: 'cancel' | 'discard'): void => {
    if (!gathered.isActive) return
    // The first one counts, as for the upload itself.
    asked ??= how
    void gathered.upload?.[asked]()
  }
  return {
    start(begin) {
      if (gathered.isActive) return
      asked = undefined
      show({ ...NOTHING_YET, state: 'creating', isActive: true })
      void run(begin)
    },
    pause: () => gathered.upload?.pause(),
    resume: () => gathered.upload?.resume(),
    cancel: () => giveUp('cancel'),
    discard: () => giveUp('discard'),
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
