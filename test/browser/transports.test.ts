// Both transports of pages, in a real Chromium, judged by the same suite as Node's.

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { transportContract } from '../contracts/transport.ts'
import { scriptedServer } from '../helpers/scripted-server.ts'
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
    await vi.waitFor(() => expect(server.connections).toHaveLength(1), 10_000)

    await tab.evaluate(() => window.stop())

    expect(await outcome).toBe('ERR_UPLOAD_NETWORK')
    await tab.close()
    await server.close()
  })

  describe('xhrTransport', () => {
    transportContract(() => bridge.create('xhr'), {
      ...{ hasReset: false, isProgressLive: true, isBrowser: true, followsRedirects: true, losesBrokenAnswers: true },
    })
  })
  describe('fetchTransport', () => {
    transportContract(() => bridge.create('fetch'), { hasReset: false, isProgressLive: false, isBrowser: true })
  })
})
