// A call to an S3-compatible store that the host signs: create, list, complete, abort, head. Each try is signed anew and
// has its own deadline; what may pass is tried again. Whether a late answer changed something is the caller's question.

import { HttpStatusError, isUploadError, TransportError, UploadError, withDetails } from '../core/errors.ts'
import { hostOf } from '../core/address/address.ts'
import type { OnWaiting, TransportReply, TransportRequest } from '../core/ports.ts'
import { backoffMs, MAX_RETRY_AFTER_MS } from '../core/retry.ts'
import { parseHttpDateMs, parseRetryAfterMs } from '../core/retry-after.ts'
import { sleep } from '../core/time/sleep.ts'
import {
  createDeadline,
  DEFAULT_TRIES,
  isSigning,
  signFor,
  timeoutOf,
  type S3CallPorts,
  type S3SignRequest,
} from './s3-sign.ts'
import { xmlField, xmlRoot } from './s3-xml.ts'

/** One call's own: who hears that it waits. */
export interface S3Calling extends S3CallPorts {
  readonly onWaiting?: OnWaiting | undefined
}

export type S3Call = Exclude<S3SignRequest, { operation: 'part' }>

/** `missing`: no answer to the last try; an earlier try may have been acted on, as `isDoubtful` says. */
export type S3Outcome =
  | { readonly kind: 'done'; readonly reply: TransportReply; readonly text: string; readonly isDoubtful: boolean }
  | { readonly kind: 'refused'; readonly error: HttpStatusError; readonly isDoubtful: boolean }
  | { readonly kind: 'missing'; readonly error: UploadError; readonly isDoubtful: boolean }

const METHODS = { create: 'POST', complete: 'POST', list: 'GET', abort: 'DELETE', head: 'HEAD' } as const
/** A person does not notice a shorter wait, ms. */
const TOLD_FROM_MS = 2_000
const MAX_REPLY_BYTES = 2 * 1024 * 1024
const TRANSIENT_CODES =
  /^(?:InternalError|SlowDown\w*|ServiceUnavailable|ServerBusy|RequestTimeout|OperationAborted|RequestExpired|ConditionalRequestConflict)$/

/**
 * Calls until an answer ends it. Rejects with the signal's reason, and with ERR_UPLOAD_INSECURE_URL, with `details.isDoubtful: true`
 * where an earlier try may have been heard.
 */
export async function callS3(ports: S3Calling, call: S3Call, signal: AbortSignal, body?: string): Promise<S3Outcome> {
  const { tries = DEFAULT_TRIES, giveUpAfterMs = 3_600_000, clock, random, onWaiting } = ports
  const [callBeganMs, sinceMs] = [clock.monotonicNow(), clock.wallNow()]
  let isDoubtful = false
  let reached = 0
  let awaySinceMs: number | undefined
  for (let attempt = 1; ; attempt += 1) {
    const beganAtMs = clock.monotonicNow()
    onWaiting?.()
    const outcome = await tryOnce(ports, call, signal, body).catch((error: unknown) => {
      // What an earlier try may have done it has done although this one was not sent.
      throw isDoubtful && !signal.aborted && isUploadError(error) ? withDetails(error, { isDoubtful }) : error
    })
    isDoubtful ||= outcome.isDoubtful
    if (outcome.kind === 'done') return { ...outcome, isDoubtful }
    const isAway = outcome.error instanceof TransportError && outcome.error.phase === 'connect'
    awaySinceMs = isAway ? (awaySinceMs ?? beganAtMs) : undefined
    reached += Number(!isAway)
    const isLastWait = awaySinceMs !== undefined && clock.monotonicNow() - awaySinceMs >= giveUpAfterMs
    if (!outcome.error.isRetryable || reached >= tries || isLastWait) return { ...outcome, isDoubtful }
    const askedMs = outcome.kind === 'refused' ? Math.min(outcome.error.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS) : 0
    // A store that is out of reach is asked at least every half minute and never without a pause.
    const ownMs = backoffMs({ attempt, random }) + (isAway ? 250 : 0)
    const waitMs = Math.max(askedMs, ownMs)
    const [nowMs, wallMs] = [clock.monotonicNow(), clock.wallNow()]
    // Of a host that does not sign there is no address to name; its failures are few, and soon over.
    if (outcome.host !== undefined && nowMs + waitMs - callBeganMs >= TOLD_FROM_MS) {
      const giveUpAtMs = awaySinceMs === undefined ? undefined : wallMs + awaySinceMs + giveUpAfterMs - nowMs
      const told = { host: outcome.host, operation: call.operation, reason: reasonOf(outcome) }
      onWaiting?.({ ...told, isDoubtful, sinceMs, untilMs: wallMs + waitMs, giveUpAtMs })
    }
    await sleep(clock, waitMs, signal)
  }
}

function reasonOf({ kind, error }: Exclude<S3Outcome, { kind: 'done' }>): string {
  if (kind === 'refused') return `it answers ${error.status}`
  if (error.code === 'ERR_UPLOAD_TIMEOUT') return 'no answer in time'
  return error instanceof TransportError && error.phase === 'connect' ? 'no connection' : 'connection lost'
}

/** `host`: whom it was sent to; absent where nothing was sent. */
async function tryOnce(
  ports: S3CallPorts,
  call: S3Call,
  signal: AbortSignal,
  body?: string,
): Promise<S3Outcome & { readonly host?: string | undefined }> {
  const { operation, key } = call
  const limitMs = (operation === 'complete' ? 10 : 1) * timeoutOf(ports)
  const message = `The storage did not answer in ${limitMs / 1000} s when asked to ${operation} the upload of ${key}.`
  const tooLate = new UploadError('ERR_UPLOAD_TIMEOUT', message, { isRetryable: true })
  const deadline = createDeadline(ports.clock, limitMs, tooLate, signal)
  let request: TransportRequest | undefined
  try {
    const { url, headers = {} } = await signFor(ports, call, deadline.signal)
    deadline.signal.throwIfAborted()
    request = {
      method: METHODS[operation],
      url,
      headers,
      signal: deadline.signal,
      maxReplyBytes: MAX_REPLY_BYTES,
      // A POST without a body still says its length: some stores answer 411 else.
      ...(operation === 'create' || body !== undefined
        ? { body: { kind: 'bytes', bytes: new TextEncoder().encode(body ?? '') } }
        : {}),
    }
    return { ...read(call, await ports.transport.send(request)), host: hostOf(url) }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const isLate = deadline.signal.aborted
    if (!isLate && !(error instanceof TransportError) && !isSigning(error)) throw error
    const isDoubtful = request !== undefined && ports.transport.endingOf(request) === 'doubtful'
    const missing = isLate ? (deadline.signal.reason as UploadError) : (error as UploadError)
    return { kind: 'missing', error: missing, isDoubtful, host: request && hostOf(request.url) }
  } finally {
    deadline.end()
  }
}

function read(call: S3Call, reply: TransportReply): S3Outcome {
  const text = reply.isBodyCut ? '' : new TextDecoder().decode(reply.body)
  const error = xmlRoot(text, 'Error')
  const isSuccess = reply.status >= 200 && reply.status < 300
  if (isSuccess && error === undefined) return { kind: 'done', reply, text, isDoubtful: false }
  // Completing answers 200 before it has begun, and says later in the body how it went.
  const isDoubtful = isSuccess || reply.status >= 500
  return { kind: 'refused', error: refusal(call, reply, error), isDoubtful }
}

function refusal(call: S3Call, reply: TransportReply, error: string | undefined): HttpStatusError {
  const { status, headers } = reply
  const { operation, key } = call
  const said = error === undefined ? undefined : xmlField(error, 'Code')
  const code = said !== undefined && /^[A-Z][A-Za-z0-9]{2,47}$/.test(said) ? said : undefined
  const isExpired = status === 403 && /\bexpired\b/i.test(xmlField(error ?? '', 'Message') ?? '')
  const isTransient = [408, 425, 429].includes(status) || (status >= 500 && status !== 501 && status !== 505)
  const isRetryable = isTransient || isExpired || TRANSIENT_CODES.test(code ?? '')
  const errorCode =
    status >= 300 && status < 400
      ? 'ERR_UPLOAD_REDIRECT_REFUSED'
      : status === 401 || status === 403
        ? 'ERR_UPLOAD_ADDRESS_REFUSED'
        : 'ERR_UPLOAD_HTTP_STATUS'
  const told = [String(status), ...(code === undefined ? [] : [code])].join(' ')
  return new HttpStatusError(errorCode, `The storage refused to ${operation} the upload of ${key} (${told}).`, {
    status,
    serviceCode: code,
    isRetryable,
    details: { operation },
    retryAfterMs: parseRetryAfterMs(headers['retry-after'], parseHttpDateMs(headers['date']) ?? NaN),
  })
}
