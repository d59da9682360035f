// Motion capture: checks what was asked, settles the kind and the names, makes the protocol, starts the upload.

import { resolveCaptureKind, type CaptureKind } from '../client/capture-kind.ts'
import { checkBoolean, checkDate, checkFrameRate, checkId, checkInteger, checkText } from '../client/checks.ts'
import { invalid } from '../core/errors.ts'
import { given } from '../core/given.ts'
import type { Protocol, Source } from '../core/ports.ts'
import { captureSession } from '../protocols/capture-session.ts'
import { checkFiles } from './prepare.ts'
import type { UploadDefinition } from './upload-definition.ts'
import { startUpload } from './upload-session.ts'
import type { LettingGo, Upload, UploadFile } from './upload.ts'
import type { FlowContext } from './videos.ts'

interface CapturesBase extends LettingGo {
  /** In the order in which the movements were captured. */
  readonly files: readonly UploadFile[]
  readonly mocapTypeId: number
  /** Default: by the names; .mov and .mp4 are video, none of them is tracking. */
  readonly kind?: CaptureKind
  /** Frames a second; required when the kind is video. */
  readonly frameRate?: number
  /** Sends names that the session has already. Default false: such a name is an error. */
  readonly reprocess?: boolean
  /** Gives files of the same name their folder's name in front (`cam1_a.mp4`). Default false: that is an error. */
  readonly rename?: boolean
  /** Names in one registration, 1 to 1000. Assumption, default 100. */
  readonly batchSize?: number
}

/** A new session, or files for one that is known. */
export type CapturesInput = CapturesBase &
  (
    | {
        readonly sessionId?: undefined
        readonly orgId: string
        readonly sessionTypeId: number
        readonly sessionDate: string
      }
    | {
        readonly sessionId: string | number
        readonly orgId?: string
        readonly sessionTypeId?: number
        readonly sessionDate?: string
      }
  )

const MAX_BATCH_SIZE = 1_000

export function uploadCaptures(context: FlowContext, input: CapturesInput): Upload {
  return startUpload(context, defineCaptures(context, input))
}

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for what can be seen without looking at the files. */
export function defineCaptures(context: FlowContext, input: CapturesInput): UploadDefinition {
  const fields = checkCaptureParams(input)
  checkFiles(input.files)
  const files = distinctNames(input.files, input.rename ?? false)
  const kind = resolveCaptureKind(
    files.map((file) => file.source.name),
    input.kind,
  )
  const frameRate = frameRateOf(input, kind)
  const params: CaptureParams = { ...fields, ...given({ frameRate }) }
  const protocol = captureProtocol(context, params)
  return { flow: 'capture', params: { ...params, kind }, files, protocol, signal: input.signal }
}

/** The fields of a session, as they are journalled. */
export interface CaptureParams {
  readonly sessionId?: string | number
  readonly orgId?: string
  readonly sessionTypeId?: number
  readonly sessionDate?: string
  readonly mocapTypeId: number
  readonly reprocess: boolean
  readonly frameRate?: number
  readonly batchSize?: number
}

/** These fields and no others: whoever gave them, a person or a journal, has no say in what the host decides. */
export function checkCaptureParams(params: { readonly [K in keyof CaptureParams]?: unknown }): CaptureParams {
  const session =
    params.sessionId === undefined
      ? {
          orgId: checkText(params.orgId, 'orgId'),
          sessionTypeId: checkInteger(params.sessionTypeId, 'sessionTypeId'),
          sessionDate: checkDate(params.sessionDate, 'sessionDate'),
        }
      : { sessionId: checkId(params.sessionId, 'sessionId') }
  const { mocapTypeId, batchSize, frameRate, reprocess = false } = params
  return {
    mocapTypeId: checkInteger(mocapTypeId, 'mocapTypeId'),
    ...session,
    reprocess: checkBoolean(reprocess, 'reprocess'),
    ...given({
      frameRate: frameRate === undefined ? undefined : checkFrameRate(frameRate, 'frameRate'),
      batchSize: batchSize === undefined ? undefined : checkBatchSize(batchSize),
    }),
  }
}

/** Of 0 names a registration would never come to an end. */
function checkBatchSize(value: unknown): number {
  const batchSize = checkInteger(value, 'batchSize', 1)
  return batchSize <= MAX_BATCH_SIZE ? batchSize : invalid(`batchSize must be at most ${MAX_BATCH_SIZE}.`)
}

export function captureProtocol({ client }: FlowContext, params: CaptureParams): Protocol {
  return captureSession({ ...params, client })
}

/** The registration takes one rate for all its files. */
function frameRateOf(input: CapturesInput, kind: CaptureKind): number | undefined {
  const rates = new Set(input.files.map((file) => file.frameRate ?? input.frameRate))
  const [rate] = rates
  if (rates.size > 1)
    invalid(
      'All files of a capture session have one frame rate; upload clips of another rate to a session of their own.',
    )
  if (kind === 'video' && rate === undefined) invalid('frameRate is missing: plain video needs its frames per second.')
  if (rate !== undefined) checkFrameRate(rate, 'frameRate')
  return rate
}

/**
 * The service knows a capture file by its base name alone. Two of the same name are an error that names both, or, with
 * `rename`, get their folder's name in front; where that is not enough, more of the path.
 */
export function distinctNames(files: readonly UploadFile[], isRename: boolean): UploadFile[] {
  const groups = groupByName(files)
  const taken = new Set([...groups].filter(([, group]) => group.length === 1).map(([name]) => name))
  const renamed = new Map<UploadFile, string>()
  for (const [name, group] of groups) {
    if (group.length === 1) continue
    const [first, second] = group.map((file) => file.source.location ?? name)
    if (!isRename) {
      invalid(
        `Two files are named ${name} (${first ?? name} and ${second ?? name}), and a capture session knows a file by its name alone. ` +
          'Rename one, or let both be renamed by their folder (rename, --rename).',
      )
    }
    for (const file of group) {
      const other = nameByFolder(file, taken)
      taken.add(other)
      renamed.set(file, other)
    }
  }
  return files.map((file) => {
    const name = renamed.get(file)
    return name === undefined ? file : { ...file, source: renamedSource(file.source, name) }
  })
}

function groupByName(files: readonly UploadFile[]): Map<string, UploadFile[]> {
  const groups = new Map<string, UploadFile[]>()
  for (const file of files) {
    const group = groups.get(file.source.name)
    if (group === undefined) groups.set(file.source.name, [file])
    else group.push(file)
  }
  return groups
}

/** `field/cam1/a.mp4` → `cam1_a.mp4`, then `field_cam1_a.mp4`. */
function nameByFolder(file: UploadFile, taken: ReadonlySet<string>): string {
  const { name, location = name } = file.source
  const folders = location.split(/[/\\]+/).filter((step) => step !== '' && step !== '.' && step !== '..')
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
