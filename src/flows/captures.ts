// Motion capture: checks the input, settles the kind and the names, and makes the protocol.

import { resolveCaptureKind, type CaptureKind } from '../client/capture-kind.ts'
import { checkFields, optional, type Check } from '../client/check-fields.ts'
import { checkBoolean, checkDate, checkFrameRate, checkId, checkInteger, checkText } from '../client/checks.ts'
import { invalid } from '../core/errors.ts'
import { given } from '../core/given.ts'
import type { Source } from '../core/ports.ts'
import { captureSession, type CaptureParams } from '../protocols/capture-session.ts'
import { checkFiles } from './prepare.ts'
import type { LettingGo } from './running.ts'
import type { FlowContext, UploadDefinition, UploadFile } from './upload-definition.ts'

interface CapturesBase extends LettingGo {
  /** The files, at least one, in the order in which the movements were captured. Each name is a base name without a path. */
  readonly files: readonly UploadFile[]
  /** The service's number of the capture system: an integer of 0 or more. */
  readonly mocapTypeId: number
  /** What the files are. Default: judged by their names; .mov and .mp4 are video, and with neither the kind is tracking. */
  readonly kind?: CaptureKind | undefined
  /** Frames a second of all files: a number above 0. Required for video, unless each file has its own; those must be equal. */
  readonly frameRate?: number | undefined
  /** Sends names that the session already has. Default false: such a name is an error. */
  readonly reprocess?: boolean | undefined
  /** Prefixes files of the same name with their folder's name (`cam1_a.mp4`). Default false: equal names are an error. */
  readonly rename?: boolean | undefined
  /** Names per registration call, 1 to 1000. Assumption; default 100. */
  readonly batchSize?: number | undefined
}

/** A new session, or more files for an existing one. */
export type CapturesInput = CapturesBase &
  (
    | {
        readonly sessionId?: undefined
        /** The service's id of the organisation. Not blank. */
        readonly orgId: string
        /** The service's number of the kind of session: an integer of 0 or more. */
        readonly sessionTypeId: number
        /** The day of capture (not of the upload), YYYY-MM-DD. */
        readonly sessionDate: string
      }
    | {
        /** The id of the existing session, as the service issued it. The three below are not sent then. */
        readonly sessionId: string | number
        readonly orgId?: string | undefined
        readonly sessionTypeId?: number | undefined
        readonly sessionDate?: string | undefined
      }
  )

const MAX_BATCH_SIZE = 1_000

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for any problem that shows without looking at the files. */
export function defineCaptures(context: FlowContext, input: CapturesInput): UploadDefinition {
  const fields = checkCaptureParams(input)
  checkFiles(input.files)
  const files = distinctNames(input.files, input.rename)
  const kind = resolveCaptureKind(
    files.map((file) => file.source.name),
    input.kind,
  )
  const frameRate = frameRateOf(input, kind)
  const params: CaptureParams = { ...fields, ...given({ frameRate }) }
  return {
    flow: 'capture',
    params: { ...params, kind },
    files,
    protocol: captureSession({ ...params, client: context.client }),
    signal: input.signal,
  }
}

/** Takes only these fields. They come from a person or a journal, neither of which may set what only the host decides. */
export function checkCaptureParams(params: { readonly [K in keyof CaptureParams]?: unknown }): CaptureParams {
  const isNew = params.sessionId === undefined
  const ifNew = (check: Check): Check => (isNew ? check : () => undefined)
  return checkFields(params, {
    mocapTypeId: checkInteger,
    sessionId: optional(checkId),
    orgId: ifNew(checkText),
    sessionTypeId: ifNew(checkInteger),
    sessionDate: ifNew(checkDate),
    reprocess: optional(checkBoolean, false),
    frameRate: optional(checkFrameRate),
    batchSize: optional(checkBatchSize),
  }) as unknown as CaptureParams
}

/** With batches of 0 names, registration would never end. */
function checkBatchSize(value: unknown, label: string): number {
  const batchSize = checkInteger(value, label, 1)
  return batchSize <= MAX_BATCH_SIZE ? batchSize : invalid(`${label} must be at most ${MAX_BATCH_SIZE}.`)
}

/** A registration takes one frame rate for all of its files. */
function frameRateOf(input: CapturesInput, kind: CaptureKind): number | undefined {
  const rates = new Set(input.files.map((file) => file.frameRate ?? input.frameRate))
  const [rate] = rates
  if (rates.size > 1)
    invalid('A capture session has one frame rate: upload clips of another to a session of their own.')
  if (kind === 'video' && rate === undefined) invalid('frameRate is missing: plain video needs its frames per second.')
  return rate
}

/**
 * Makes names distinct, because the service knows a capture file by its base name alone. Two equal names are an error that says which
 * files they are. With `rename` they get their folder's name in front instead, and more of the path where that is not enough.
 */
function distinctNames(files: readonly UploadFile[], isRename: boolean | undefined): UploadFile[] {
  /** The first source of each name. */
  const taken = new Map<string, Source>()
  const shared = new Set<string>()
  for (const { source } of files) {
    const { name } = source
    const first = taken.get(name)
    if (first === undefined) taken.set(name, source)
    else if (isRename) shared.add(name)
    else {
      invalid(
        `Two files are named ${name} (${first.location ?? name} and ${source.location ?? name}). Rename one, or let both ` +
          'be renamed by their folder (rename, --rename).',
      )
    }
  }
  return files.map((file) => {
    const { source } = file
    if (!shared.has(source.name)) return file
    const name = nameByFolder(source, taken)
    taken.set(name, source)
    return { ...file, source: renamedSource(source, name) }
  })
}

/** `field/cam1/a.mp4` → `cam1_a.mp4`, then `field_cam1_a.mp4`. */
function nameByFolder({ name, location = name }: Source, taken: ReadonlyMap<string, Source>): string {
  const folders = location.split(/[/\\]+/).filter((step) => !['', '.', '..'].includes(step))
  for (let depth = 2; depth <= folders.length; depth += 1) {
    const candidate = [...folders.slice(-depth, -1), name].join('_')
    if (!taken.has(candidate)) return candidate
  }
  return invalid(`${location} cannot be told from another file named ${name}; give one of them another name.`)
}

function renamedSource(source: Source, name: string): Source {
  return {
    name,
    location: source.location ?? source.name,
    describe: (signal) => source.describe(signal),
    open: (expected) => source.open(expected),
    dispose: async () => source.dispose?.(),
  }
}
