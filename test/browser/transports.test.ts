// Both transports of pages, in a real Chromium, judged by the same suite as Node's.

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { transportContract } from '../../src/testing/transport-contract.ts'
import { scriptedServer } from '../../src/testing/scripted-server.ts'
import { chromiumPath, launchChromium } from './rig/chromium.ts'
import { bundleScripts, servePages, type PageServer } from './rig/page-server.ts'
import { bridgeTransports, type TransportBridge } from './rig/transport-proxy.ts'

describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
  let browser: Browser
  let pages: PageServer
  let bridge: TransportBridge

  beforeAll(async () => {
    pages = await servePages(await bundleScripts())
    // The suite's servers speak raw HTTP and know nothing of CORS, which has tests of its own.
    browser = await launchChromium(['--disable-web-security'])
    const page = await browser.newPage()
    bridge = await bridgeTransports(page, pages)
    await page.goto(pages.url)
  })
  afterAll(async () => {
    await browser.close()
    await pages.close()
  })

  test('xhrTransport ends what the browser stops by itself', async () => {
    const server = await scriptedServer((connection) => connection.readToEnd().then(() => undefined))
    const tab = await browser.newPage()
    await tab.goto(pages.url)
    const outcome = tab.evaluate((url) => {
      const signal = new AbortController().signal
      return rig
        .xhrTransport()
        .send({ method: 'PUT', url, headers: {}, body: { kind: 'bytes', bytes: new Uint8Array(10) }, signal })
        .then(String, (error: unknown) => (error as { code?: string }).code)
    }, `${server.origin}/part`)
    await vi.waitFor(() => expect(server.connections).toHaveLength(1), 30_000)

    await tab.evaluate(() => window.stop())

    expect(await outcome).toBe('ERR_UPLOAD_NETWORK')
    await tab.close()
    await server.close()
  })

  const unending = ['xhr', 'fetch'].flatMap((kind) => [
    { kind, why: 'a wait is over', isWaitOver: true },
    { kind, why: 'it is not wanted any more', isWaitOver: false },
  ])
  test.each(unending)('$kind, an answer whose body does not end: $why', async ({ kind, isWaitOver }) => {
    const server = await scriptedServer(async (connection) => {
      await connection.readRequest()
      // Chromium keeps the head from an XMLHttpRequest while it guesses the type of a short body; a fetch has it at once.
      await connection.write('HTTP/1.1 200 OK\r\netag: "e"\r\nx-content-type-options: nosniff\r\n')
      await connection.write('content-length: 100\r\n\r\nhalf')
      await connection.readToEnd()
    })
    const tab = await browser.newPage()
    await tab.goto(pages.url)
    const found = await tab.evaluate(
      async ([url, by, isOver]) => {
        const controller = new AbortController()
        const why = { ending: 'doubtful', phase: 'answer' } as const
        const reason = isOver ? new rig.TransportError('ERR_UPLOAD_TIMEOUT', 'Too long', why) : new Error('enough')
        // Both when something of the body is there.
        const stop = (): void => void setTimeout(() => controller.abort(reason))
        const { send } = XMLHttpRequest.prototype
        XMLHttpRequest.prototype.send = function (body) {
          this.addEventListener('readystatechange', () => this.readyState === this.LOADING && stop())
          send.call(this, body as null)
        }
        const transport =
          by === 'xhr' ? rig.xhrTransport() : rig.fetchTransport({ fetch: (...asked) => fetch(...asked).finally(stop) })
        const body = { kind: 'bytes', bytes: new Uint8Array(10) } as const
        const request = { method: 'PUT', url, headers: {}, body, signal: controller.signal }
        return transport.send(request).then(
          ({ status, headers, isBodyCut }) => [status, headers['etag'], isBodyCut],
          (error: unknown) => [error === reason, transport.endingOf(request)],
        )
      },
      [`${server.origin}/part`, kind, isWaitOver] as const,
    )

    expect(found).toEqual(isWaitOver ? [200, '"e"', true] : [true, 'doubtful'])
    await tab.close()
    await server.close()
  })

  transportContract('xhrTransport', () => bridge.create('xhr'), {
    ...{ hasReset: false, isProgressLive: true, isBrowser: true, followsRedirects: true, losesBrokenAnswers: true },
  })
  transportContract('fetchTransport', () => bridge.create('fetch'), {
    ...{ hasReset: false, isProgressLive: false, isBrowser: true },
  })
})
