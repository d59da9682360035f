// The Transport of pages: XMLHttpRequest, because only that tells how much of a body has gone. It cannot reset a
// connection, so an attempt that began and was not answered is doubtful.

import { bodyLength } from '../../core/body-length.ts'
import { onAbort } from '../../core/on-abort.ts'
import type { Transport, TransportReply } from '../../core/ports.ts'
import { allowedHeaders, networkFailure, redirectRefused } from '../web/platform-request.ts'
import { isWaitOver, platformTransport, type PlatformExchange } from '../web/platform-transport.ts'
import { isSameOrigin } from './same-origin.ts'

/** Not read from the request: an object that another script has put in place of one may lack the names of its states. */
const HEADERS_RECEIVED = 2
const LOADING = 3

/**
 * Makes a transport on XMLHttpRequest, which pages and dedicated workers have. A Blob goes out without being read by
 * us. Windows are collected first, so each request in flight takes the memory of one part. No cookie is sent to another
 * origin.
 *
 * The platform follows redirects unseen. One is noticed by the address that answered, and is
 * ERR_UPLOAD_REDIRECT_REFUSED. By then the bytes may have reached the other place. `isFreshConnection` is ignored.
 * Where a service worker may send for the page, progress is not live until the platform has reported some.
 */
export function xhrTransport(): Transport {
  /** The service worker, if any, under which the platform last reported progress: it leaves these requests alone. */
  let toldUnder: ReturnType<typeof serviceWorker> = null
  const traits = {
    hasQueue: true,
    get isProgressLive() {
      return toldUnder === serviceWorker()
    },
  }
  return platformTransport(traits, (one) => {
    // Taken now, because one that takes over later has not left anything alone yet.
    const under = serviceWorker()
    const onTold = (): void => void (toldUnder = under)
    return new Promise((resolve, reject) => exchange(one, onTold, resolve, reject))
  })
}

/** What is known of an answer so far. There is none until its head has come. */
interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  text: string
}

function exchange(
  { request, host, body, maxReplyBytes, signal }: PlatformExchange,
  onTold: () => void,
  resolve: (reply: TransportReply) => void,
  reject: (error: Error) => void,
): void {
  const xhr = new XMLHttpRequest()
  let answer: Answer | undefined
  /** Whether the platform has reported how much has gone. */
  let isTold = false
  const settle = (isWhole: boolean): void => {
    if (answer) resolve(replyOf(answer, maxReplyBytes, isWhole, !isSameOrigin(request.url)))
    else reject(networkFailure(host, { ending: 'doubtful' }))
  }
  const look = (): void => {
    if (xhr.readyState === HEADERS_RECEIVED) {
      // An early answer may come before the first progress.
      if (!isTold) onSent?.(0)
      if (xhr.responseURL !== withoutFragment(request.url)) {
        reject(redirectRefused(host))
        xhr.abort()
      } else answer = { status: xhr.status, headers: headersOf(xhr), text: '' }
    }
    if (!answer || xhr.readyState !== LOADING) return
    answer.text = xhr.responseText
    if (answer.text.length <= maxReplyBytes) return
    settle(false)
    xhr.abort()
  }
  const { body: content, onSent } = request
  xhr.open(request.method, request.url)
  // Makes every byte of the answer one character, so that its beginning can be read while the rest is still arriving.
  xhr.overrideMimeType('text/plain; charset=x-user-defined')
  for (const [name, value] of allowedHeaders(request)) xhr.setRequestHeader(name, value)
  xhr.onreadystatechange = look
  xhr.onload = () => {
    if (answer) answer.text = xhr.responseText
    // The platform reports nothing of what a service worker sends for the page. As with fetch, that has gone when the
    // answer is whole. A request that the worker leaves alone looks the same until something is reported, so one that
    // HTTP/2 answers early with 2xx counts as sent.
    if (!isTold && content && serviceWorker() !== null) onSent?.(bodyLength(content))
    settle(true)
  }
  // A page that is being stopped (window.stop) aborts its requests by itself.
  xhr.onerror = xhr.onabort = () => settle(false)
  // `load` comes when all bytes were handed to the network. An early answer may come before it.
  if (content && onSent) {
    xhr.upload.onprogress = xhr.upload.onload = ({ loaded }) => {
      isTold = true
      onTold()
      onSent(loaded)
    }
  }
  request.onStarted?.()
  xhr.send(body)
  onAbort(signal, () => {
    // Chromium reports a head once 512 bytes of the body are there, or at once if the storage sends
    // `x-content-type-options: nosniff`.
    if (answer && isWaitOver(request)) settle(false)
    else reject(signal.reason as Error)
    xhr.abort()
  })
}

function replyOf(answer: Answer, maxReplyBytes: number, isWhole: boolean, hidesHeaders: boolean): TransportReply {
  const { status, headers, text } = answer
  // The lower eight bits of each character are its byte.
  const body = Uint8Array.from(text.slice(0, maxReplyBytes), (character) => character.charCodeAt(0))
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

/**
 * The service worker that may send this page's requests. Null if there is none, undefined if the platform does not say,
 * as in Chromium's workers.
 */
function serviceWorker(): ServiceWorker | null | undefined {
  try {
    const { serviceWorker: known } = navigator as Partial<Navigator>
    // Only secure pages have one.
    return known ? (known.controller ?? null) : isSecureContext ? undefined : null
  } catch {
    // A frame without an origin may not even ask.
    return null
  }
}

function withoutFragment(url: string): string {
  return new URL(url).href.split('#')[0] ?? ''
}
