// Pages as hosts have them: behind a service worker, and in a frame without an origin.

import type { Browser, Frame, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { API_KEY, startUnderTest, type ServiceUnderTest } from '../service/service-under-test.ts'
import { chromiumPath, launchChromium, openPage } from './rig/chromium.ts'
import { bundleScripts, servePages, type PageServer } from './rig/page-server.ts'

/** Answers whatever the page asks for with what the network says, as many do that only look for a few addresses. */
const SERVICE_WORKER = `
addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('fetch', (event) => event.respondWith(fetch(event.request)))`

describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
  let browser: Browser
  let pages: PageServer
  let service: ServiceUnderTest

  beforeAll(async () => {
    const scripts = new Map(await bundleScripts()).set('sw.js', new TextEncoder().encode(SERVICE_WORKER))
    // A page without an origin loads its script from another one.
    pages = await servePages(scripts, { 'access-control-allow-origin': '*' })
    browser = await launchChromium()
    service = await startUnderTest({ now: Date.now })
  })
  afterAll(async () => {
    await browser.close()
    await Promise.all([pages.close(), service.close()])
  })

  /** Uploads 6 MiB in two parts. */
  const upload = (page: Page | Frame) =>
    page.evaluate(
      async ({ baseUrl, apiKey }) => {
        const uplink = rig.createUplink({ baseUrl, credentials: { apiKey } })
        const source = rig.blobSource('a.mp4', new Blob([new Uint8Array(6 * 1024 * 1024)]))
        const session = { movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 }
        const upload = uplink.uploadVideos({ files: [{ source }], ...session })
        const retries: string[] = []
        upload.on('retry', ({ error }) => retries.push(error.message))
        const end = await upload.done().then(
          ({ status }) => status,
          (error: unknown) => String(error),
        )
        return { end, retries }
      },
      { baseUrl: service.url, apiKey: API_KEY },
    )

  test('a service worker that fetches for the page, of which no progress is told, costs no attempt', async () => {
    const page = await openPage(browser, pages.url)
    await page.evaluate(async () => {
      const { serviceWorker } = navigator
      const isOurs = new Promise((resolve) => serviceWorker.addEventListener('controllerchange', resolve))
      await serviceWorker.register('/sw.js')
      await isOurs
    })

    expect(await upload(page)).toEqual({ end: 'confirmed', retries: [] })
  })

  test('a frame without an origin uploads, and keeps its sessions in memory', async () => {
    const page = await openPage(browser, pages.url)
    await page.setContent(`<iframe sandbox="allow-scripts" src="${pages.url}"></iframe>`)
    const frame = page.frames()[1]!
    await frame.waitForFunction(() => 'rig' in globalThis)

    expect(await frame.evaluate(() => origin)).toBe('null')
    expect(await upload(frame)).toEqual({ end: 'confirmed', retries: [] })
  })
})
