// One try of one call: its own abort, its own deadline, and a clear word on how it ended. It decides nothing.

import { TransportError, UploadError, isUploadError, summarize } from '../core/errors.ts'
import type { Clock, Transport, TransportReply } from '../core/ports.ts'
import type { CredentialHeader } from './credentials.ts'
import { showable } from './reply.ts'
import type { OperationKind } from './contract.ts'

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
}

export interface AttemptPorts {
  readonly transport: Transport
  readonly clock: Clock
  readonly timeoutMs: number
  readonly maxReplyBytes: number
}

/** Sends a call once: an answer, or why none came. Rejects with the signal's reason when aborted; leaves no timer and no listener behind. */
export async function attemptCall(
  ports: AttemptPorts,
  call: ServiceCall,
  options: { readonly credential: CredentialHeader; readonly isFreshConnection: boolean; readonly signal: AbortSignal },
): Promise<TransportReply | TransportError> {
  const { transport, clock, timeoutMs } = ports
  const { credential, signal } = options
  signal.throwIfAborted()
  const controller = new AbortController()
  const follow = (): void => controller.abort(signal.reason)
  signal.addEventListener('abort', follow, { once: true })
  const timer = clock.setTimeout(() => controller.abort(new Error('The deadline of this attempt passed.')), timeoutMs)
  const request = {
    method: call.method,
    url: call.url,
    headers: {
      accept: 'application/json',
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      [credential.name]: credential.value,
    },
    ...(call.body === undefined ? {} : { body: { kind: 'bytes' as const, bytes: call.body } }),
    signal: controller.signal,
    maxReplyBytes: ports.maxReplyBytes,
    ...(options.isFreshConnection ? { isFreshConnection: true } : {}),
  }
  try {
    return await transport.send(request)
  } catch (error) {
    signal.throwIfAborted()
    if (isTransportError(error)) return error
    if (!controller.signal.aborted) throw brokenTransport(error, call, credential)
    const message = `The service gave no answer within ${timeoutMs / 1000} s when asked to ${call.words}.`
    const ending = transport.endingOf(request)
    return new TransportError('ERR_UPLOAD_TIMEOUT', message, {
      ending,
      phase: ending === 'neverWhole' ? 'send' : 'answer',
    })
  } finally {
    clock.clearTimeout(timer)
    signal.removeEventListener('abort', follow)
  }
}

/** Also true for an error of another copy of the package. */
function isTransportError(error: unknown): error is TransportError {
  return isUploadError(error) && 'ending' in error && 'phase' in error
}

function brokenTransport(error: unknown, call: ServiceCall, credential: CredentialHeader): UploadError {
  // No cause: what broke the contract of a transport may hold the request, and with it the credential.
  const reason = showable(summarize(error).message, credential.secret).slice(0, 300)
  return new UploadError('ERR_UPLOAD_INTERNAL', `The transport failed outside its contract in ${call.operation}.`, {
    details: { operation: call.operation, reason },
  })
}
