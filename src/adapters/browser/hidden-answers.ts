// Tells why a page got no answer: either the network is gone, or the host is there and the browser hides its answer.

import { hostOf } from '../../core/address/address.ts'
import { bodyLength } from '../../core/body-length.ts'
import { isUploadError, TransportError } from '../../core/errors.ts'
import type { Transport } from '../../core/ports.ts'
import { sendThrough } from '../../core/send-through.ts'
import { isSameOrigin } from './same-origin.ts'

/**
 * Makes the same transport, but with ERR_UPLOAD_ANSWER_HIDDEN in place of ERR_UPLOAD_NETWORK if the host answers an
 * anonymous no-cors request for its root, which has no path, query, credential or body of the original. The request's
 * own signal also ends this probe, so no wait gets longer.
 */
export function tellingHiddenAnswers(transport: Transport): Transport {
  return sendThrough(transport, {
    async send(request, forward) {
      let sentBytes = 0
      const onSent = (bytes: number): void => {
        sentBytes = bytes
        request.onSent?.(bytes)
      }
      const own = { ...request, onSent }
      try {
        return await forward(own)
      } catch (error) {
        const isMissing = isUploadError(error) && error.code === 'ERR_UPLOAD_NETWORK' && error.isRetryable
        // A request that broke off in the middle of its body was let through and then lost.
        const isBroken = request.body && sentBytes > 0 && sentBytes < bodyLength(request.body)
        if (!isMissing || isBroken || request.signal.aborted || isSameOrigin(request.url)) throw error
        const isThere = await isReachable(request.url, request.signal)
        request.signal.throwIfAborted()
        throw isThere ? hidden(request.url, transport.endingOf(own)) : error
      }
    },
  })
}

function isReachable(url: string, signal: AbortSignal): Promise<boolean> {
  const asking = fetch(new URL(url).origin, {
    mode: 'no-cors',
    credentials: 'omit',
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
    signal,
  })
  return asking.then(
    () => true,
    () => false,
  )
}

function hidden(url: string, ending: 'neverWhole' | 'doubtful'): TransportError {
  const host = hostOf(url)
  return new TransportError(
    'ERR_UPLOAD_ANSWER_HIDDEN',
    `${host} can be reached, but the browser keeps its answer from this page. Its CORS rule must allow the origin ` +
      `${origin}, the method and all headers, and expose ETag; a refusal without that rule is hidden too.`,
    { ending, phase: 'answer', details: { host } },
  )
}
