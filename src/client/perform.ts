// One operation of the interface: its call, the JSON of its answer, and the error for an answer that lacks what it must
// have.

import { UploadError } from '../core/errors.ts'
import { given } from '../core/given.ts'
import type { Clock } from '../core/ports.ts'
import { nextTask } from '../core/time/next-task.ts'
import type { BaseUrl, Query } from './base-url.ts'
import type { CallResult, Caller } from './caller.ts'
import { isWireObject, ownField, readId, toWire, type ServiceId, type WireObject } from './contract/fields.ts'
import { routes, type OperationName, type Route } from './contract/routes.ts'
import { bytesOf } from './free-call.ts'
import type { CallOptions } from './operations.ts'
import { readJson, refuseEcho, serviceWords, showNames } from './reply.ts'

export interface Sent {
  readonly id?: ServiceId
  /** Checked fields under our names. */
  readonly input?: WireObject
  /** Fields under the wire's names, in place of `input`. */
  readonly data?: WireObject
  readonly query?: Query | undefined
  /** Whether an answer without JSON is refused. Default true. */
  readonly isBodyNeeded?: boolean
}

export interface Answer extends CallResult {
  readonly name: OperationName
  readonly body: WireObject
  /** The JSON of the reply; undefined if it has none and no body is needed. */
  readonly json: unknown
  /** The fields of `json`; none if it is no object. */
  readonly fields: WireObject
}

/** To parse a longer answer and to make sense of it is one task each: of 5,000 files, together they took a page's thread for 55 ms. */
const LONG_BYTES = 1_000_000

export type Perform = (name: OperationName, sent: Sent, options?: CallOptions) => Promise<Answer>

export function createPerform(baseUrl: BaseUrl, caller: Caller, clock: Clock): Perform {
  return async (name, { id, input, data, query, isBodyNeeded = true }, options = {}) => {
    const { method, path, kind, words, names }: Route = routes[name]
    const body = input ? toWire(input, names) : data
    const place = path.replace(/\{[^}]*\}/, () => encodeURIComponent(id ?? ''))
    const url = baseUrl.resolve(place, query)
    const call = { operation: name, words, kind, method, url, ...(body && { body: bytesOf(body) }) }
    const result = await caller(call, options)
    const json = readJson(result.reply, { ...call, isDoubtful: result.isDoubtful }, isBodyNeeded)
    if (result.reply.body.length > LONG_BYTES) await nextTask(clock)
    // The ids and addresses of these answers are stored.
    if (kind === 'create' || name === 'mocapSessionFiles.register') refuseEcho(result.reply, json, call, result.secret)
    return { name, body: body ?? {}, json, fields: isWireObject(json) ? json : {}, ...result }
  }
}

/**
 * Throws an error that says what an answer lacks, and what was sent. It names fields only, because values may be
 * secrets.
 */
export function lacks({ name, body, json, fields, reply, secret, isDoubtful }: Answer, what: string): never {
  const sentFields = Object.keys(body)
  const words = serviceWords(reply, secret)
  const shape = isWireObject(json) ? `the fields ${showNames(Object.keys(fields), secret)}` : 'no object'
  const { status } = reply
  throw new UploadError(
    'ERR_UPLOAD_SERVICE_REPLY',
    `The service answered ${status} without ${what} when asked to ${routes[name].words}. Sent were the fields ` +
      `${showNames(sentFields, secret)}; the reply has ${shape}. ` +
      `Check the names and forms of what was sent.${words === '' ? '' : ` It says: ${words}`}`,
    {
      details: {
        operation: name,
        status,
        sentFields,
        ...given({ sessionId: readId(ownField(fields, 'upload_session_id')), isDoubtful: isDoubtful || undefined }),
      },
    },
  )
}
