// Creates the uploads of a session, some at once. Together they are one call: it waits while none of them is on its way, and when one
// fails, those that were made are ended again.

import { invalid, isUploadError, UploadError } from '../core/errors.ts'
import type { CreatedSession, HostWait, OnWaiting } from '../core/ports.ts'
import { parseHttpDateMs } from '../core/retry-after.ts'
import { inTurns } from './in-turns.ts'
import { callS3 } from './s3-call.ts'
import type { S3CallPorts } from './s3-sign.ts'
import { formatS3Session, type S3SessionUpload } from './s3-session.ts'
import { xmlField, xmlRoot } from './s3-xml.ts'

const CREATES_AT_ONCE = 4

/** Rejects with what the first failure was; `details.isDoubtful` says whether the store may hold an upload of it all the same. */
export async function createUploads(
  ports: S3CallPorts,
  files: readonly { readonly fileIndex: number; readonly key: string }[],
  signal: AbortSignal,
  onWaiting: OnWaiting = () => undefined,
): Promise<CreatedSession> {
  const created: S3SessionUpload[] = []
  let isDoubtful = false as boolean
  /** None is on its way, and none that waits was heard. */
  let isAtRest = false as boolean
  const told = joined(files.length, (wait) => {
    // Of what is given up the order in which it comes to its end says nothing.
    if (signal.aborted) return
    isAtRest = wait?.isDoubtful === false
    // What is made already may not be ended any more when it is given up now.
    onWaiting(wait && { ...wait, isDoubtful: wait.isDoubtful || created.length > 0 })
  })
  const createOne = async ({ fileIndex, key }: (typeof files)[number], own: OnWaiting): Promise<void> => {
    const outcome = await callS3({ ...ports, onWaiting: own }, { operation: 'create', key }, signal).catch(
      (error: unknown) => {
        isDoubtful ||= isUploadError(error) && error.details['isDoubtful'] === true
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
    created.push({ fileIndex, key, uploadId, ...(createdAtMs === undefined ? {} : { createdAtMs }) })
  }
  try {
    checkKeys(files.map(({ key }) => key))
    await inTurns(files, CREATES_AT_ONCE, (file) => told((own) => createOne(file, own)))
  } catch (error) {
    const isForgotten = await forget(ports, created)
    if (signal.aborted && isAtRest && isForgotten && !isDoubtful)
      throw new UploadError('ERR_UPLOAD_CANCELLED', 'Given up.', { details: { isDoubtful } })
    if (signal.aborted || !isUploadError(error)) throw error
    // The same error, of its own class: nobody else holds it.
    throw Object.assign(error, { details: { ...error.details, isDoubtful: isDoubtful || !isForgotten } })
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

/** A session that did not come about leaves nothing behind, as far as the store can be told; one try each. True when it was told of all. */
async function forget(ports: S3CallPorts, uploads: readonly S3SessionUpload[]): Promise<boolean> {
  const { signal } = new AbortController()
  const once = { ...ports, tries: 1, giveUpAfterMs: 0 }
  let isTold = true
  for (const { key, uploadId } of uploads) {
    const outcome = await callS3(once, { operation: 'abort', key, uploadId }, signal).catch(() => undefined)
    // What the store did not hear it will not hear from the others either, and the cause must not wait for them.
    if (outcome === undefined || outcome.kind === 'missing') return false
    isTold &&= outcome.kind === 'done' || outcome.error.status === 404
  }
  return isTold
}

/** Makes so many calls whose waits are told as one: while none of them is on its way, that of the one that is tried next. */
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
    running.set(call, undefined)
    let isFollowed = false
    try {
      await call((wait) => {
        running.set(call, wait ?? undefined)
        tell()
      })
      // At once by the next one: that those under way wait is no news between two of ten thousand, and the store is there.
      isFollowed = left > 0
      if (isFollowed) onWaiting(null)
    } finally {
      running.delete(call)
      if (running.size > 0 && !isFollowed) tell()
    }
  }
}
