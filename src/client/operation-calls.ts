// Each method of the client: check what is given, say it on the wire, call, and read what the method needs from the
// reply. What a reply lacks is named together with what was sent.

import { HttpStatusError, UploadError, invalid, isUploadError } from '../core/errors.ts'
import { given } from '../core/given.ts'
import { pathSegment } from './base-url.ts'
import type { BaseUrl, Query } from './base-url.ts'
import { checkId } from './checks.ts'
import {
  checkAnalysis,
  checkConfirm,
  checkMocapSession,
  checkRegister,
  checkSegment,
  checkVideoUpload,
} from './input-checks.ts'
import { routes, type OperationName } from './contract/routes.ts'
import type { ServiceId, WireObject } from './contract.ts'
import {
  analysisFromWire,
  analysisListFromWire,
  analysisToWire,
  segmentFromWire,
  segmentToWire,
} from './contract/analyses.ts'
import { addressesByName, mocapSessionFromWire, mocapSessionToWire, registerFilesToWire } from './contract/captures.ts'
import { isId, isWireObject, shownField } from './contract/fields.ts'
import { confirmFileToWire, videoUploadFromWire, videoUploadToWire } from './contract/videos.ts'
import { bytesOf, callFreely } from './free-call.ts'
import { readJson, refuseEcho, serviceWords, showNames } from './reply.ts'
import type { CallResult, Caller } from './caller.ts'
import type { CallOptions, ServiceClient } from './operations.ts'

interface Sent {
  readonly id?: ServiceId
  readonly body?: WireObject
  readonly query?: Query | undefined
}

interface Answer extends CallResult {
  /** The JSON of the reply; undefined where it is empty and nothing is needed. */
  readonly json: unknown
}

/** Their answers give ids and addresses that are kept. */
const KEPT_REPLIES: ReadonlySet<OperationName> = new Set([
  'mocapSessions.create',
  'mocapSessionFiles.register',
  'videoUploads.create',
])

/** The methods of a client over a caller. */
export function createOperations(baseUrl: BaseUrl, caller: Caller): ServiceClient {
  const perform = async (
    name: OperationName,
    sent: Sent,
    options: CallOptions,
    isBodyNeeded = true,
  ): Promise<Answer> => {
    const { method, path, kind, words } = routes[name]
    const { id, body, query } = sent
    const place = id === undefined ? path : path.replace(/\{[^}]*\}/, () => pathSegment(id))
    const url = baseUrl.resolve(place, query)
    const call = { operation: name, words, kind, method, url, ...(body === undefined ? {} : { body: bytesOf(body) }) }
    const result = await caller(call, options)
    const json = readJson(result.reply, call, isBodyNeeded)
    if (KEPT_REPLIES.has(name)) refuseEcho(result.reply, json, call, result.secret)
    return { json, ...result }
  }
  return {
    mocapSessions: {
      async create(input, options = {}) {
        checkMocapSession(input)
        const body = mocapSessionToWire(input)
        const answer = await perform('mocapSessions.create', { body }, options)
        const session = isWireObject(answer.json) ? mocapSessionFromWire(answer.json) : undefined
        return withOrphan(session ?? lacks('mocapSessions.create', 'session_id', body, answer), answer)
      },
    },
    mocapSessionFiles: {
      async register(input, options = {}) {
        checkRegister(input)
        const body = registerFilesToWire(input)
        const answer = await perform('mocapSessionFiles.register', { body }, options)
        const found = isWireObject(answer.json) ? addressesByName(answer.json, input.filenames) : undefined
        if (found !== undefined && 'addresses' in found) return new Map(found.addresses)
        const { missing, shared } = found?.mismatch ?? { missing: input.filenames, shared: [] }
        const what =
          missing.length > 0
            ? `an address for ${showNames(missing, answer.secret)}`
            : `an address of its own for each of ${showNames(shared, answer.secret)}`
        return lacks('mocapSessionFiles.register', what, body, answer)
      },
    },
    playerGroupSegments: {
      async create(input, options = {}) {
        checkSegment(input)
        const body = segmentToWire(input)
        const answer = await perform('playerGroupSegments.create', { body }, options)
        const segment = isWireObject(answer.json) ? segmentFromWire(answer.json) : undefined
        return withOrphan(segment ?? lacks('playerGroupSegments.create', 'analysis_segment_id', body, answer), answer)
      },
      async update(input, options = {}) {
        const sent = { id: checkId(input.id, 'id'), body: checkData(input.data) }
        const { json } = await perform('playerGroupSegments.update', sent, options, false)
        return isWireObject(json) ? json : {}
      },
    },
    requestedAnalyses: {
      async list(input = {}, options = {}) {
        const answer = await perform('requestedAnalyses.list', { query: input.query }, options)
        const items = analysisListFromWire(answer.json)
        return { items: items ?? lacks('requestedAnalyses.list', 'one list of analyses', {}, answer), raw: answer.json }
      },
      async create(input, options = {}) {
        checkAnalysis(input)
        const body = analysisToWire(input)
        const answer = await perform('requestedAnalyses.create', { body }, options)
        return isWireObject(answer.json)
          ? analysisFromWire(answer.json)
          : lacks('requestedAnalyses.create', 'the record', body, answer)
      },
      async get(id, options = {}) {
        const answer = await perform('requestedAnalyses.get', { id: checkId(id, 'id') }, options)
        return isWireObject(answer.json)
          ? analysisFromWire(answer.json)
          : lacks('requestedAnalyses.get', 'the record', {}, answer)
      },
      async update(input, options = {}) {
        const sent = { id: checkId(input.id, 'id'), body: checkData(input.data) }
        const { json } = await perform('requestedAnalyses.update', sent, options, false)
        return analysisFromWire(isWireObject(json) ? json : {})
      },
      async submit(id, options = {}) {
        const { json } = await perform('requestedAnalyses.submit', { id: checkId(id, 'id') }, options, false)
        return analysisFromWire(isWireObject(json) ? json : {})
      },
    },
    videoUploads: {
      async create(input, options = {}) {
        checkVideoUpload(input)
        const body = videoUploadToWire(input)
        const answer = await perform('videoUploads.create', { body }, options)
        const upload = isWireObject(answer.json) ? videoUploadFromWire(answer.json) : undefined
        const needed = 'upload_session_id and a well-formed pre_signed_urls'
        return withOrphan(upload ?? lacks('videoUploads.create', needed, body, answer), answer)
      },
      async confirm(input, options = {}) {
        checkConfirm(input)
        await perform('videoUploads.confirm', { body: confirmFileToWire(input) }, options, false)
      },
      async cancel(uploadSessionId, options = {}) {
        const sent = { id: checkId(uploadSessionId, 'uploadSessionId') }
        try {
          await perform('videoUploads.cancel', sent, options, false)
        } catch (error) {
          if (!isGoneAfterDoubt(error)) throw error
        }
      },
    },
    call: async (method, path, options = {}) => callFreely({ baseUrl, caller }, { method, path, options }),
  }
}

/** An earlier try may have cancelled the session, and then a later one finds nothing. */
function isGoneAfterDoubt(error: unknown): boolean {
  if (!isUploadError(error) || error.details['isDoubtful'] !== true) return false
  return error instanceof HttpStatusError && (error.status === 404 || error.status === 410)
}

function withOrphan<TResult extends object>(result: TResult, answer: Answer): TResult {
  return answer.isDoubtful ? { ...result, hasPossibleOrphan: true } : result
}

/** Names of fields only: values may be secrets. */
function lacks(operation: OperationName, what: string, body: WireObject, answer: Answer): never {
  const sentFields = Object.keys(body)
  const repliedFields = isWireObject(answer.json) ? Object.keys(answer.json) : []
  const sessionId = isWireObject(answer.json) ? shownField(answer.json, 'upload_session_id', isId) : undefined
  const words = serviceWords(answer.reply, answer.secret)
  const shape = isWireObject(answer.json) ? `the fields ${showNames(repliedFields, answer.secret)}` : 'no object'
  throw new UploadError(
    'ERR_UPLOAD_SERVICE_REPLY',
    `The service answered ${answer.reply.status} without ${what} when asked to ${routes[operation].words}. Sent were the fields ` +
      `${showNames(sentFields, answer.secret)}; the reply has ${shape}. ` +
      `Check the names and forms of what was sent.${words === '' ? '' : ` It says: ${words}`}`,
    {
      details: {
        operation,
        status: answer.reply.status,
        sentFields,
        ...given({ sessionId }),
        ...(answer.isDoubtful ? { isDoubtful: true } : {}),
      },
    },
  )
}

function checkData(data: unknown): WireObject {
  return isWireObject(data) ? data : invalid('data is no object: give the fields to change.', { field: 'data' })
}
