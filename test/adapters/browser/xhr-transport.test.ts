// What is believed of a request of which the platform tells nothing until its answer is there: that all of it has gone, where a
// service worker may have sent it, and nowhere else. All else is seen in a real browser, in test/browser.

import { afterEach, expect, it, vi } from 'vitest'
import { xhrTransport } from '../../../src/adapters/browser/xhr-transport.ts'

const URL_OF_PART = 'https://store.example/part'

/** Has an answer as soon as it is sent, and tells before that what the test wants it to. */
function requestThatTells(told: readonly number[], meanwhile: () => unknown = () => undefined) {
  return class {
    readonly HEADERS_RECEIVED = 2
    readonly LOADING = 3
    readonly status = 200
    readonly responseURL = URL_OF_PART
    readonly responseText = ''
    readonly upload: { onprogress?: (event: { loaded: number }) => void } = {}
    readyState = 0
    onreadystatechange?: () => void
    onload?: () => void
    open(): void {}
    overrideMimeType(): void {}
    setRequestHeader(): void {}
    abort(): void {}
    getAllResponseHeaders(): string {
      return ''
    }
    send(): void {
      queueMicrotask(() => {
        meanwhile()
        for (const loaded of told) this.upload.onprogress?.({ loaded })
        this.readyState = this.HEADERS_RECEIVED
        this.onreadystatechange?.()
        this.onload?.()
      })
    }
  }
}

/** A worker's, in Chromium. */
const silent = {}
const refusing = {
  get serviceWorker(): never {
    throw new DOMException('Service worker is disabled because the context is sandboxed.', 'SecurityError')
  },
}

afterEach(() => void vi.unstubAllGlobals())

it.each([
  ['nothing was told, and no service worker is there: an answer may be early', {}, [], [0]],
  ['nothing was told, and a frame without an origin may not ask for one', refusing, [], [0]],
  ['nothing was told, and the page has none', { serviceWorker: { controller: null } }, [], [0]],
  ['nothing was told, in a worker, to which nobody says whether one sends for it', silent, [], [0, 10]],
  ['nothing was told, and one sends for the page', { serviceWorker: { controller: {} } }, [], [0, 10]],
  ['some of it was told, though one is there', { serviceWorker: { controller: {} } }, [4], [4]],
])('where %s', async (_, navigator, told, expected) => {
  vi.stubGlobal('XMLHttpRequest', requestThatTells(told))
  vi.stubGlobal('navigator', navigator)
  vi.stubGlobal('isSecureContext', navigator === silent)
  vi.stubGlobal('origin', 'https://page.example')
  const sent: number[] = []

  const reply = await xhrTransport().send({
    ...{ method: 'PUT', url: URL_OF_PART, headers: {}, signal: new AbortController().signal },
    body: { kind: 'bytes', bytes: new Uint8Array(10) },
    onSent: (bytes) => sent.push(bytes),
  })

  expect(reply.status).toBe(200)
  expect(sent).toEqual(expected)
})

it.each([
  ['where no service worker is there', [], {}, true],
  ['but before anything was told, where one may send for the page', [], { controller: {} }, false],
  ['where something was told, though one is there', [4], { controller: {} }, true],
  ['but before anything was told, in a worker, to which nobody says', [], undefined, false],
  ['where something was told, in such a worker', [4], undefined, true],
])('tells how far it is %s', async (_, told, serviceWorker, expected) => {
  vi.stubGlobal('XMLHttpRequest', requestThatTells(told))
  vi.stubGlobal('navigator', { serviceWorker })
  vi.stubGlobal('isSecureContext', true)
  vi.stubGlobal('origin', 'https://page.example')
  const transport = xhrTransport()

  await transport.send({
    ...{ method: 'PUT', url: URL_OF_PART, headers: {}, signal: new AbortController().signal },
    ...{ body: { kind: 'bytes', bytes: new Uint8Array(10) }, onSent: () => undefined },
  })

  expect(transport.isProgressLive).toBe(expected)
  // Another one may take what the first left alone.
  vi.stubGlobal('navigator', { serviceWorker: { controller: {} } })
  expect(transport.isProgressLive).toBe(false)
})

it('learns nothing of a service worker from a request that went before it came', async () => {
  const claim = (): unknown => vi.stubGlobal('navigator', { serviceWorker: { controller: {} } })
  vi.stubGlobal('XMLHttpRequest', requestThatTells([4], claim))
  vi.stubGlobal('navigator', { serviceWorker: { controller: null } })
  vi.stubGlobal('origin', 'https://page.example')
  const transport = xhrTransport()

  await transport.send({
    ...{ method: 'PUT', url: URL_OF_PART, headers: {}, signal: new AbortController().signal },
    ...{ body: { kind: 'bytes', bytes: new Uint8Array(10) }, onSent: () => undefined },
  })

  expect(transport.isProgressLive).toBe(false)
})
