// Asks the sources what they are and fixes the plan. Problems that show from that alone are found here, before any call.

import { invalid, isUploadError, UploadError } from '../core/errors.ts'
import { planFile, type PartSize } from '../core/plan.ts'
import type { PlannedFile, UnitLimits } from '../core/ports.ts'
import { unlessAborted } from '../core/unless-aborted.ts'
import { checkFileName, checkFrameRate } from '../client/checks.ts'
import { inBatches } from './in-batches.ts'
import type { UploadFile } from './upload.ts'

export interface PrepareOptions {
  readonly limits: UnitLimits
  /** Default: by file size, see `defaultPartSize`. Ignored where a file is sent as a single unit. */
  readonly partSizeBytes?: PartSize | undefined
  readonly signal: AbortSignal
}

/** Plans every file, in order. Rejects with the first problem or with the signal's reason. */
export function prepareFiles(files: readonly UploadFile[], options: PrepareOptions): Promise<PlannedFile[]> {
  // A host's source may ignore the signal.
  return unlessAborted(
    inBatches(files, (file, fileIndex) => prepareFile(file, fileIndex, options)),
    options.signal,
  )
}

async function prepareFile(file: UploadFile, fileIndex: number, options: PrepareOptions): Promise<PlannedFile> {
  const { source, frameRate } = file
  const { sizeBytes, modifiedAtMs } = await look(file, options.signal)
  const { limits, partSizeBytes } = options
  const asked =
    limits.maxCount === 1 || partSizeBytes === undefined
      ? {}
      : { partSizeBytes: sizeOf(partSizeBytes, sizeBytes, limits) }
  const { partCount, partSizeBytes: planned } = planFile({ name: source.name, sizeBytes, limits, ...asked })
  // The object is not built by spreading, so that the plans of ten thousand files share one hidden class.
  const plan: { -readonly [K in keyof PlannedFile]: PlannedFile[K] } = {
    fileIndex,
    name: source.name,
    sizeBytes,
    partCount,
    partSizeBytes: planned,
  }
  if (modifiedAtMs !== undefined) plan.modifiedAtMs = modifiedAtMs
  if (frameRate !== undefined) plan.extra = { frameRate }
  return plan
}

function sizeOf(asked: PartSize, sizeBytes: number, { minBytes, maxBytes }: UnitLimits): number {
  return typeof asked === 'number' ? asked : Math.min(Math.max(asked(sizeBytes), minBytes), maxBytes)
}

async function look({ source }: UploadFile, signal: AbortSignal) {
  try {
    return await source.describe(signal)
  } catch (error) {
    if (isUploadError(error) || signal.aborted) throw error
    throw new UploadError('ERR_UPLOAD_SOURCE_READ', `${source.location ?? source.name} could not be read.`, {
      cause: error,
    })
  }
}

/** Refuses an empty list, names that contain a path, and invalid frame rates. */
export function checkFiles(files: readonly UploadFile[]): void {
  if (files.length === 0) invalid('There is no file to upload. Name at least one.')
  files.forEach(({ source, frameRate }, index) => {
    checkFileName(source.name, `files[${index}].name`)
    if (frameRate !== undefined) checkFrameRate(frameRate, `files[${index}].frameRate`)
  })
}
