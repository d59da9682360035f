// The Transport of pages: XMLHttpRequest, because only it tells how much of a body has gone. It cannot reset a
// connection, so an attempt that began and was not answered is doubtful.

import { hostOf } from '../../core/address/address.ts'
import { TransportError, type AttemptEnding } from '../../core/errors.ts'
import type { Transport, TransportReply, TransportRequest } from '../../core/ports.ts'
import { collectBody, lengthOf } from '../web/collected-body.ts'
import {
  allowedHeaders,
  closed,
  DEFAULT_MAX_REPLY_BYTES,
  networkFailure,
  redirectRefused,
} from '../web/platform-request.ts'
import { isSameOrigin } from './same-origin.ts'

/**
 * Makes a transport on XMLHttpRequest, which pages and dedicated workers have. A Blob goes out without being read by us;
 * windows are collected first, so memory is one part for each request in flight. No cookie is sent to another origin.
 *
 * The platform follows redirects unseen. One is noticed by the address that answered: ERR_UPLOAD_REDIRECT_REFUSED, when
 * the bytes may have reached the other place already. `isFreshConnection` is ignored.
 */
export function xhrTransport(): Transport {
  const endings = new WeakMap<TransportRequest, AttemptEnding>()
  const underWay = new Set<() => void>()
  let isClosed = false

  return {
    isProgressLive: true,
    hasQueue: true,
    async send(request) {
      const { signal } = request
      endings.set(request, 'neverWhole')
      signal.throwIfAborted()
      const host = hostOf(request.url)
      if (isClosed) throw networkFailure(host, { ...closed, ending: 'neverWhole' })
      const body = (await collectBody(request.body, signal)) ?? null
      signal.throwIfAborted()
      endings.set(request, 'doubtful')
      let end: () => void = () => undefined
      try {
        return await new Promise<TransportReply>((resolve, reject) => {
          end = exchange(request, body, host, resolve, reject)
          underWay.add(end)
          signal.addEventListener('abort', end, { once: true })
        })
      } finally {
        underWay.delete(end)
        signal.removeEventListener('abort', end)
      }
    },
    endingOf: (request) => endings.get(request) ?? 'neverWhole',
    close() {
      isClosed = true
      for (const end of [...underWay]) end()
      return Promise.resolve()
    },
  }
}

/** What is known of an answer so far; undefined until its head has come. */
interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  text: string
}

/** Gives what ends it before its end. */
function exchange(
  request: TransportRequest,
  body: Blob | Uint8Array<ArrayBuffer> | null,
  host: string,
  resolve: (reply: TransportReply) => void,
  reject: (error: Error) => void,
): () => void {
  const maxReplyBytes = request.maxReplyBytes ?? DEFAULT_MAX_REPLY_BYTES
  const xhr = new XMLHttpRequest()
  let answer: Answer | undefined
  const settle = (isWhole: boolean): void => {
    if (answer === undefined) reject(networkFailure(host, { ending: 'doubtful' }))
    else resolve(replyOf(answer, maxReplyBytes, isWhole, !isSameOrigin(request.url)))
  }
  const look = (): void => {
    if (xhr.readyState === xhr.HEADERS_RECEIVED) {
      if (xhr.responseURL !== withoutFragment(request.url)) {
        reject(redirectRefused(host))
        xhr.abort()
      } else answer = { status: xhr.status, headers: headersOf(xhr), text: '' }
    }
    if (answer === undefined || xhr.readyState !== xhr.LOADING) return
    answer.text = xhr.responseText
    if (answer.text.length <= maxReplyBytes) return
    settle(false)
    xhr.abort()
  }
  xhr.open(request.method, request.url)
  // Every byte of the answer becomes one character, so that its beginning can be read while the rest still comes.
  xhr.overrideMimeType('text/plain; charset=x-user-defined')
  for (const [name, value] of allowedHeaders(request)) xhr.setRequestHeader(name, value)
  xhr.onreadystatechange = look
  xhr.onload = () => {
    if (answer !== undefined) answer.text = xhr.responseText
    settle(true)
  }
  // A page that is being stopped (window.stop) aborts its requests by itself.
  xhr.onerror = xhr.onabort = () => settle(false)
  followProgress(xhr, request)
  request.onStarted?.()
  xhr.send(body)
  return () => {
    const { signal } = request
    // A wait is over, and there is a head: an answer whose body does not end is as good as one that broke off. Chromium tells of a
    // head when 512 bytes of the body are there, or at once where the storage says `x-content-type-options: nosniff`.
    if (answer !== undefined && signal.reason instanceof TransportError) settle(false)
    else reject(signal.aborted ? (signal.reason as Error) : networkFailure(host, { ...closed, ending: 'doubtful' }))
    xhr.abort()
  }
}

/** `load` comes when all bytes were handed to the network; an early answer may come before it. */
function followProgress({ upload }: XMLHttpRequest, { body, onSent }: TransportRequest): void {
  if (body === undefined || onSent === undefined) return
  const lengthBytes = lengthOf(body)
  upload.onprogress = ({ loaded }) => onSent(Math.min(loaded, lengthBytes))
  upload.onload = () => onSent(lengthBytes)
}

function replyOf(answer: Answer, maxReplyBytes: number, isWhole: boolean, hidesHeaders: boolean): TransportReply {
  const { status, headers, text } = answer
  const body = Uint8Array.from({ length: Math.min(text.length, maxReplyBytes) }, (_, at) => text.charCodeAt(at) & 0xff)
  return { status, headers, body, isBodyCut: !isWhole || text.length > maxReplyBytes, hidesHeaders }
}

function headersOf(xhr: XMLHttpRequest): Record<string, string> {
  const headers = Object.create(null) as Record<string, string>
  for (const line of xhr.getAllResponseHeaders().split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  return headers
}

function withoutFragment(url: string): string {
  return new URL(url).href.split('#')[0] ?? ''
}
