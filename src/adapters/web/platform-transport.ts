// What transports on fetch and on XMLHttpRequest have in common. The platform makes the request and cannot reset a
// connection, so an attempt that began and was not answered is doubtful.

import { hostOf } from '../../core/address/address.ts'
import { isTransportError, type AttemptEnding, type TransportError } from '../../core/errors.ts'
import { onAbort } from '../../core/on-abort.ts'
import type { Transport, TransportReply, TransportRequest } from '../../core/ports.ts'
import { collectBody } from './collected-body.ts'
import { DEFAULT_MAX_REPLY_BYTES, networkFailure } from './platform-request.ts'

/** One request as the platform makes it. */
export interface PlatformExchange {
  readonly request: TransportRequest
  readonly host: string
  readonly body: Blob | Uint8Array<ArrayBuffer> | undefined
  readonly maxReplyBytes: number
  /** Aborts with the request's signal, and when the transport is closed. */
  readonly signal: AbortSignal
}

/**
 * Makes a transport out of `exchange`. That rejects with a TransportError that says how it ended, or in any way once
 * its signal is aborted.
 */
export function platformTransport(
  traits: Pick<Transport, 'isProgressLive' | 'hasQueue'>,
  exchange: (exchange: PlatformExchange) => Promise<TransportReply>,
): Transport {
  const endings = new WeakMap<TransportRequest, AttemptEnding>()
  const underWay = new Set<() => void>()
  let isClosed = false

  return Object.assign(traits, {
    async send(request) {
      const { signal, url, maxReplyBytes = DEFAULT_MAX_REPLY_BYTES } = request
      endings.set(request, 'neverWhole')
      signal.throwIfAborted()
      const host = hostOf(url)
      const body = await collectBody(request.body, signal)
      signal.throwIfAborted()
      if (isClosed) throw closed(host, 'neverWhole')
      endings.set(request, 'doubtful')
      const own = new AbortController()
      const end = (): void => own.abort(signal.aborted ? signal.reason : closed(host, 'doubtful'))
      const leave = onAbort(signal, end)
      underWay.add(end)
      try {
        return await exchange({ request, host, body, maxReplyBytes, signal: own.signal })
      } catch (error) {
        own.signal.throwIfAborted()
        if (isTransportError(error)) endings.set(request, error.ending)
        throw error
      } finally {
        underWay.delete(end)
        leave()
      }
    },
    endingOf: (request) => endings.get(request) ?? 'neverWhole',
    close() {
      isClosed = true
      underWay.forEach((end) => end())
      return Promise.resolve()
    },
  } satisfies Transport)
}

/**
 * Whether a wait of the engine is over, as opposed to the attempt being given up. If a head has come, it is then the
 * answer: one whose body does not end is as good as one whose body broke off.
 */
export function isWaitOver({ signal }: TransportRequest): boolean {
  return isTransportError(signal.reason)
}

function closed(host: string, ending: AttemptEnding): TransportError {
  return networkFailure(host, { reason: 'the transport was closed', isRetryable: false, ending })
}
