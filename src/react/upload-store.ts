// Follows one upload for a view. A snapshot stays the same object while nothing changes, and listeners are called at most once a frame.

import type { Upload, UploadReport } from '../flows/upload.ts'
import { ended, follow } from './follow-upload.ts'
import { onNextFrame } from './next-frame.ts'
import { NOTHING_YET, type UploadView } from './upload-view.ts'

/** One upload after the other, as something that can be rendered. */
export interface UploadStore {
  /**
   * Calls `begin` at once and follows the upload that it returns: `start(() => uplink.uploadVideos({ … }))`, or
   * `start(() => uplink.resume(key))`. Does nothing while an upload is active, so a double click, or an effect that runs
   * twice, uploads once. Never throws: an error thrown by `begin` becomes the view's `error`.
   */
  start(begin: () => Upload | Promise<Upload>): void
  /** If `begin` has not returned the upload yet, it is paused as soon as it exists. */
  pause(): void
  resume(): void
  /** Gives up the whole upload, confirmed files included. If `begin` has not returned it yet, it is given up as soon as it exists. */
  cancel(): void
  /** Like `cancel`, but confirmed files stay. */
  discard(): void
  /** Returns to `idle` after the end. Does nothing while an upload is active. */
  reset(): void
  view(): UploadView
  /** Calls `listener` whenever `view()` has changed. Returns the function that ends that. */
  subscribe(listener: () => void): () => void
}

export interface UploadStoreOptions {
  /** Decides when listeners hear of the changes collected so far. Default: in the next frame, or after 250 ms in a hidden page. */
  readonly schedule?: ((tell: () => void) => void) | undefined
}

/** Creates an idle store. It needs neither React nor a page. */
export function createUploadStore({ schedule = onNextFrame }: UploadStoreOptions = {}): UploadStore {
  const listeners = new Set<() => void>()
  let shown = NOTHING_YET
  let gathered = NOTHING_YET
  let isScheduled = false
  /** How the upload is to be given up, also if it does not exist yet. */
  let asked: 'cancel' | 'discard' | undefined
  /** Whether it is to be paused, also if it does not exist yet. */
  let isPaused = false

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
  /** Shows at once what a person did. */
  const show = (change: UploadView): void => {
    gathered = change
    tell()
  }

  async function run(begin: () => Upload | Promise<Upload>): Promise<void> {
    try {
      const upload = await begin()
      // This throws at what is no upload, such as the report of one.
      const unfollow = follow(upload, { gather, view: () => gathered })
      gather({ upload })
      if (asked) void upload[asked]()
      else if (isPaused) upload.pause()
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
    // The first call counts, as it does for the upload itself.
    asked ??= how
    void gathered.upload?.[asked]()
  }
  return {
    start(begin) {
      if (gathered.isActive) return
      asked = undefined
      isPaused = false
      show({ ...NOTHING_YET, state: 'creating', isActive: true })
      void run(begin)
    },
    pause() {
      isPaused = true
      gathered.upload?.pause()
    },
    resume() {
      isPaused = false
      gathered.upload?.resume()
    },
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
