// Gathers what an upload tells into a view; files that did not change stay the objects that they were.

import type { Upload, UploadEvents, UploadFileStatus, UploadProgress, UploadReport } from '../flows/upload.ts'
import type { UploadView } from './upload-view.ts'

const MOST_WARNINGS = 20

const FINAL: ReadonlySet<string> = new Set<UploadReport['status']>([
  'confirmed',
  'partial',
  'cancelled',
  'failed',
  'closed',
])

/** Gathers what an upload tells; returns what ends that. */
export function follow(
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

/** What changes of a view when its upload has ended, or could not be begun. */
export function ended({ files }: UploadView, upload: Upload | undefined): Partial<UploadView> {
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
