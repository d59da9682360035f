// What a view is shown of an upload, and what it is shown before there is one.

import type { Upload, UploadEvents, UploadFileStatus, UploadProgress, UploadReport } from '../flows/upload.ts'

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
   * Present while the storage or the service, as `who` says, holds the upload up: until when it is asked again; wall times, ms
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
