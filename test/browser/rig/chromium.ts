// The real browser of these tests: Debian's Chromium, driven through playwright-core. Where there is none, the tests are
// skipped and the run says so loudly.

import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The program: `CHROMIUM_PATH`, else where Debian and others put it; undefined when there is none. */
export const chromiumPath = [process.env['CHROMIUM_PATH'] ?? '', ...PLACES].find((path) => existsSync(path))

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Starts a browser with a profile of its own, which is removed when it is closed. */
export function launchChromium(flags: readonly string[] = []): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('There is no Chromium on this machine.')
  return chromium.launch({ executablePath: chromiumPath, args: [...FLAGS, ...flags] })
}

/** A page in a context of its own (storage, locks), closed with the test; what the page throws fails the test. */
export async function openPage(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.goto(url)
  return page
}
