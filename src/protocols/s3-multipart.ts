// Any S3-compatible store without a service in between: one multipart upload per file, and every request signed by the
// host. The uploads are created with the session. The addresses of a file's parts are signed when its turn comes, and
// again when they expire, so an address need not live longer than one part takes.

import { checkFunction, checkInteger, checkRequired } from '../client/checks.ts'
import { invalid, isHttpStatusError, isUploadGone, UploadError, withDetails } from '../core/errors.ts'
import { S3_LIMITS } from '../core/plan.ts'
import type { AddressedFile, Hasher, PlannedFile, Protocol, UnitLimits, Verdict } from '../core/ports.ts'
import { inTurns } from './in-turns.ts'
import { partJudge } from './judge-part.ts'
import { abortS3Upload } from './s3-abort.ts'
import { signPart, type S3CallPorts } from './s3-sign.ts'
import { completeS3Upload } from './s3-complete.ts'
import { createUploads } from './s3-creates.ts'
import { readS3Session, type S3SessionUpload } from './s3-session.ts'

export interface S3MultipartOptions extends S3CallPorts {
  /**
   * The object's key for a file, which may contain a path where a name has none. Default: the file's name. Two files of
   * one session must not share a key.
   */
  readonly keyOf?: ((file: PlannedFile) => string) | undefined
  /** Headers of every part, in lower case, which the host signs into each of its addresses. Default: none. */
  readonly partHeaders?: Readonly<Record<string, string>> | undefined
  /**
   * Computes what the ETag of a completed object must be, to recognise the object if the answer to its completion is
   * lost.
   */
  readonly hasher?: Hasher | undefined
  /** The limits of a part. Default: S3's own, at most 10,000 of 5 MiB to 5 GiB. */
  readonly unitLimits?: UnitLimits | undefined
}

/** Files whose addresses are signed in one batch, and how many calls of each kind run at once. */
const BATCH_SIZE = 4
const CANCELS_AT_ONCE = 4
const SIGNATURES_AT_ONCE = 8

/**
 * Makes the protocol. Its session id lists the uploads, so a session can be resumed and cancelled with nothing else at
 * hand. Throws ERR_UPLOAD_INVALID_ARGUMENT for a port that is missing and for numbers that are out of range.
 */
export function s3Multipart(options: S3MultipartOptions): Protocol {
  const { keyOf = (file: PlannedFile) => file.name, partHeaders = {} } = options
  checkFunction(options.sign, 'sign')
  for (const port of ['transport', 'clock', 'random'] as const) checkRequired(options[port], port)
  for (const [name, min] of [
    ['tries', 1],
    ['giveUpAfterMs', 0],
    ['callTimeoutMs', 1],
  ] as const)
    if (options[name] !== undefined) checkInteger(options[name], name, min)
  const judge = partJudge()
  const uploadsOf = remembering(readS3Session)
  const uploadOf = (sessionId: string | number, serverFileId: string | number): S3SessionUpload =>
    uploadsOf(sessionId).find(({ uploadId }) => uploadId === serverFileId) ??
    invalid('This S3 session has no upload of that file.')

  const signFiles = async (
    sessionId: string | number,
    files: readonly PlannedFile[],
    signal: AbortSignal,
  ): Promise<AddressedFile[]> => {
    const uploads = new Map(uploadsOf(sessionId).map((upload) => [upload.fileIndex, upload]))
    const addressed: AddressedFile[] = []
    for (const { fileIndex, partCount } of files) {
      const upload = uploads.get(fileIndex) ?? invalid('This S3 session has no upload of that file.')
      const addresses = await signParts(options, upload, partCount, signal)
      addressed.push({ fileIndex, serverFileId: upload.uploadId, addresses })
    }
    return addressed
  }

  return {
    traits: {
      units: options.unitLimits ?? S3_LIMITS,
      order: 'any',
      addressing: 'batches',
      batchSize: BATCH_SIZE,
    },
    async create(files, signal, onWaiting, isReplacing = false) {
      const keyed = files.map((file) => ({ fileIndex: file.fileIndex, key: keyOf(file) }))
      const created = await createUploads(options, keyed, signal, onWaiting)
      if (!isReplacing) return created
      try {
        return { ...created, files: await signFiles(created.sessionId, files, signal) }
      } catch (error) {
        // The uploads are there, and nobody will use them: whoever asked can end them.
        throw withDetails(error, { sessionId: created.sessionId, isDoubtful: created.hasPossibleOrphan })
      }
    },
    register: (sessionId, files, { signal }) => signFiles(sessionId, files, signal),
    request: () => ({ method: 'PUT', headers: partHeaders }),
    judge: (reply, unit) => renewedIfRefused(judge(reply, unit)),
    confirm: (sessionId, serverFileId, parts, signal, onWaiting) =>
      completeS3Upload({ ...options, onWaiting }, uploadOf(sessionId, serverFileId), parts, signal),
    async cancel(sessionId, signal) {
      const failures: unknown[] = []
      await inTurns(uploadsOf(sessionId), CANCELS_AT_ONCE, async (upload) => {
        // When time is up, most of ten thousand uploads may be left.
        signal.throwIfAborted()
        await abortS3Upload(options, upload, signal).catch((error: unknown) => failures.push(error))
      })
      if (failures.length > 0) throw failures[0]
    },
  }
}

/**
 * Ceph 16 refuses an expired address with a bare AccessDenied, so that is answered by signing anew, which costs little
 * and is bounded. An upload that is gone is gone under every address, and its file gets a new one.
 */
function renewedIfRefused(verdict: Verdict): Verdict {
  if (verdict.kind !== 'final' || !isHttpStatusError(verdict.error)) return verdict
  const isRenewed = verdict.error.serviceCode === 'AccessDenied' || isUploadGone(verdict.error)
  return isRenewed ? { kind: 'renew', error: verdict.error } : verdict
}

async function signParts(
  options: S3MultipartOptions,
  { key, uploadId }: S3SessionUpload,
  partCount: number,
  signal: AbortSignal,
): Promise<string[]> {
  const addresses = new Array<string>(partCount)
  await inTurns(addresses.fill(''), SIGNATURES_AT_ONCE, async (_, index) => {
    const { url, headers } = await signPart(
      options,
      { operation: 'part', key, uploadId, partNumber: index + 1 },
      signal,
    )
    if (Object.keys(headers).length > 0) {
      invalid('An address of a part must need no headers of its own: name those of all parts in partHeaders.')
    }
    addresses[index] = url
  })
  if (new Set(addresses).size < partCount) {
    throw new UploadError('ERR_UPLOAD_SERVICE_REPLY', `The host signed the same address for two parts of ${key}.`)
  }
  return addresses
}

/** The session id of ten thousand files is long, so it is parsed once. */
function remembering<TKey, TValue>(read: (key: TKey) => TValue): (key: TKey) => TValue {
  let last: { readonly key: TKey; readonly value: TValue } | undefined
  return (key) => {
    if (last?.key !== key) last = { key, value: read(key) }
    return last.value
  }
}
