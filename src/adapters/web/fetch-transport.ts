// The Transport of every place that has fetch. It cannot reset a connection nor see bytes leave, and says so: progress
// comes at the end, and an attempt that got as far as fetch is doubtful.

import { hostOf } from '../../core/address/address.ts'
import { TransportError, type AttemptEnding } from '../../core/errors.ts'
import type { Transport, TransportReply, TransportRequest } from '../../core/ports.ts'
import { collectBody, lengthOf } from './collected-body.ts'
import { allowedHeaders, closed, DEFAULT_MAX_REPLY_BYTES, networkFailure, redirectRefused } from './platform-request.ts'

/** What the transport uses. */
export interface FetchTransportOptions {
  /** Default: the platform's fetch. */
  readonly fetch?: typeof fetch
}

/** How Node's fetch says that nothing was sent; browsers do not tell. */
const unconnectedCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/**
 * Makes a transport on fetch. A body of windows is collected first, so memory is one part for each request in flight:
 * no browser sends a stream with a Content-Length (Node 20 to 24 does when told the length, which no standard promises). Bytes and Blobs
 * go out as they are. The platform adds headers of its own (accept, user-agent and the like) and ignores
 * `isFreshConnection`. Redirects: an opaque one is ERR_UPLOAD_REDIRECT_REFUSED, one that the platform shows is an answer.
 */
export function fetchTransport(options: FetchTransportOptions = {}): Transport {
  const { fetch: send = (...args: Parameters<typeof fetch>) => fetch(...args) } = options
  const endings = new WeakMap<TransportRequest, AttemptEnding>()
  const endingOf = (request: TransportRequest): AttemptEnding => endings.get(request) ?? 'neverWhole'
  const underWay = new Set<AbortController>()
  let isClosed = false

  const attempt = async (request: TransportRequest, signal: AbortSignal): Promise<TransportReply> => {
    const host = hostOf(request.url)
    const body = await collectBody(request.body, signal)
    signal.throwIfAborted()
    endings.set(request, 'doubtful')
    const response = await send(request.url, {
      method: request.method,
      headers: allowedHeaders(request),
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      credentials: 'omit',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
      signal,
    })
    if (response.type === 'opaqueredirect') throw redirectRefused(host)
    const reply = await readReply(response, request.maxReplyBytes ?? DEFAULT_MAX_REPLY_BYTES)
    // A wait is over, and there is a head: an answer whose body does not end is as good as one that broke off.
    if (!(signal.reason instanceof TransportError)) signal.throwIfAborted()
    if (request.body !== undefined) request.onSent?.(lengthOf(request.body))
    return reply
  }

  return {
    isProgressLive: false,
    send: async (request) => {
      endings.set(request, 'neverWhole')
      request.signal.throwIfAborted()
      if (isClosed) throw networkFailure(hostOf(request.url), { ...closed, ending: 'neverWhole' })
      const controller = new AbortController()
      const onAbort = () => controller.abort(request.signal.reason)
      request.signal.addEventListener('abort', onAbort, { once: true })
      underWay.add(controller)
      try {
        return await attempt(request, controller.signal)
      } catch (error) {
        request.signal.throwIfAborted()
        if (error instanceof TransportError) throw error
        const ending = endingOf(request)
        if (controller.signal.aborted) throw networkFailure(hostOf(request.url), { ...closed, ending })
        // What failed before fetch is the body's own error.
        if (ending === 'neverWhole') throw error
        const code = causeCode(error)
        if (code !== undefined && unconnectedCodes.has(code)) endings.set(request, 'neverWhole')
        throw networkFailure(hostOf(request.url), {
          reason: code,
          ending: endingOf(request),
        })
      } finally {
        underWay.delete(controller)
        request.signal.removeEventListener('abort', onAbort)
      }
    },
    endingOf,
    close: async () => {
      isClosed = true
      for (const controller of underWay) controller.abort()
      await Promise.resolve()
    },
  }
}

/** Reads the beginning of the body and leaves the rest; a body that breaks off counts as cut. */
async function readReply(response: Response, maxReplyBytes: number): Promise<TransportReply> {
  const body = new Uint8Array(maxReplyBytes)
  let keptBytes = 0
  let isBodyCut = false
  const reader = response.body?.getReader()
  try {
    while (reader !== undefined && !isBodyCut) {
      const step = await reader.read()
      if (step.done) break
      const wanted = step.value.subarray(0, maxReplyBytes - keptBytes)
      body.set(wanted, keptBytes)
      keptBytes += wanted.byteLength
      isBodyCut = wanted.byteLength < step.value.byteLength
    }
    if (isBodyCut) await reader?.cancel()
  } catch {
    isBodyCut = true
  }
  const headers = Object.create(null) as Record<string, string>
  response.headers.forEach((value, name) => {
    const earlier = headers[name]
    headers[name] = earlier === undefined ? value : `${earlier}, ${value}`
  })
  return {
    status: response.status,
    headers,
    body: body.slice(0, keptBytes),
    isBodyCut,
    // What pages get from another origin.
    ...(response.type === 'cors' ? { hidesHeaders: true } : {}),
  }
}

function causeCode(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return undefined
  return typeof cause.code === 'string' && /^[A-Z0-9_]{1,64}$/.test(cause.code) ? cause.code : undefined
}
