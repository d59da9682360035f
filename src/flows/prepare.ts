// Asks the sources what they are and fixes the plan. Problems that show from that alone are found here, before any call.

import { asOurs } from '../core/errors.ts'
import { planFile, type PartSize } from '../core/plan.ts'
import type { PlannedFile, Source, UnitLimits } from '../core/ports.ts'
import { unlessAborted } from '../core/unless-aborted.ts'
import { listOf, optional } from '../client/check-fields.ts'
import { checkFileName, checkFrameRate, checkIs, checkRequired } from '../client/checks.ts'
import { inBatches } from './in-batches.ts'
import type { UploadFile } from './upload-definition.ts'

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
  const asked = limits.maxCount === 1 ? undefined : sizeOf(partSizeBytes, sizeBytes, limits)
  const { partCount, partSizeBytes: planned } = planFile({
    name: source.name,
    sizeBytes,
    limits,
    partSizeBytes: asked,
  })
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

function sizeOf(
  asked: PartSize | undefined,
  sizeBytes: number,
  { minBytes, maxBytes }: UnitLimits,
): number | undefined {
  // Anything else than a function is judged as a number is.
  return typeof asked === 'function' ? Math.min(Math.max(asked(sizeBytes), minBytes), maxBytes) : asked
}

async function look({ source }: UploadFile, signal: AbortSignal) {
  try {
    return await source.describe(signal)
  } catch (error) {
    throw asOurs(error, 'ERR_UPLOAD_SOURCE_READ', `${source.location ?? source.name} could not be read`)
  }
}

/** Programs in plain JavaScript pass a path, or a File as it is. */
function checkSource(value: unknown, label: string): Source {
  const isSource = (known: unknown): known is Source => typeof (known as Source).describe === 'function'
  return checkIs(value, label, isSource, ': give a source, such as fileSource(path) or blobSource(file).')
}

/** Refuses what is no list of files, an empty one, what is no source, names that contain a path, and invalid frame rates. */
export function checkFiles(files: readonly UploadFile[]): void {
  listOf((file, label) => {
    const { source, frameRate } = checkRequired(file, label) as UploadFile
    checkFileName(checkSource(source, `${label}.source`).name, `${label}.name`)
    optional(checkFrameRate)(frameRate, `${label}.frameRate`)
  })(files, 'files')
}
