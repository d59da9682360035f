// The real browser of these tests. If there is none, the tests are skipped and the run says so loudly.

import type { Browser, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'

export { chromiumPath, launchChromium } from './launch-chromium.ts'

/** Opens a page in a context of its own (storage, locks), which is closed with the test. */
export async function openPage(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.goto(url)
  return page
}
