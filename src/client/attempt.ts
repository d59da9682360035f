// One try of one call: its request, its deadline, and a clear word on how it ended. What follows is decided elsewhere.

import { TransportError, UploadError, summarize } from '../core/errors.ts'
import type { Clock, Transport, TransportReply, TransportRequest } from '../core/ports.ts'
import type { OperationKind } from './contract.ts'
import type { CredentialHeader } from './credentials.ts'
import { showable } from './reply.ts'
import { sendOnce } from './send-once.ts'
import { classOfStatus } from './status.ts'

/** A call as it is handed to the transport, without its credential. */
export interface ServiceCall {
  /** The operation, for details and events: `videoUploads.create`, `GET /players`. */
  readonly operation: string
  /** The same for people, in messages: `create the video session`, `GET /players`. */
  readonly words: string
  readonly kind: OperationKind
  readonly method: string
  readonly url: string
  /** JSON. Absent: the request has no body. */
  readonly body?: Uint8Array
  /** Default: that of the ports. */
  readonly maxReplyBytes?: number
}

export interface CallPorts {
  readonly transport: Transport
  readonly clock: Clock
  readonly timeoutMs: number
  readonly maxReplyBytes: number
}

/** Sends a call once. Returns the answer, or why none came. Rejects with the signal's reason when aborted. */
export async function attemptCall(
  ports: CallPorts,
  call: ServiceCall,
  options: {
    readonly credential: CredentialHeader
    readonly isFreshConnection: boolean
    readonly signal: AbortSignal
  },
  /** Called when it is aborted after the far end may have received all of it. */
  onHeard: () => void,
): Promise<TransportReply | TransportError> {
  const { method, url, body: bytes, words, maxReplyBytes = ports.maxReplyBytes } = call
  const { credential, signal } = options
  const type = bytes === undefined ? {} : { 'content-type': 'application/json' }
  const request: TransportRequest = {
    method,
    url,
    signal,
    maxReplyBytes,
    // `identity`, because nothing here unpacks an answer.
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...type,
      [credential.name]: credential.value,
    },
    isFreshConnection: options.isFreshConnection,
    ...(bytes && { body: { kind: 'bytes', bytes } as const }),
  }
  const asked = { who: 'service', words, timeoutMs: ports.timeoutMs, onHeard } as const
  const outcome = await sendOnce(ports, request, asked).catch((error: unknown) => {
    signal.throwIfAborted()
    throw brokenTransport(error, call, credential)
  })
  // A success must be whole: what broke off may just as well be the page of a proxy.
  const isBroken =
    'status' in outcome &&
    outcome.isBodyCut &&
    outcome.body.length < maxReplyBytes &&
    classOfStatus(outcome.status) === 'success'
  return isBroken ? brokenOff() : outcome
}

/** An answer that broke off, from the service or from a proxy. The host is there, so it uses up a try. */
function brokenOff(): TransportError {
  const how = { ending: 'doubtful', phase: 'answer', isUnreadable: true } as const
  return new TransportError('ERR_UPLOAD_NETWORK', 'The answer broke off.', how)
}

function brokenTransport(error: unknown, call: ServiceCall, credential: CredentialHeader): UploadError {
  // No cause: an error from outside the transport's contract may hold the request, and with it the credential.
  const reason = showable(summarize(error).message, credential.secret).slice(0, 300)
  const { operation } = call
  const message = `The transport failed outside its contract in ${operation}: ${reason}`
  return new UploadError('ERR_UPLOAD_INTERNAL', message, { details: { operation, reason } })
}
