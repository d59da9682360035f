// A call to an S3-compatible store that the host signs: create, list, complete, abort or head. Each try is signed anew
// and has its own deadline. What may pass is tried again, and a store that is away is waited for, as a service is. The
// caller must find out whether a try whose answer was lost changed something.

import { unreachable, reasonOf } from '../client/call-errors.ts'
import { persist, type Failure } from '../client/persist.ts'
import { isDoubtfulMissing, sendOnce } from '../client/send-once.ts'
import { classOfStatus, isDoubtfulStatus } from '../client/status.ts'
import type { UploadError } from '../core/errors.ts'
import { HttpStatusError, isTransportError, withDetails } from '../core/errors.ts'
import { hostOf } from '../core/address/address.ts'
import type { OnWaiting, TransportReply, TransportRequest } from '../core/ports.ts'
import { retryAfterOf } from '../core/retry-after.ts'
import { DEFAULT_TRIES, isSigning, signWithin, timeoutOf, type S3CallPorts, type S3SignRequest } from './s3-sign.ts'
import { xmlField, xmlRoot } from './s3-xml.ts'

/** The ports with what belongs to one call: who is told that it waits. */
export interface S3Calling extends S3CallPorts {
  readonly onWaiting?: OnWaiting | undefined
}

export type S3Call = Exclude<S3SignRequest, { operation: 'part' }>

/** `missing`: the last try got no answer. `isDoubtful`: some try may have been acted on. */
export type S3Outcome =
  | { readonly kind: 'done'; readonly reply: TransportReply; readonly text: string; readonly isDoubtful: boolean }
  | { readonly kind: 'refused'; readonly error: HttpStatusError; readonly isDoubtful: boolean }
  | { readonly kind: 'missing'; readonly error: UploadError; readonly isDoubtful: boolean }

const METHODS = { create: 'POST', complete: 'POST', list: 'GET', abort: 'DELETE', head: 'HEAD' } as const
const MAX_REPLY_BYTES = 2 * 1024 * 1024
const TRANSIENT_CODES =
  /^(?:InternalError|SlowDown\w*|ServiceUnavailable|ServerBusy|RequestTimeout|OperationAborted|ConditionalRequestConflict|RequestExpired|ExpiredToken|TokenRefreshRequired)$/

/** `host` is where the request was sent; absent if nothing was sent. */
type S3Tried = S3Outcome & { readonly host?: string | undefined }

/**
 * Calls until an answer ends it. Rejects with ERR_UPLOAD_HOST_UNREACHABLE if the store was away for too long, with the
 * signal's reason, and with ERR_UPLOAD_INSECURE_URL. The last has `details.isDoubtful: true` if an earlier try may have
 * been heard.
 */
export async function callS3(ports: S3Calling, call: S3Call, signal: AbortSignal, body?: string): Promise<S3Outcome> {
  const { tries = DEFAULT_TRIES, giveUpAfterMs = 3_600_000, clock, random, onWaiting } = ports
  const { operation, key } = call
  const asked = { operation, words: `${operation} the upload of ${key}`, attempts: 0, isDoubtful: false }
  const sendOne = (one: S3Call) =>
    send(ports, one, signal, body).catch((error: unknown) => {
      // This try was not sent, but an earlier one may still have been acted on.
      throw asked.isDoubtful && !signal.aborted ? withDetails(error, { isDoubtful: true }) : error
    })
  const ended = await persist(
    { clock, random, retries: tries - 1, giveUpAfterMs },
    {
      operation,
      signal,
      onWaiting: (wait) => onWaiting?.(wait && { ...wait, who: 'storage' }),
      async tryOnce() {
        asked.attempts += 1
        const outcome = await sendOne(call)
        asked.isDoubtful ||= outcome.isDoubtful
        const failure = failureOf(outcome)
        return failure === undefined ? { result: outcome } : { failure }
      },
      ask: operation === 'create' ? async () => failureOf(await sendOne({ operation: 'head', key })) : undefined,
    },
  )
  if ('result' in ended) return { ...ended.result, isDoubtful: asked.isDoubtful }
  const { failure, awayMs } = ended
  if (awayMs === undefined) return { ...failure.outcome, isDoubtful: asked.isDoubtful }
  const { host = 'the host that signs', error, reason } = failure
  throw unreachable({ host, hasAnswered: true }, asked, { error, reason }, awayMs)
}

/** The failure after which another try may come; undefined if a try would change nothing. */
function failureOf(
  outcome: S3Tried,
): (Failure & { readonly outcome: Exclude<S3Outcome, { kind: 'done' }> }) | undefined {
  if (outcome.kind === 'done') return undefined
  const { error, host, isDoubtful } = outcome
  if (!error.isRetryable || error.code === 'ERR_UPLOAD_REDIRECT_REFUSED') return undefined
  const unanswered = isTransportError(error) ? reasonOf(error) : 'no signature'
  const reason = outcome.kind === 'refused' ? `it answers ${outcome.error.status}` : unanswered
  return { outcome, error, host, isDoubtful, reason }
}

async function send(ports: S3CallPorts, call: S3Call, signal: AbortSignal, body?: string): Promise<S3Tried> {
  const { operation, key } = call
  let signed
  try {
    signed = await signWithin(ports, call, signal)
  } catch (error) {
    if (signal.aborted || !(isTransportError(error) || isSigning(error))) throw error
    return { kind: 'missing', error: error as UploadError, isDoubtful: false }
  }
  const { url, headers } = signed
  // A POST without a body still states its length, because some stores otherwise answer 411.
  const bytes = operation === 'create' || body !== undefined ? new TextEncoder().encode(body) : undefined
  const request: TransportRequest = {
    method: METHODS[operation],
    url,
    headers,
    signal,
    maxReplyBytes: MAX_REPLY_BYTES,
    ...(bytes === undefined ? {} : { body: { kind: 'bytes', bytes } }),
  }
  const timeoutMs = (operation === 'complete' ? 10 : 1) * timeoutOf(ports)
  const words = `${operation} the upload of ${key}`
  const reply = await sendOnce(ports, request, { who: 'storage', words, timeoutMs })
  const outcome: S3Outcome =
    'status' in reply ? read(call, reply) : { kind: 'missing', error: reply, isDoubtful: isDoubtfulMissing(reply) }
  return Object.assign(outcome, { host: hostOf(url) })
}

function read(call: S3Call, reply: TransportReply): S3Outcome {
  const text = new TextDecoder().decode(reply.body)
  const error = xmlRoot(text, 'Error')
  const isSuccess = classOfStatus(reply.status) === 'success'
  if (isSuccess && error === undefined) return { kind: 'done', reply, text, isDoubtful: false }
  // A completion may answer 200 before it has begun, and say in the body how it went.
  const isDoubtful = isSuccess || isDoubtfulStatus(reply.status)
  return { kind: 'refused', error: refusal(call, reply, error), isDoubtful }
}

function refusal(call: S3Call, reply: TransportReply, error: string | undefined): HttpStatusError {
  const { status } = reply
  const { operation, key } = call
  const said = error === undefined ? undefined : xmlField(error, 'Code')
  const code = said !== undefined && /^[A-Z][A-Za-z0-9]{2,47}$/.test(said) ? said : undefined
  const isExpired = status === 403 && /\bexpired\b/i.test(xmlField(error ?? '', 'Message') ?? '')
  const answerClass = classOfStatus(status)
  const isRetryable = answerClass === 'again' || isExpired || TRANSIENT_CODES.test(code ?? '')
  const errorCode =
    answerClass === 'redirect'
      ? 'ERR_UPLOAD_REDIRECT_REFUSED'
      : answerClass === 'credentials'
        ? 'ERR_UPLOAD_ADDRESS_REFUSED'
        : 'ERR_UPLOAD_HTTP_STATUS'
  const told = [String(status), ...(code === undefined ? [] : [code])].join(' ')
  return new HttpStatusError(errorCode, `The storage refused to ${operation} the upload of ${key} (${told}).`, {
    status,
    serviceCode: code,
    isRetryable,
    details: { operation },
    retryAfterMs: retryAfterOf(reply),
  })
}
