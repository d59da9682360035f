// The conformance suites of Source and Clock, run inside a real Chromium: over picked files that change on the disk, and over
// the page's own timers, whose time is made to pass. The suites of the other ports are driven from outside, in their own files.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, launchChromium } from './rig/chromium.ts'
import { bundleScripts, servePages, type PageServer } from './rig/page-server.ts'

describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
  let browser: Browser
  let pages: PageServer
  let folder: string
  let names: readonly string[]
  let page: Page

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-contracts-'))
    pages = await servePages(await bundleScripts('contracts-in-page.ts'))
    browser = await launchChromium()
    page = await browser.newPage()
    await page.exposeFunction('rigPick', async (text: string, isAgain: boolean) => {
      const path = join(folder, 'take-7.mp4')
      await writeFile(path, Buffer.from(text, 'latin1'))
      if (!isAgain) await page.setInputFiles('#files', path)
    })
    await page.exposeFunction('rigAdvance', (ms: number) => page.clock.runFor(ms))
    await page.goto(pages.url)
    names = await page.evaluate(() => contracts.names())
  })
  afterAll(async () => {
    await browser.close()
    await Promise.all([pages.close(), rm(folder, { recursive: true })])
  })

  /** Each test of the suite in the page; what fails is told by its name, all of them. */
  async function runAll(suite: string): Promise<number> {
    const chosen = names.filter((name) => name.startsWith(`${suite}: `))
    const failed: string[] = []
    for (const name of chosen) {
      await page
        .evaluate((of) => contracts.run(of), name)
        .catch((error: unknown) => failed.push(`${name}: ${String(error)}`))
    }
    expect(failed).toEqual([])
    return chosen.length
  }

  test.each(['blobSource over a File of the page', 'blobSource over a picked File', 'bytesSource'])(
    '%s keeps the contract of a source',
    async (suite) => {
      expect(await runAll(suite)).toBeGreaterThan(15)
    },
  )

  test('pageClock keeps the contract of a clock', async () => {
    await page.clock.install()
    await page.reload()
    // Until then it goes on by itself too.
    await page.clock.pauseAt(Date.now() + 60_000)

    expect(await runAll('pageClock')).toBeGreaterThan(9)
  })
})
