// One try of one call: the request that carries it, its deadline, and a clear word on how it ended. It decides nothing.

import { TransportError, UploadError, summarize } from '../core/errors.ts'
import { given } from '../core/given.ts'
import type { Clock, Transport, TransportReply, TransportRequest } from '../core/ports.ts'
import type { OperationKind } from './contract.ts'
import type { CredentialHeader } from './credentials.ts'
import { showable } from './reply.ts'
import { sendOnce } from './send-once.ts'
import { classOfStatus } from './status.ts'

/** A call as it goes to the transport, but for its credential. */
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

export interface AttemptPorts {
  readonly transport: Transport
  readonly clock: Clock
  readonly timeoutMs: number
  readonly maxReplyBytes: number
}

/** Sends a call once: an answer, or why none came. Rejects with the signal's reason when aborted. */
export async function attemptCall(
  ports: AttemptPorts,
  call: ServiceCall,
  options: { readonly credential: CredentialHeader; readonly isFreshConnection: boolean; readonly signal: AbortSignal },
): Promise<TransportReply | TransportError> {
  const { method, url, body: bytes, words, maxReplyBytes = ports.maxReplyBytes } = call
  const { credential, signal } = options
  const type = bytes === undefined ? {} : { 'content-type': 'application/json' }
  const request: TransportRequest = {
    method,
    url,
    signal,
    maxReplyBytes,
    // Nothing here unpacks an answer.
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...type,
      [credential.name]: credential.value,
    },
    ...given({
      body: bytes && ({ kind: 'bytes', bytes } as const),
      isFreshConnection: options.isFreshConnection || undefined,
    }),
  }
  const asked = { who: 'service', words, timeoutMs: ports.timeoutMs } as const
  const outcome = await sendOnce(ports, request, asked).catch((error: unknown) => {
    signal.throwIfAborted()
    throw brokenTransport(error, call, credential)
  })
  // Of a success all must be there: what broke off may be the page of a proxy as well as what was asked for.
  const isBroken =
    'status' in outcome &&
    outcome.isBodyCut &&
    outcome.body.length < maxReplyBytes &&
    classOfStatus(outcome.status) === 'success'
  return isBroken ? brokenOff() : outcome
}

/** What counts as an answer that uses up a try: the host is there. It was the doing of a proxy, or of the service. */
function brokenOff(): TransportError {
  const how = { ending: 'doubtful', phase: 'answer', isUnreadable: true } as const
  return new TransportError('ERR_UPLOAD_NETWORK', 'The answer broke off.', how)
}

function brokenTransport(error: unknown, call: ServiceCall, credential: CredentialHeader): UploadError {
  // No cause: what broke the contract of a transport may hold the request, and with it the credential.
  const reason = showable(summarize(error).message, credential.secret).slice(0, 300)
  return new UploadError('ERR_UPLOAD_INTERNAL', `The transport failed outside its contract in ${call.operation}.`, {
    details: { operation: call.operation, reason },
  })
}
