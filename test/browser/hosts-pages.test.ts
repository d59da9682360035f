// Pages as hosts have them: behind a service worker, beside a script that watches requests, and in a frame without an origin.

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

/** The same, but it lets no part go before it is told to. */
const HOLDING_SERVICE_WORKER = `
const told = new Promise((resolve) => addEventListener('message', resolve))
addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('fetch', (event) => {
  const { request } = event
  event.respondWith(request.method === 'PUT' ? told.then(() => fetch(request)) : fetch(request))
})`

/** Uploads 6 MiB in two parts, and so many small files, from where it runs. */
async function uploadTo({
  baseUrl,
  apiKey,
  small = 0,
}: {
  readonly baseUrl: string
  readonly apiKey: string
  small?: number
}) {
  const uplink = rig.createUplink({ baseUrl, credentials: { apiKey } })
  const blobs = [new Uint8Array(6 * 1024 * 1024), ...Array.from({ length: small }, () => new Uint8Array(1_000))]
  const files = blobs.map((bytes, index) => ({ source: rig.blobSource(`${index}.mp4`, new Blob([bytes])) }))
  const session = { movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 }
  const upload = uplink.uploadVideos({ files, ...session })
  const retries: string[] = []
  upload.on('retry', ({ error }) => retries.push(error.message))
  const end = await upload.done().then(
    ({ status }) => status,
    (error: unknown) => String(error),
  )
  return { end, retries }
}

describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
  let browser: Browser
  let pages: PageServer
  let service: ServiceUnderTest

  beforeAll(async () => {
    const scripts = new Map(await bundleScripts())
    for (const [name, text] of [
      ['sw.js', SERVICE_WORKER],
      ['holding-sw.js', HOLDING_SERVICE_WORKER],
    ] as const)
      scripts.set(name, new TextEncoder().encode(text))
    // A page without an origin loads its script from another one.
    pages = await servePages(scripts, { 'access-control-allow-origin': '*' })
    browser = await launchChromium()
    service = await startUnderTest({ now: Date.now })
  })
  afterAll(async () => {
    await browser.close()
    await Promise.all([pages.close(), service.close()])
  })

  const upload = (page: Page | Frame) => page.evaluate(uploadTo, { baseUrl: service.url, apiKey: API_KEY })
  const uploadInWorker = (page: Page) =>
    page.evaluate(
      ({ code, baseUrl, apiKey }) => {
        const program = `onmessage = async ({ data }) => {
          await import(data.script)
          postMessage(await (${code})(data))
        }`
        const url = URL.createObjectURL(new Blob([program], { type: 'text/javascript' }))
        const worker = new Worker(url, { type: 'module' })
        worker.postMessage({ script: new URL('/page.js', location.href).href, baseUrl, apiKey })
        return new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data)))
      },
      { code: uploadTo.toString(), baseUrl: service.url, apiKey: API_KEY },
    )

  const register = (page: Page, script: string) =>
    page.evaluate(async (of) => {
      const { serviceWorker } = navigator
      const isOurs = new Promise((resolve) => serviceWorker.addEventListener('controllerchange', resolve))
      await serviceWorker.register(of)
      await isOurs
    }, script)

  test('a service worker that fetches for the page, of which no progress is told, costs no attempt', async () => {
    const page = await openPage(browser, pages.url)
    await register(page, '/sw.js')

    expect(await upload(page)).toEqual({ end: 'confirmed', retries: [] })
  })

  test('one that fetches for a worker of the page, which cannot know of it, costs no attempt either', async () => {
    const page = await openPage(browser, pages.url)
    await register(page, '/sw.js')

    expect(await uploadInWorker(page)).toEqual({ end: 'confirmed', retries: [] })
  })

  test('a part that a service worker sends has as long as it takes on a slow line, though nothing is told of it', async () => {
    const page = await openPage(browser, pages.url)
    await register(page, '/holding-sw.js')
    await page.clock.install()
    const parts = [1, 2].map((part) =>
      page.waitForRequest((sent) => sent.method() === 'PUT' && sent.url().includes(`partNumber=${part}`)),
    )
    const uploading = upload(page)
    await Promise.all(parts)

    // Six minutes, in which 1 Mbit/s carry 45 MB.
    await page.clock.runFor(360_000)
    await page.evaluate(() => navigator.serviceWorker.controller?.postMessage('go'))

    expect(await uploading).toEqual({ end: 'confirmed', retries: [] })
  })

  test('a hidden page, whose timers the browser holds back, uploads without waiting for any of them', async () => {
    const page = await openPage(browser, pages.url)
    await page.evaluate(() => Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' }))
    // From here on no timer fires at all.
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 60_000)

    expect(await page.evaluate(uploadTo, { baseUrl: service.url, apiKey: API_KEY, small: 30 })).toEqual({
      end: 'confirmed',
      retries: [],
    })
  })

  test('an object that a script of the page has put in place of XMLHttpRequest is enough, as long as it does what that does', async () => {
    const page = await openPage(browser, pages.url)
    await page.evaluate(() => {
      const Own = XMLHttpRequest
      // Passes everything on, as a script does that watches or mocks requests. Its objects lack the names of the states.
      const handing = (to: object): object =>
        new Proxy(
          {},
          {
            get(_, name) {
              const value: unknown = Reflect.get(to, name)
              if (/^[A-Z_]+$/.test(String(name))) return undefined
              return typeof value === 'function' ? value.bind(to) : value
            },
            set: (_, name, value) => Reflect.set(to, name, value),
          },
        )
      window.XMLHttpRequest = function () {
        return handing(new Own())
      } as unknown as typeof XMLHttpRequest
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
