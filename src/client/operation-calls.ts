// Each method of the client: checks its input, puts it on the wire, makes the call, and reads what the method needs
// from the reply. An error about a reply that lacks something also names what was sent.

import { wasDoubtful } from '../core/errors.ts'
import type { Clock } from '../core/ports.ts'
import type { BaseUrl } from './base-url.ts'
import type { Caller } from './caller.ts'
import { checkId, checkObject, checkRequired } from './checks.ts'
import type { ServiceId, WireObject } from './contract.ts'
import { analysisFromWire, analysisListFromWire, segmentFromWire } from './contract/analyses.ts'
import { addressesByName, mocapSessionFromWire } from './contract/captures.ts'
import { isWireObject } from './contract/fields.ts'
import type { OperationName } from './contract/routes.ts'
import { videoUploadFromWire } from './contract/videos.ts'
import { createFreeCall } from './free-call.ts'
import {
  checkAnalysis,
  checkConfirm,
  checkMocapSession,
  checkRegister,
  checkSegment,
  checkVideoUpload,
} from './input-checks.ts'
import type { CallOptions, ServiceClient } from './operations.ts'
import { createPerform, lacks, type Answer } from './perform.ts'
import { showNames } from './reply.ts'
import { isGone } from './status.ts'

/** Makes the methods of a client over a caller. */
export function createOperations(baseUrl: BaseUrl, caller: Caller, clock: Clock): ServiceClient {
  const perform = createPerform(baseUrl, caller, clock)
  /** A method that creates something, of which an earlier try may have left another. `needed` says what the answer must have. */
  const creating =
    <TInput, TResult extends object>(
      name: OperationName,
      check: (input: TInput) => WireObject,
      read: (fields: WireObject) => TResult | undefined,
      needed: string,
    ) =>
    async (given: TInput, options?: CallOptions): Promise<TResult> => {
      const answer = await perform(name, { input: check(given) }, options)
      const made = read(answer.fields) ?? lacks(answer, needed)
      return answer.isDoubtful ? { ...made, hasPossibleOrphan: true } : made
    }
  const update = async (
    name: OperationName,
    input: { readonly id: ServiceId; readonly data: WireObject },
    options: CallOptions | undefined,
  ): Promise<WireObject> => {
    const { id, data } = checkRequired(input, 'input')
    const sent = { data: checkObject(data, 'data'), id: checkId(id, 'id'), isBodyNeeded: false }
    return (await perform(name, sent, options)).fields
  }
  return {
    mocapSessions: {
      create: creating('mocapSessions.create', checkMocapSession, mocapSessionFromWire, 'a valid session_id'),
    },
    mocapSessionFiles: {
      async register(given, options) {
        const input = checkRegister(given)
        const answer = await perform('mocapSessionFiles.register', { input }, options)
        const { addresses, missing, shared } = addressesByName(answer.fields, input['filenames'] as string[])
        if (missing.length > 0) lacks(answer, `an address for ${showNames(missing, answer.secret)}`)
        if (shared.length > 0) lacks(answer, `an address of its own for each of ${showNames(shared, answer.secret)}`)
        return addresses
      },
    },
    playerGroupSegments: {
      create: creating('playerGroupSegments.create', checkSegment, segmentFromWire, 'a valid analysis_segment_id'),
      update: (input, options) => update('playerGroupSegments.update', input, options),
    },
    requestedAnalyses: {
      async list(input, options) {
        const answer = await perform('requestedAnalyses.list', { query: input?.query }, options)
        const items = analysisListFromWire(answer.json)
        return { items: items ?? lacks(answer, 'one list of analyses'), raw: answer.json }
      },
      async create(given, options) {
        return analysisOf(await perform('requestedAnalyses.create', { input: checkAnalysis(given) }, options))
      },
      async get(id, options) {
        return analysisOf(await perform('requestedAnalyses.get', { id: checkId(id, 'id') }, options))
      },
      async update(input, options) {
        return analysisFromWire(await update('requestedAnalyses.update', input, options))
      },
      async submit(id, options) {
        const sent = { id: checkId(id, 'id'), isBodyNeeded: false }
        return analysisFromWire((await perform('requestedAnalyses.submit', sent, options)).fields)
      },
    },
    videoUploads: {
      create: creating(
        'videoUploads.create',
        checkVideoUpload,
        videoUploadFromWire,
        'a valid upload_session_id and a well-formed pre_signed_urls',
      ),
      async confirm(given, options) {
        await perform('videoUploads.confirm', { input: checkConfirm(given), isBodyNeeded: false }, options)
      },
      async cancel(uploadSessionId, options) {
        const sent = { id: checkId(uploadSessionId, 'uploadSessionId'), isBodyNeeded: false }
        await perform('videoUploads.cancel', sent, options).catch((error: unknown) => {
          // An earlier try may have cancelled the session, in which case a later one finds nothing.
          if (!isGone(error) || !wasDoubtful(error)) throw error
        })
      },
    },
    call: createFreeCall(baseUrl, caller),
  }
}

function analysisOf(answer: Answer) {
  return isWireObject(answer.json) ? analysisFromWire(answer.json) : lacks(answer, 'the record')
}
