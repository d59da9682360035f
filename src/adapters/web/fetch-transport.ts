// The Transport of every place that has fetch. Fetch can neither reset a connection nor see bytes leave. So progress
// comes at the end, and an attempt that got as far as fetch is doubtful.

import type { Transport, TransportReply } from '../../core/ports.ts'
import { bodyLength } from '../../core/body-length.ts'
import { allowedHeaders, networkFailure, redirectRefused } from './platform-request.ts'
import { isWaitOver, platformTransport } from './platform-transport.ts'

/** Options of the transport. */
export interface FetchTransportOptions {
  /** Default: the platform's fetch. */
  readonly fetch?: typeof fetch | undefined
}

/** Codes by which Node's fetch says that nothing was sent. Browsers do not tell. */
const UNCONNECTED = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/

/**
 * Makes a transport on fetch. A body of windows is collected first, so each request in flight takes the memory of one
 * part: no browser sends a stream with a Content-Length (Node 20 to 24 does when told the length, which no standard
 * promises). Bytes and Blobs go out as they are. The platform adds headers of its own (accept, user-agent and the like)
 * and ignores `isFreshConnection`. An opaque redirect is ERR_UPLOAD_REDIRECT_REFUSED. One that the platform shows is an
 * answer.
 */
export function fetchTransport(options: FetchTransportOptions = {}): Transport {
  return platformTransport({ isProgressLive: false }, async ({ request, host, body, maxReplyBytes, signal }) => {
    // Async, so that what fetch throws at once also comes to the catch: its words may name the URL.
    const asking = async (): Promise<Response> =>
      (options.fetch ?? fetch)(request.url, {
        method: request.method,
        headers: allowedHeaders(request),
        body: body ?? null,
        redirect: 'manual',
        credentials: 'omit',
        cache: 'no-store',
        referrerPolicy: 'no-referrer',
        signal,
      })
    const response = await asking().catch((error: unknown) => {
      const reason = causeCode(error)
      throw networkFailure(host, { reason, ending: UNCONNECTED.test(reason) ? 'neverWhole' : 'doubtful' })
    })
    if (response.type === 'opaqueredirect') throw redirectRefused(host)
    const reply = await readReply(response, maxReplyBytes)
    if (!isWaitOver(request)) signal.throwIfAborted()
    if (request.body) request.onSent?.(bodyLength(request.body))
    return reply
  })
}

/** Reads the beginning of the body and leaves the rest. A body that breaks off counts as cut. */
async function readReply(response: Response, maxReplyBytes: number): Promise<TransportReply> {
  // Memory for what arrives, not for what may arrive: 64 MiB for each call of the service block a page for up to 4 ms.
  const kept: Uint8Array[] = []
  let keptBytes = 0
  let isBodyCut = false
  const reader = response.body?.getReader()
  try {
    while (reader && !isBodyCut) {
      const step = await reader.read()
      if (step.done) break
      const wanted = step.value.subarray(0, maxReplyBytes - keptBytes)
      kept.push(wanted)
      keptBytes += wanted.byteLength
      isBodyCut = wanted.byteLength < step.value.byteLength
    }
    if (isBodyCut) await reader?.cancel()
  } catch {
    isBodyCut = true
  }
  const body = new Uint8Array(keptBytes)
  let at = 0
  for (const piece of kept) {
    body.set(piece, at)
    at += piece.byteLength
  }
  const headers = Object.create(null) as Record<string, string>
  response.headers.forEach((value, name) => (headers[name] = value))
  return {
    status: response.status,
    headers,
    body,
    isBodyCut,
    // The type of what a page gets from another origin.
    hidesHeaders: response.type === 'cors',
  }
}

/** The system's code of a failure; empty if it has none. */
function causeCode(error: unknown): string {
  const { code } = ((error as Error | undefined)?.cause ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : ''
}
