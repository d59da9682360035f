// Both transports of pages, in a real Chromium, judged by the same suite as Node's.

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe } from 'vitest'
import { transportContract } from '../contracts/transport.ts'
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

  describe('xhrTransport', () => {
    transportContract(() => bridge.create('xhr'), {
      ...{ hasReset: false, isProgressLive: true, isBrowser: true, followsRedirects: true, losesBrokenAnswers: true },
    })
  })
  describe('fetchTransport', () => {
    transportContract(() => bridge.create('fetch'), { hasReset: false, isProgressLive: false, isBrowser: true })
  })
})
