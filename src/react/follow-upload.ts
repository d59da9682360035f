// Collects the events of an upload into a view. A file that did not change stays the same object.

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

/** Collects the events of an upload into a view. Returns the function that ends that. */
export function follow(
  upload: Upload,
  { gather, view }: { gather: (change: Partial<UploadView>) => void; view: () => UploadView },
): () => void {
  const onState = ({ state }: UploadEvents['state']): void => {
    // A final state is shown together with the report. What an upload waits for is told after this state.
    if (!FINAL.has(state)) gather({ state, waiting: undefined })
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
  // An upload that began elsewhere already has a state and progress.
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

/** The changes to a view whose upload has ended or could not begin. */
export function ended({ files }: UploadView, upload: Upload | undefined): Partial<UploadView> {
  const last = upload === undefined ? {} : { progress: upload.progress(), files: keepingEqual(files, upload.files()) }
  return { isActive: false, waiting: undefined, ...last }
}

/** Returns `now` with the old object of each file that did not change, so that a list does not render its row again for nothing. */
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
