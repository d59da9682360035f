// A transport whose requests wait until the test answers or fails them, one by one, in order of arrival.

import { TransportError } from '../../src/core/errors.ts'
import type { AttemptEnding } from '../../src/core/errors.ts'
import type { Transport, TransportReply, TransportRequest } from '../../src/core/ports.ts'

export interface ScriptedReply {
  readonly status: number
  /** Sent as JSON, unless it is a string or bytes, which are sent unchanged. Default: no body. */
  readonly body?: unknown
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
  readonly isBodyCut?: boolean
  readonly hidesHeaders?: boolean
}

export interface ScriptedFailure {
  readonly code?:
    'ERR_UPLOAD_NETWORK' | 'ERR_UPLOAD_TIMEOUT' | 'ERR_UPLOAD_REDIRECT_REFUSED' | 'ERR_UPLOAD_ANSWER_HIDDEN'
  readonly phase: 'connect' | 'send' | 'answer'
  /** Default: `neverWhole` for connect and send, `doubtful` for answer. */
  readonly ending?: AttemptEnding
  readonly message?: string
  readonly cause?: unknown
}

/** A request that has been sent and not yet been answered. */
export interface ScriptedRequest {
  readonly request: TransportRequest
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The whole body, with all its windows. */
  bodyBytes(): Promise<Uint8Array>
  bodyText(): Promise<string>
  /** Undefined if there is no body. */
  bodyJson(): Promise<unknown>
  reply(reply: ScriptedReply): void
  fail(failure: ScriptedFailure): void
  /** Rejects with an arbitrary error, which a transport should not do. */
  break(reason: Error): void
  /** What `endingOf` returns if this request is aborted. Default `doubtful`. */
  endsAs(ending: AttemptEnding): void
}

export interface ScriptedTransport extends Transport {
  /** The oldest request that no `next` has taken. Waits for one if there is none. */
  next(): Promise<ScriptedRequest>
  /** Requests that no `next` has taken. */
  readonly waitingCount: number
  /** Everything that was ever sent, in order. */
  readonly sent: readonly ScriptedRequest[]
  readonly isClosed: boolean
}

export function createScriptedTransport(): ScriptedTransport {
  const sent: ScriptedRequest[] = []
  const waiting: ScriptedRequest[] = []
  const takers: ((request: ScriptedRequest) => void)[] = []
  const endings = new Map<TransportRequest, AttemptEnding>()
  const open = new Set<ScriptedRequest>()
  let isClosed = false
  return {
    send(request) {
      return new Promise<TransportReply>((resolve, reject) => {
        if (request.signal.aborted) {
          endings.set(request, 'neverWhole')
          reject(request.signal.reason as Error)
          return
        }
        const settle = (end: () => void): void => {
          request.signal.removeEventListener('abort', leave)
          open.delete(scripted)
          end()
        }
        const leave = (): void => settle(() => reject(request.signal.reason as Error))
        request.signal.addEventListener('abort', leave, { once: true })
        const scripted = scriptedRequest(request, {
          resolve: (reply) => settle(() => resolve(reply)),
          reject: (reason) => settle(() => reject(reason)),
          setEnding: (ending) => endings.set(request, ending),
        })
        open.add(scripted)
        sent.push(scripted)
        const taker = takers.shift()
        if (taker === undefined) waiting.push(scripted)
        else taker(scripted)
      })
    },
    endingOf: (request) => endings.get(request) ?? 'doubtful',
    close() {
      isClosed = true
      for (const request of [...open]) request.fail({ phase: 'answer' })
      return Promise.resolve()
    },
    next() {
      const request = waiting.shift()
      return request === undefined ? new Promise((resolve) => takers.push(resolve)) : Promise.resolve(request)
    },
    get waitingCount() {
      return waiting.length
    },
    get sent() {
      return sent
    },
    get isClosed() {
      return isClosed
    },
  }
}

function scriptedRequest(
  request: TransportRequest,
  ends: {
    readonly resolve: (reply: TransportReply) => void
    readonly reject: (reason: Error) => void
    readonly setEnding: (ending: AttemptEnding) => void
  },
): ScriptedRequest {
  const bodyText = async (): Promise<string> => new TextDecoder().decode(await collect(request))
  return {
    request,
    method: request.method,
    url: request.url,
    headers: request.headers,
    bodyBytes: () => collect(request),
    bodyText,
    async bodyJson() {
      return request.body === undefined ? undefined : (JSON.parse(await bodyText()) as unknown)
    },
    reply({ status, body, headers = {}, isBodyCut = false, hidesHeaders = false }) {
      const names = Object.assign(Object.create(null) as Record<string, string>, headers)
      ends.resolve({ status, headers: names, body: bytesOf(body), isBodyCut, hidesHeaders })
    },
    fail({ code = 'ERR_UPLOAD_NETWORK', phase, ending, message = 'The connection failed.', cause }) {
      const known = ending ?? (phase === 'answer' ? 'doubtful' : 'neverWhole')
      ends.setEnding(known)
      ends.reject(new TransportError(code, message, { phase, ending: known, cause }))
    },
    break: ends.reject,
    endsAs: ends.setEnding,
  }
}

async function collect({ body }: TransportRequest): Promise<Uint8Array> {
  if (body === undefined) return new Uint8Array()
  if (body.kind === 'bytes') return body.bytes.slice()
  if (body.kind === 'blob') return new Uint8Array(await body.blob.arrayBuffer())
  const all = new Uint8Array(body.lengthBytes)
  let at = 0
  for await (const window of body.windows()) {
    all.set(window, at)
    at += window.length
  }
  if (at !== body.lengthBytes) throw new Error(`The windows hold ${at} bytes and not ${body.lengthBytes}.`)
  return all
}

function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body
  if (body === undefined) return new Uint8Array()
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
}
