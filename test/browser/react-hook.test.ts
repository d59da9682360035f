// The hook in a real page, in StrictMode, against the service on another origin.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pattern } from '../../src/testing/transport/requests.ts'
import { API_KEY, startUnderTest, type ServiceUnderTest } from '../service/service-under-test.ts'
import { chromiumPath, launchChromium, openPage } from './rig/chromium.ts'
import { bundleScripts, servePages, type PageServer } from './rig/page-server.ts'

describe.skipIf(chromiumPath === undefined)('useUpload in StrictMode', () => {
  let browser: Browser
  let pages: PageServer
  let service: ServiceUnderTest
  let folder: string
  const names = Array.from({ length: 40 }, (_, index) => `swing-${String(index).padStart(2, '0')}.mp4`)

  beforeAll(async () => {
    pages = await servePages(await bundleScripts('react-in-page.ts'))
    browser = await launchChromium()
    service = await startUnderTest({ now: Date.now })
    folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-react-'))
    await Promise.all(names.map((name) => writeFile(join(folder, name), pattern(20_000))))
  })
  afterAll(async () => {
    await browser.close()
    await Promise.all([pages.close(), service.close(), rm(folder, { recursive: true })])
  })

  async function openWithFiles(): Promise<Page> {
    const page = await openPage(browser, pages.url)
    await page.setInputFiles(
      '#files',
      names.map((name) => join(folder, name)),
    )
    return page
  }
  const begin = (page: Page) =>
    page.evaluate((settings) => reactRig.begin(settings), { baseUrl: service.url, apiKey: API_KEY })
  const waitForState = (page: Page, state: string) =>
    page.waitForFunction((of) => document.querySelector('#state')?.textContent === of, state)

  test('uploads once, though effects run twice, and shows the end', async () => {
    const page = await openWithFiles()
    const created: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/upload_videos')) created.push(request.url())
    })
    await begin(page)
    await waitForState(page, 'confirmed')

    expect(await page.textContent('#confirmed')).toBe('40')
    expect(await page.textContent('#error')).toBe('')
    expect(await page.textContent('#rows')).toBe(names.map((name) => `${name} confirmed`).join(', '))
    expect(await page.evaluate(() => reactRig.seen.begun)).toBe(1)
    expect(created.length).toBe(1)
  })

  test('draws at most once a frame, however much happens', async () => {
    const page = await openWithFiles()
    const begunAtMs = performance.now()
    await begin(page)
    await waitForState(page, 'confirmed')
    const { renders, events, frames } = await page.evaluate(() => reactRig.seen)
    const tookMs = performance.now() - begunAtMs

    // Each of the forty files changed its state at least twice: more happened than was drawn.
    expect(events).toBeGreaterThan(80)
    expect(renders / 2).toBeLessThan(events)
    // StrictMode calls a component twice for each time it draws it; the first drawing is not of a frame, and where none
    // comes in a quarter of a second, as on a machine that is busy, it is drawn without.
    expect(renders / 2).toBeLessThanOrEqual(frames + 2 + tookMs / 250)
  })

  test('goes on while a component is away, and shows where it is when it is back', async () => {
    const page = await openWithFiles()
    await page.route(/X-Amz-Signature/i, () => undefined)
    await begin(page)
    await waitForState(page, 'uploading')
    await page.click('#toggle')
    expect(await page.locator('#detail').count()).toBe(0)
    await page.click('#pause')
    await waitForState(page, 'paused')
    await page.click('#toggle')
    expect(await page.textContent('#detail')).toBe('paused')

    await page.unroute(/X-Amz-Signature/i)
    await page.click('#resume')
    await waitForState(page, 'confirmed')
    expect(await page.textContent('#detail')).toBe('confirmed')
  })

  test('cancels, and takes that for no error', async () => {
    const page = await openWithFiles()
    await page.route(/X-Amz-Signature/i, () => undefined)
    await begin(page)
    await waitForState(page, 'uploading')
    await page.click('#cancel')
    await waitForState(page, 'cancelled')

    expect(await page.textContent('#error')).toBe('')
  })

  test('shows the same as a server at first, without a warning, and is alive then', async () => {
    const page = await openPage(browser, pages.url)
    const said: string[] = []
    page.on('console', (message) => said.push(message.text()))
    await page.evaluate(() => reactRig.hydrateIdle())
    await page.getByRole('button', { name: 'idle' }).click()
    await page.getByRole('button', { name: 'creating' }).waitFor()

    expect(said).toEqual([])
  })

  test('sets the properties of the element by name, and on a page from a server by a ref alone', async () => {
    const page = await openPage(browser, pages.url)
    const inputOf = (by: 'property' | 'ref', where: 'page' | 'server') =>
      page.evaluate(([how, place]) => reactRig.inputOf(how, place), [by, where] as const)

    expect(await inputOf('property', 'page')).toEqual({ playerId: 'p-17' })
    expect(await inputOf('property', 'server')).toEqual({})
    expect(await inputOf('ref', 'server')).toEqual({ playerId: 'p-17' })
  })
})
