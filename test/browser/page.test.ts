// The page of the service in a real Chromium: the key, an upload, and what the service holds, live, under its own policy.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { build, type Options } from 'tsup'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readPage } from '../../src/cli/serve/page-files.ts'
import config from '../../tsup.config.ts'
import {
  API_KEY,
  openCaptureSession,
  put,
  register,
  startUnderTest,
  type ServiceUnderTest,
} from '../service/service-under-test.ts'
import { violations } from './rig/accessibility.ts'
import { chromiumPath, launchChromium } from './rig/chromium.ts'

describe.skipIf(chromiumPath === undefined)('the page of the service', () => {
  let browser: Browser
  let service: ServiceUnderTest
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-page-'))
    const options = (config as Options[]).find(({ outDir }) => outDir === 'dist/page')
    await build({ ...options, config: false, silent: true, outDir: folder })
    const page = await readPage(pathToFileURL(`${folder}/`))
    service = await startUnderTest({ now: Date.now, analysisCompletesAfterMs: 1, page: page! })
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser.close()
    await Promise.all([service.close(), rm(folder, { recursive: true })])
  })

  /** What the page complains of, or asks of others than its service, fails the test. */
  async function open(fragment = '', colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
    const context = await browser.newContext({ colorScheme })
    const page = await context.newPage()
    const troubles: string[] = []
    page.on('pageerror', (error) => troubles.push(String(error)))
    page.on('console', (message) => {
      if (/Content.Security.Policy|Trusted/i.test(message.text())) troubles.push(message.text())
    })
    page.on('request', (request) => {
      if (!request.url().startsWith(service.url) && !request.url().startsWith('data:')) troubles.push(request.url())
    })
    onTestFinished(async () => {
      await context.close()
      expect(troubles).toEqual([])
    })
    await page.goto(`${service.url}/${fragment}`)
    return page
  }
  const upload = async (page: Page, name: string): Promise<void> => {
    const transfer = await page.evaluateHandle((named) => {
      const data = new DataTransfer()
      data.items.add(new File([new Uint8Array(100_000).fill(7)], named, { type: 'video/mp4', lastModified: 1 }))
      return data
    }, name)
    await page.dispatchEvent('mocap-uploader:not([hidden])', 'drop', { dataTransfer: transfer })
    await page.getByRole('button', { name: 'Upload 1 file', exact: true }).click()
  }

  test('takes the key from the fragment, and removes it from the address bar and the history', async () => {
    const page = await open(`#key=${API_KEY}`)
    await page.waitForSelector('#news:has-text("live")')

    expect(page.url()).toBe(`${service.url}/`)
    expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2)
    await page.reload()
    await page.waitForSelector('#news:has-text("live")')
  })

  test('takes the key also from an address that is pasted where the page is open already', async () => {
    const page = await open()
    await page.getByLabel('API key of this service').waitFor()
    await page.goto(`${service.url}/#key=${API_KEY}`)
    await page.waitForSelector('#news:has-text("live")')

    expect(page.url()).toBe(`${service.url}/`)
  })

  test('asks for the key, and again when it is refused', async () => {
    const page = await open()
    await page.getByLabel('API key of this service').fill('wrong')
    await page.getByRole('button', { name: 'Open' }).click()
    await page.waitForSelector('#refusal:has-text("refused")')
    expect(await violations(page)).toEqual([])
    expect(await page.locator('#opened').isHidden()).toBe(true)

    await page.getByLabel('API key of this service').fill(API_KEY)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.waitForSelector('#news:has-text("live")')
    expect(await page.evaluate(() => document.activeElement?.getAttribute('flow'))).toBe('video')
  })

  test('works below a path that a proxy in front gives it', async () => {
    const page = await open()
    await page.route(`${service.url}/**`, async (route) => {
      const [, way] = /^\/lab(\/.*)/.exec(route.request().url().slice(service.url.length)) ?? []
      await (way === undefined ? route.fulfill({ status: 404 }) : route.continue({ url: service.url + way }))
    })

    await page.goto(`${service.url}/lab/#key=${API_KEY}`)

    await page.waitForSelector('#news:has-text("live")')
  })

  test('opens also where the browser keeps nothing for this site', async () => {
    const page = await open()
    // What Chromium does when it is told to block all cookies.
    await page.addInitScript(() => {
      for (const name of ['sessionStorage', 'localStorage'])
        Object.defineProperty(window, name, {
          get: () => {
            throw new DOMException('Access is denied for this document.', 'SecurityError')
          },
        })
    })
    await page.reload()
    await page.getByLabel('API key of this service').fill(API_KEY)
    await page.getByRole('button', { name: 'Open' }).click()

    await page.waitForSelector('#news:has-text("live")')
  })

  test('fits a phone whose text is twice as large', async () => {
    const page = await open()
    await page.setViewportSize({ width: 320, height: 700 })
    await page.evaluate(() => (document.documentElement.style.fontSize = '200%'))
    const width = () => page.evaluate(() => document.documentElement.scrollWidth)
    await page.getByLabel('API key of this service').waitFor()
    expect(await width()).toBe(320)

    await page.getByLabel('API key of this service').fill(API_KEY)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.waitForSelector('#news:has-text("live")')
    expect(await width()).toBe(320)
    await page.getByLabel('What').selectOption('capture')
    expect(await width()).toBe(320)
  })

  test.each([360, 1000])('fills the frame around the element, and covers none of it, %i px wide', async (width) => {
    const page = await open(`#key=${API_KEY}`)
    await page.setViewportSize({ width, height: 740 })
    const edges = await page.evaluate(() => {
      const element = document.querySelector('mocap-uploader')!
      const section = element.closest('section')!.getBoundingClientRect()
      const { left, right, bottom } = element.getBoundingClientRect()
      return [left - section.left, section.right - right, section.bottom - bottom]
    })

    for (const edge of edges) expect(edge).toBeCloseTo(1, 2)
  })

  test('shows what the service holds as it comes: a clip, a capture, an analysis', async () => {
    const page = await open(`#key=${API_KEY}`)
    await page.waitForSelector('#news:has-text("live")')
    await upload(page, 'swing-01.mp4')
    await page.waitForSelector('#files td:has-text("swing-01.mp4")')

    await page.getByLabel('What').selectOption('capture')
    await upload(page, 'swing-02.action')
    await page.waitForSelector('#files td:has-text("swing-02.action")')
    expect(await page.locator('#sessions tr').count()).toBe(2)
    // Each name in its own direction, as in the element.
    expect(await page.locator('#files bdi:first-child').allTextContents()).toContain('swing-02.action')

    const segment = { movement_type_id: 1, dom_hand: 'RHA' }
    const { json } = await service.call('POST', '/player_group_segments', segment)
    const { analysis_segment_id: id } = json as { analysis_segment_id: number }
    await service.call('POST', '/requested_analyses', { name: 'Night <b>1</b>', primary_analysis_segment_id: id })
    await page.waitForSelector('#analyses td:has-text("Night <b>1</b>")')
    await service.call('POST', '/requested_analyses', { name: 'Night 2', primary_analysis_segment_id: id })
    // The newest comes first, as in the other tables.
    await page.waitForSelector('#analyses tr:first-child td:has-text("Night 2")')
    expect(await violations(page)).toEqual([])

    const dark = await open(`#key=${API_KEY}`, 'dark')
    await dark.waitForSelector('#analyses td')
    expect(await violations(dark)).toEqual([])
  })

  test('shows the newest first, whatever they are and however many there are, and reads a great many politely', async () => {
    const page = await open()
    await page.clock.install()
    // Else it goes on by itself too: on a busy machine the look would take longer, and the wait after it nine times as much.
    await page.clock.pauseAt(Date.now() + 60_000)
    // One more page than is read. Videos come before captures, as from the service, and began earlier.
    const at = (minute: number): string => new Date(Date.UTC(2026, 10, 20, 12, minute)).toISOString()
    const pagesAsked: string[] = []
    await page.route('**/stored?*', async (route) => {
      const query = new URL(route.request().url()).searchParams
      expect(query.get('order')).toBe('newest')
      const number = Number(query.get('after') ?? 1)
      pagesAsked.push(String(number))
      const kind = number < 100 ? 'video' : 'capture'
      const items = Array.from({ length: 1_000 }, (_, index) => ({
        kind,
        session_id: `session-${number}`,
        file_name: `${kind}-${number}-${index}`,
        size_bytes: 1,
        created_at: at(kind === 'video' ? 1 : 2),
      }))
      await page.clock.runFor(1_000)
      await route.fulfill({ json: { items, next: String(number + 1) } })
    })
    await page.getByLabel('API key of this service').fill(API_KEY)
    await page.getByRole('button', { name: 'Open' }).click()

    await page.waitForSelector('#files-count:has-text("1,000 and older ones, the newest 200 shown")')
    await page.clock.runFor(1)
    await page.waitForSelector('#files-count:has-text("100,000 and older ones, the newest 200 shown")')
    expect(await page.locator('#files tr').count()).toBe(200)
    expect(await page.locator('#files tr:first-child td:first-child').textContent()).toBe('capture-100-0')
    expect(await page.locator('#sessions tr:first-child').textContent()).toContain('1,000')
    expect(await page.locator('#news').textContent()).toBe('live')
    expect(pagesAsked.length).toBe(101)
    // A look of 100 s is followed by a wait of 900 s.
    await page.clock.runFor(850_000)
    expect(pagesAsked.length).toBe(101)
    await page.clock.runFor(100_000)
    await expect.poll(() => pagesAsked.length).toBeGreaterThan(101)
  })

  test('shows a mark that would turn a name around, instead of obeying it', async () => {
    await put((await register(service, await openCaptureSession(service), ['a\u202egpj.exe']))['a\u202egpj.exe']!, 'x')
    const page = await open(`#key=${API_KEY}`)

    const cell = page.locator('#files td:has-text("gpj.exe")')
    expect(await cell.textContent()).toBe('a\ufffdgpj.exe')
    expect(await cell.getAttribute('title')).toBe('a\ufffdgpj.exe')
  })

  test('says that the service does not answer, instead of live, and live when it does again', async () => {
    const page = await open(`#key=${API_KEY}`)
    await page.clock.install()
    await page.reload()
    await page.waitForSelector('#news:has-text("live")')
    await page.route('**/stored*', () => undefined)
    await page.clock.runFor(10_000)
    await page.waitForSelector('#news:has-text("does not answer")')

    // It answers, and whoever looks for a dead process would look in the wrong place.
    await page.unroute('**/stored*')
    await page.route('**/stored*', (route) => route.fulfill({ status: 503, headers: { 'retry-after': '60' } }))
    await page.reload()
    await expect
      .poll(async () => {
        await page.clock.runFor(1_000)
        return page.locator('#news').textContent()
      })
      .toBe('The service is not available (503).')

    await page.unroute('**/stored*')
    await page.reload()
    await page.waitForSelector('#news:has-text("live")')
  })

  test('moves nothing on a phone when it says that the service does not answer', async () => {
    const page = await open(`#key=${API_KEY}`)
    await page.setViewportSize({ width: 360, height: 740 })
    await page.waitForSelector('#news:has-text("live")')
    const place = () => page.locator('#upload-title').boundingBox()
    const before = await place()
    await page.route('**/stored*', (route) => route.abort('connectionrefused'))
    await page.waitForSelector('#news:has-text("does not answer")')

    expect(await place()).toEqual(before)
  })

  test('is live no longer where its key is refused, later on', async () => {
    const page = await open(`#key=${API_KEY}`)
    await page.waitForSelector('#news:has-text("live")')
    await page.route('**/stored*', (route) => route.fulfill({ status: 401, body: '{}' }))
    await page.getByText('The service refused this key.').waitFor()

    expect(await page.locator('#news').textContent()).toBe('')
  })

  test('says once that nobody answers, however long that is so', async () => {
    const page = await open(`#key=${API_KEY}`)
    await page.waitForSelector('#news:has-text("live")')
    await page.clock.install()
    // Until then it goes on by itself too, and might say so before anybody listens.
    await page.clock.pauseAt(Date.now() + 60_000)
    // Each round is long enough to be called silent, and then fails.
    const held: (() => Promise<void>)[] = []
    await page.route('**/stored*', (route) => void held.push(() => route.abort('connectionrefused')))
    await page.reload()
    await page.evaluate(() => {
      const news = document.querySelector('#news')!
      const heard: string[] = []
      new MutationObserver(() => heard.push(news.textContent)).observe(news, { childList: true })
      Object.assign(globalThis, { heard })
    })
    for (let failed = 0; failed < 12;) {
      await page.clock.runFor(5_000)
      const now = held.splice(0)
      await Promise.all(now.map((fail) => fail()))
      failed += now.length
    }

    const heard = await page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard)
    expect(heard).toEqual(['The service does not answer.'])
  })

  test('is a page only where the host gives one', async () => {
    const bare = await startUnderTest()
    onTestFinished(() => bare.close())

    expect((await fetch(`${bare.url}/`)).status).toBe(404)
    const policy = (await fetch(`${service.url}/`)).headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('unsafe')
  })
})
