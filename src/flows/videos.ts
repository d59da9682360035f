// Single-camera video: checks the input and makes the protocol.

import { checkFields, optional } from '../client/check-fields.ts'
import { checkDate, checkFrameRate, checkFunction, checkInteger, checkText } from '../client/checks.ts'
import { invalid, type HttpStatusError } from '../core/errors.ts'
import type { EtagForm } from '../core/attempt/etag.ts'
import { given } from '../core/given.ts'
import type { UnitLimits } from '../core/ports.ts'
import { videoSession, type VideoParams } from '../protocols/video-session.ts'
import { checkFiles } from './prepare.ts'
import type { RenewAddresses } from './renewal.ts'
import type { LettingGo } from './running.ts'
import type { FlowContext, UploadDefinition, UploadFile } from './upload-definition.ts'

/** A session of single-camera clips. A value that is missing or wrong is an ERR_UPLOAD_INVALID_ARGUMENT before anything is sent. */
export interface VideosInput extends LettingGo {
  /** The clips, at least one. Each name is a base name without a path. */
  readonly files: readonly UploadFile[]
  /** The service's number of the movement: an integer of 0 or more. */
  readonly movementTypeId: number
  /** The service's id of the player. Not blank. */
  readonly playerId: string
  /** The day of capture (not of the upload), YYYY-MM-DD. */
  readonly sessionDate: string
  /** The service's number of the kind of session: an integer of 0 or more. */
  readonly sessionTypeId: number
  /** Frames a second of every file that names none itself: a number above 0. Default: not sent. */
  readonly frameRate?: number | undefined
  /** Bytes of a part. Default: the Uplink's. */
  readonly partSizeBytes?: number | undefined
  /** Limits of a part. Assumption: the interface shows none. Default: S3's own, at most 10,000 of 5 MiB to 5 GiB. */
  readonly unitLimits?: UnitLimits | undefined
  /** How ETags are sent back to the service. Assumption; default `asReceived`. */
  readonly etagForm?: EtagForm | undefined
  /** Whether a refused confirmation means that the file is confirmed already. Assumption; default: a 409 that says so. */
  readonly isAlreadyConfirmed?: ((error: HttpStatusError) => boolean) | undefined
  /** Signs dead addresses again. Default: a new session takes the unfinished files. */
  readonly renewAddresses?: RenewAddresses | undefined
}

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for any problem that shows without looking at the files. */
export function defineVideos(context: FlowContext, input: VideosInput): UploadDefinition {
  const params = checkVideoParams(input)
  const { frameRate, isAlreadyConfirmed, renewAddresses, unitLimits } = input
  checkFields(
    { frameRate, isAlreadyConfirmed, renewAddresses },
    {
      frameRate: optional(checkFrameRate),
      // These are called hours later, if at all.
      isAlreadyConfirmed: optional(checkFunction),
      renewAddresses: optional(checkFunction),
    },
  )
  checkFiles(input.files)
  return {
    flow: 'video',
    params: { ...params },
    protocol: videoSession({ ...params, isAlreadyConfirmed, unitLimits, client: context.client }),
    renewAddresses,
    signal: input.signal,
    files: input.files.map((file) => ({ source: file.source, ...given({ frameRate: file.frameRate ?? frameRate }) })),
    partSizeBytes: input.partSizeBytes ?? context.partSizeBytes,
  }
}

/** Takes only these fields. They come from a person or a journal, neither of which may set what only the host decides. */
export function checkVideoParams(params: { readonly [K in keyof VideoParams]?: unknown }): VideoParams {
  return checkFields(params, {
    movementTypeId: checkInteger,
    playerId: checkText,
    sessionDate: checkDate,
    sessionTypeId: checkInteger,
    etagForm: optional(checkEtagForm),
  }) as unknown as VideoParams
}

function checkEtagForm(form: unknown): unknown {
  if (form === 'asReceived' || form === 'quoted' || form === 'bare') return form
  return invalid('etagForm must be asReceived, quoted or bare.')
}
