// Single-camera video: one session for all files, whose addresses are given at creation. Parts go in any order, each
// with an ETag as its receipt. Each file is confirmed once, and one cancel ends the whole.

import { whereUsable } from '../core/address/unusable-session.ts'
import { isHttpStatusError, known, UploadError, type HttpStatusError } from '../core/errors.ts'
import { formatEtag, type EtagForm } from '../core/attempt/etag.ts'
import { S3_LIMITS } from '../core/plan.ts'
import type { PlannedFile, Protocol, UnitLimits } from '../core/ports.ts'
import type { ServiceClient } from '../client/operations.ts'
import { isRefusal } from '../client/status.ts'
import { partJudge } from './judge-part.ts'
import { fileIdOf, matchAddresses } from './match-addresses.ts'

/** The fields of a session, as a flow writes them to the journal. */
export interface VideoParams {
  readonly movementTypeId: number
  readonly playerId: string
  /** YYYY-MM-DD. */
  readonly sessionDate: string
  readonly sessionTypeId: number
  /**
   * In which form ETags are sent back. Default `asReceived`. An assumption: the interface shows the header as received.
   */
  readonly etagForm?: EtagForm
}

export interface VideoSessionOptions extends VideoParams {
  readonly client: ServiceClient
  /**
   * The limits of a part. Default: S3's own, at most 10,000 of 5 MiB to 5 GiB. An assumption: the interface shows no limits.
   */
  readonly unitLimits?: UnitLimits | undefined
  /**
   * Whether a refused confirmation means that the file is confirmed already. Default: status 409 that says "already".
   * An assumption.
   */
  readonly isAlreadyConfirmed?: ((error: HttpStatusError) => boolean) | undefined
}

export function videoSession(options: VideoSessionOptions): Protocol {
  const { client, etagForm = 'asReceived', isAlreadyConfirmed = saysAlready } = options

  return {
    traits: {
      units: options.unitLimits ?? S3_LIMITS,
      order: 'any',
      addressing: 'session',
      batchSize: 0,
    },
    async create(files, signal, onWaiting) {
      // The client takes the fields of a session and ignores all others.
      const input = { ...options, files: files.map(videoFile) }
      const upload = await client.videoUploads.create(input, { signal, onWaiting })
      const { uploadSessionId: sessionId, hasPossibleOrphan = false } = upload
      const addressed = whereUsable({ sessionId, hasPossibleOrphan }, () => matchAddresses(files, upload))
      return { sessionId, files: addressed, hasPossibleOrphan }
    },
    request: () => ({ method: 'PUT', headers: {} }),
    judge: partJudge(),
    async confirm(sessionId, serverFileId, parts, signal, onWaiting) {
      const etags = parts.map(({ partNumber, receipt }) => ({
        partNumber,
        etag: formatEtag(known(receipt.etag), etagForm),
      }))
      try {
        await client.videoUploads.confirm(
          { uploadSessionId: sessionId, sessionFileId: serverFileId, parts: etags },
          { signal, onWaiting },
        )
      } catch (error) {
        // Nothing but true will do: a function in plain JavaScript may be async, and its promise says nothing yet.
        const isConfirmed: unknown = isHttpStatusError(error) && isAlreadyConfirmed(error)
        if (isConfirmed === true) return
        throw asConfirmRefusal(error)
      }
    },
    cancel: (sessionId, signal) => client.videoUploads.cancel(sessionId, { signal }),
  }
}

function videoFile(file: PlannedFile) {
  const frameRate = file.extra?.['frameRate']
  return {
    name: file.name,
    sizeBytes: file.sizeBytes,
    partCount: file.partCount,
    fileId: fileIdOf(file),
    ...(typeof frameRate === 'number' && { frameRate }),
  }
}

const SAYS_ALREADY =
  /(?<!not )\balready[\s_-]+(?:been[\s_-]+)?(?:confirmed|completed?|active|activated)\b|\b(?:confirmed|completed?|active|activated)[\s_-]+already\b/i

/**
 * A service that is told twice may say so instead of answering 200. That something else has already happened is no
 * success.
 */
function saysAlready(error: HttpStatusError): boolean {
  const { status, message, serviceCode = '' } = error
  // The words that are ours name what was asked for, and never that it was done.
  return status === 409 && (SAYS_ALREADY.test(message) || SAYS_ALREADY.test(serviceCode))
}

/** A refused confirmation gets its own code, upon which the flow may send doubtful parts again. */
function asConfirmRefusal(error: unknown): unknown {
  if (!isRefusal(error)) return error
  return new UploadError('ERR_UPLOAD_CONFIRM_REFUSED', error.message, { cause: error, details: error.details })
}
