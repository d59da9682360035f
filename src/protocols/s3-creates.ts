// Creates the uploads of a session, several at once. To the outside they are one call: it waits while none of them is
// on its way. If one fails, those that were made are ended again.

import { invalid, isUploadError, UploadError, wasDoubtful, withDetails } from '../core/errors.ts'
import { given } from '../core/given.ts'
import type { CreatedSession, HostWait, OnWaiting } from '../core/ports.ts'
import { parseHttpDateMs } from '../core/retry-after.ts'
import { timeout, withinTime } from '../core/time/within-time.ts'
import { inTurns } from './in-turns.ts'
import { callS3 } from './s3-call.ts'
import type { S3CallPorts } from './s3-sign.ts'
import { formatS3Session, type S3SessionUpload } from './s3-session.ts'
import { xmlField, xmlRoot } from './s3-xml.ts'

const CALLS_AT_ONCE = 4
/** How long a failure is held back at most while the uploads made before it are ended, ms. */
const FORGET_WITHIN_MS = 15_000

/**
 * Creates an upload for each file. Rejects with the first failure. Its `details.sessionId` is a session of the uploads
 * that were made and could not be ended again. Its `details.isDoubtful` says whether the store may also hold an upload
 * whose id nobody knows.
 */
export async function createUploads(
  ports: S3CallPorts,
  files: readonly { readonly fileIndex: number; readonly key: string }[],
  signal: AbortSignal,
  onWaiting: OnWaiting = () => undefined,
): Promise<CreatedSession> {
  const created: S3SessionUpload[] = []
  let isDoubtful = false as boolean
  /** No call is on its way, and none of those that wait may have been heard. */
  let isAtRest = false as boolean
  const told = joined(files.length, (wait) => {
    // Once this is given up, the order in which the calls end says nothing.
    if (signal.aborted) return
    isAtRest = wait?.isDoubtful === false
    // What was made already, or may have been, might not be ended any more if this is given up now.
    onWaiting(wait && { ...wait, isDoubtful: wait.isDoubtful || isDoubtful || created.length > 0 })
  })
  const createOne = async ({ fileIndex, key }: (typeof files)[number], own: OnWaiting): Promise<void> => {
    const outcome = await callS3({ ...ports, onWaiting: own }, { operation: 'create', key }, signal).catch(
      (error: unknown) => {
        isDoubtful ||= wasDoubtful(error)
        throw error
      },
    )
    isDoubtful ||= outcome.isDoubtful
    if (outcome.kind !== 'done') throw outcome.error
    const uploadId = xmlField(xmlRoot(outcome.text, 'InitiateMultipartUploadResult') ?? '', 'UploadId') ?? ''
    if (!/^[\x21-\x7e]{1,1024}$/.test(uploadId)) {
      isDoubtful = true
      const message = `The storage created no upload of ${key}: its answer names none.`
      throw new UploadError('ERR_UPLOAD_SERVICE_REPLY', message)
    }
    const createdAtMs = parseHttpDateMs(outcome.reply.headers['date'])
    created.push({ fileIndex, key, uploadId, ...given({ createdAtMs }) })
  }
  try {
    checkKeys(files.map(({ key }) => key))
    await inTurns(files, CALLS_AT_ONCE, (file) => told((own) => createOne(file, own)))
  } catch (error) {
    const left = await forget(ports, created)
    const sessionId = left.length > 0 ? formatS3Session(left) : undefined
    if (signal.aborted && (sessionId !== undefined || (isAtRest && !isDoubtful)))
      throw new UploadError('ERR_UPLOAD_CANCELLED', 'Given up.', {
        details: given({ isDoubtful: isDoubtful || !isAtRest, sessionId }),
      })
    if (signal.aborted) throw error
    // Details are added to the error itself, so that it keeps its class: nobody else holds it. An error that is not
    // ours, from a host's transport, is wrapped, since it could not say what is left.
    const known = isUploadError(error) ? error : withDetails(error, {})
    throw Object.assign(known, { details: Object.assign({}, known.details, given({ isDoubtful, sessionId })) })
  }
  return { sessionId: formatS3Session(created), hasPossibleOrphan: isDoubtful }
}

function checkKeys(keys: readonly string[]): void {
  const seen = new Set<string>()
  for (const key of keys) {
    if (key === '' || new TextEncoder().encode(key).length > 1_024) invalid('A key of S3 has 1 to 1,024 bytes.')
    if (seen.has(key)) invalid(`Two files of this session have the key ${key}; one would replace the other.`)
    seen.add(key)
  }
}

/** Ends the uploads of a session that did not come about: one try each, as far as time allows. Returns what is left. */
async function forget(ports: S3CallPorts, uploads: readonly S3SessionUpload[]): Promise<readonly S3SessionUpload[]> {
  const left = new Set(uploads)
  const once = { ...ports, tries: 1, giveUpAfterMs: 0 }
  const tooLate = (): Error => timeout('The store was not told in time.')
  const abort = async (upload: S3SessionUpload, signal: AbortSignal): Promise<void> => {
    const { key, uploadId } = upload
    const outcome = await callS3(once, { operation: 'abort', key, uploadId }, signal)
    if (outcome.kind === 'done' || (outcome.kind === 'refused' && outcome.error.status === 404)) left.delete(upload)
  }
  await withinTime(ports.clock, FORGET_WITHIN_MS, tooLate, (signal) =>
    inTurns(uploads, CALLS_AT_ONCE, (upload) => abort(upload, signal)),
  ).catch(() => undefined)
  return [...left]
}

/**
 * Makes `count` calls whose waits are reported as one. A wait is reported only while every call under way waits, and is
 * that of the call which is tried next.
 */
function joined(count: number, onWaiting: OnWaiting): (call: (own: OnWaiting) => Promise<void>) => Promise<void> {
  const running = new Map<object, HostWait | undefined>()
  let left = count
  const tell = (): void => {
    const waits = [...running.values()].filter((wait) => wait !== undefined)
    const [next] = waits.toSorted((a, b) => a.untilMs - b.untilMs)
    if (next === undefined || waits.length < running.size) onWaiting()
    else onWaiting({ ...next, isDoubtful: waits.some((wait) => wait.isDoubtful) })
  }
  return async (call) => {
    left -= 1
    let isFollowed = false
    try {
      await call((wait) => {
        running.set(call, wait ?? undefined)
        tell()
      })
      // The next call takes over at once. The store has just answered, so it would be no news that the others still
      // wait.
      isFollowed = left > 0
      if (isFollowed) onWaiting(null)
    } finally {
      running.delete(call)
      if (running.size > 0 && !isFollowed) tell()
    }
  }
}
