// The ways by which files come to the element and go on, beside choosing clips: captures, a folder that is dropped, files
// that the browser remembers after a reload; and colours that are forced.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { pattern } from '../contracts/transport.ts'
import { API_KEY, startUnderTest, type ServiceUnderTest } from '../service/service-under-test.ts'
import { violations } from './rig/accessibility.ts'
import { chromiumPath, launchChromium } from './rig/chromium.ts'
import { bundleScripts, servePages, type PageServer } from './rig/page-server.ts'

const MIB = 1024 * 1024
const VIDEO = { 'movement-type': '1', player: 'p-17', date: '2026-11-20', 'session-type': '2' }
const CAPTURE = { flow: 'capture', org: 'org-1', 'mocap-type': '2', date: '2026-11-19', 'session-type': '1' }

describe.skipIf(chromiumPath === undefined)('the element in Chromium', () => {
  let browser: Browser
  let pages: PageServer
  let service: ServiceUnderTest
  let folder: string

  beforeAll(async () => {
    pages = await servePages(await bundleScripts('element-in-page.ts'))
    browser = await launchChromium()
    service = await startUnderTest({ now: Date.now })
    folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-ways-in-'))
    await mkdir(join(folder, 'game', 'cam2'), { recursive: true })
    for (const name of ['take-10.action', 'take-2.action', join('cam2', 'take-1.action')])
      await writeFile(join(folder, 'game', name), pattern(3000))
    await writeFile(join(folder, 'swing-01.mp4'), pattern(6 * MIB))
  })
  afterAll(async () => {
    await browser.close()
    await Promise.all([pages.close(), service.close(), rm(folder, { recursive: true })])
  })

  const heading = (page: Page) => page.locator('mocap-uploader [part~=summary-title]')
  const names = (page: Page) => page.locator('mocap-uploader [part~=file-name]').allTextContents()

  async function openPage(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
    context.setDefaultTimeout(15_000)
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.goto(pages.url)
    return page
  }

  async function addElement(page: Page, attributes: Record<string, string>): Promise<void> {
    await page.evaluate(
      ({ apiKey, all }) => {
        const element = document.createElement('mocap-uploader')
        for (const [name, value] of Object.entries(all)) element.setAttribute(name, value)
        element.credentials = { apiKey }
        document.body.replaceChildren(element)
      },
      { apiKey: API_KEY, all: { 'base-url': service.url, ...attributes } },
    )
  }

  /** As from a folder of the desktop: the browser itself makes what is dropped of the paths. */
  async function dropOnto(page: Page, paths: readonly string[]): Promise<void> {
    const box = (await page.locator('mocap-uploader').boundingBox())!
    const devTools = await page.context().newCDPSession(page)
    const at = { x: box.x + box.width / 2, y: box.y + 60 }
    const data = { items: [], files: [...paths], dragOperationsMask: 1 }
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await devTools.send('Input.dispatchDragEvent', { type, ...at, data })
  }

  test('walks a folder that is dropped, and delivers its captures in natural order', async () => {
    const page = await openPage()
    await addElement(page, CAPTURE)
    const registered: unknown[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/mocap_session_file'))
        registered.push((request.postDataJSON() as { filenames: unknown }).filenames)
    })
    await dropOnto(page, [join(folder, 'game')])
    await page.getByRole('button', { name: 'Upload 3 files', exact: true }).click()
    await heading(page).getByText('All 3 files are uploaded and confirmed').waitFor()

    expect(await names(page)).toHaveLength(3)
    expect(registered).toEqual([['take-1.action', 'take-2.action', 'take-10.action']])
  })

  test('goes on after a reload by one click where the browser remembers the files', async () => {
    const page = await openPage()
    const isLatePart = (url: URL): boolean => Number(url.searchParams.get('partNumber') ?? 1) > 1
    await page.route(isLatePart, () => undefined)
    await addElement(page, VIDEO)
    // A handle of the origin's own files stands for one that a person picked.
    await page.evaluate((bytes) => {
      const showOpenFilePicker = async (): Promise<FileSystemFileHandle[]> => {
        const handle = await (await navigator.storage.getDirectory()).getFileHandle('swing-01.mp4', { create: true })
        const writable = await handle.createWritable()
        await writable.write(new Uint8Array(bytes))
        await writable.close()
        return [handle]
      }
      Object.assign(window, { showOpenFilePicker })
    }, 6 * MIB)
    await page.getByRole('button', { name: 'Choose files' }).click()
    await page.getByRole('button', { name: 'Upload 1 file', exact: true }).click()
    await page.waitForFunction((of) => document.querySelector('mocap-uploader')!.totals.confirmedBytes === of, 5 * MIB)
    await page.reload()
    await page.unroute(isLatePart)
    const puts: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'PUT') puts.push(new URL(request.url()).searchParams.get('partNumber') ?? '')
    })
    await addElement(page, VIDEO)

    await page.getByText('One click and it goes on.').waitFor()
    await page.getByRole('button', { name: 'Continue', exact: true }).click()

    await heading(page).getByText('Your file is uploaded and confirmed').waitFor()
    expect(puts).toEqual(['2'])
  })

  test('keeps bar, borders and focus visible in forced colours', async () => {
    const page = await openPage({ forcedColors: 'active' })
    await page.route(
      (url) => Number(url.searchParams.get('partNumber') ?? 1) > 1,
      () => undefined,
    )
    await addElement(page, VIDEO)
    await page.setInputFiles('mocap-uploader input >> nth=0', join(folder, 'swing-01.mp4'))
    await page.getByRole('button', { name: 'Upload 1 file', exact: true }).click()
    await page.waitForFunction((of) => document.querySelector('mocap-uploader')!.totals.confirmedBytes === of, 5 * MIB)

    const seen = await page.evaluate(() => {
      const root = document.querySelector('mocap-uploader')!.shadowRoot!
      const colour = (name: string): string => {
        const probe = document.body.appendChild(document.createElement('i'))
        probe.style.color = name
        const { color } = getComputedStyle(probe)
        probe.remove()
        return color
      }
      const fill = root.querySelector('.fill')!
      const button = root.querySelector<HTMLElement>('button:not([hidden])')!
      button.focus({ focusVisible: true })
      return {
        isBarHighlighted: getComputedStyle(fill).backgroundColor === colour('Highlight'),
        barWidth: fill.getBoundingClientRect().width,
        border: getComputedStyle(root.querySelector('.drop-zone')!).borderTopStyle,
        outline: getComputedStyle(button).outlineStyle,
      }
    })
    expect(seen).toMatchObject({ isBarHighlighted: true })
    expect(seen.barWidth).toBeGreaterThan(1)
    expect([seen.border, seen.outline]).not.toContain('none')
    expect(await violations(page, 'mocap-uploader')).toEqual([])
  })
})
