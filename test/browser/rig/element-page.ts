// Pages with the element, and a service on another origin to which it uploads. Both are started once for each test file.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { API_KEY, startUnderTest, type ServiceUnderTest } from '../../service/service-under-test.ts'
import { launchChromium } from './chromium.ts'
import { bundleScripts, servePages, type PageServer } from './page-server.ts'

export interface ElementPages {
  /**
   * Opens a page in a context of its own, with whatever `script` does first in it. A violation of its policy or an error thrown in the
   * page fails the test.
   */
  openPage(options?: BrowserContextOptions, script?: () => unknown): Promise<Page>
  /** Replaces everything in the page with an element and waits for its first frame. Its events go to `globalThis.told`. */
  addElement(page: Page, attributes: Readonly<Record<string, string>>): Promise<void>
  /** Path of a file in the folder. */
  pathOf(name: string): string
}

/**
 * Call this within a `describe`. `files` are written into a folder for the tests; `headers` go with every answer of the page,
 * `flags` to the browser.
 */
export function useElementPages(
  files: Readonly<Record<string, Uint8Array>>,
  headers: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
): ElementPages {
  let browser: Browser
  let pages: PageServer
  let service: ServiceUnderTest
  let folder: string

  beforeAll(async () => {
    pages = await servePages(await bundleScripts('element-in-page.ts'), headers)
    browser = await launchChromium(flags)
    service = await startUnderTest({ now: Date.now })
    folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-element-'))
    for (const [name, bytes] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), bytes)
    }
  })
  afterAll(async () => {
    await browser.close()
    await Promise.all([pages.close(), service.close(), rm(folder, { recursive: true })])
  })

  return {
    async openPage(options = {}, script = () => undefined) {
      const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
      const wrong: string[] = []
      onTestFinished(async () => {
        await context.close()
        expect(wrong).toEqual([])
      })
      const page = await context.newPage()
      page.on('pageerror', (error) => wrong.push(error.message))
      page.on('console', (message) => {
        if (/Content Security Policy|Trusted/.test(message.text())) wrong.push(message.text())
      })
      await page.addInitScript(script)
      await page.goto(pages.url)
      return page
    },
    addElement: (page, attributes) =>
      page.evaluate(
        ({ apiKey, all }) => {
          const element = document.createElement('mocap-uploader')
          for (const [name, value] of Object.entries(all)) element.setAttribute(name, value)
          element.credentials = { apiKey }
          for (const name of ['start', 'state', 'file', 'done', 'cancelled', 'error', 'refused'])
            document.addEventListener(`mocap-upload-${name}`, (event) =>
              globalThis.told.push({ name, detail: (event as CustomEvent<unknown>).detail }),
            )
          document.body.replaceChildren(element)
          // The element asked for its first frame before this callback did, so it is drawn when this one runs.
          return new Promise<void>((resolve) => void requestAnimationFrame(() => resolve()))
        },
        { apiKey: API_KEY, all: { 'base-url': service.url, ...attributes } },
      ),
    pathOf: (name) => join(folder, name),
  }
}

/** A script of a page: the browser's own picker cannot be driven, and the one of <input> can. */
export const withoutOwnPicker = (): void =>
  void Object.defineProperty(window, 'showOpenFilePicker', { value: undefined })

/** Drops files as from a desktop folder. The browser itself turns the paths into what is dropped. */
export async function dropOnto(page: Page, paths: readonly string[]): Promise<void> {
  const box = (await page.locator('mocap-uploader').boundingBox())!
  const devTools = await page.context().newCDPSession(page)
  const at = { x: box.x + box.width / 2, y: box.y + 60 }
  const data = { items: [], files: [...paths], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await devTools.send('Input.dispatchDragEvent', { type, ...at, data })
}

/** Begins an upload of two clips of so many bytes, whose course the test scripts. */
export async function startTwo(page: Page, bytesEach = 1): Promise<void> {
  await page.evaluate(async (length) => {
    const { element } = elementRig.showScripted()
    element.addFiles(['swing-01.mp4', 'swing-02.mp4'].map((name) => new File(['x'.repeat(length)], name)))
    await element.start()
  }, bytesEach)
}

/** Settles once the element has drawn the earlier uploads that it found when it was added. Before that there are none to be seen. */
export const hasLooked = (page: Page): Promise<void> => page.evaluate(() => elementRig.look())

/** The element's heading, which says how the whole upload is doing. */
export const heading = (page: Page): Locator => page.locator('mocap-uploader [part~=summary-title]')

/** Whether an address is of a part after the first. Tests use it to hold such parts back. */
export const isLatePart = (url: URL): boolean => Number(url.searchParams.get('partNumber') ?? 1) > 1
