// What a component gets to see of an upload, and what it sees before there is one.

import type { Upload, UploadEvents, UploadFileStatus, UploadProgress, UploadReport } from '../flows/upload.ts'

/** The state of an upload, to be rendered. A new object whenever something changed, and the same one otherwise; so is each file. */
export interface UploadView {
  /** `idle` before the first start and after `reset`. A final state comes only together with `report` or `error`. */
  readonly state: 'idle' | Upload['state']
  /** True from start to end, also during a pause. */
  readonly isActive: boolean
  readonly progress: UploadProgress
  /** The files in the order given. Empty until the sources have been looked at. */
  readonly files: readonly UploadFileStatus[]
  /**
   * Present while the upload waits for the storage or the service. `who` names which of them, and `untilMs` says when the next try
   * begins. Times are wall times in ms since 1970.
   */
  readonly waiting: UploadEvents['waiting'] | undefined
  /** What a person should know that did not stop the upload. The last 20 are kept. */
  readonly warnings: readonly UploadEvents['warning'][]
  /** How the upload ended, also if it failed or was cancelled. Absent if it could not begin. */
  readonly report: UploadReport | undefined
  /** Why it failed or could not begin: an UploadError with a `code`, unless your own function threw. A cancel is no error. */
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
