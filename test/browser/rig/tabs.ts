// Tabs of a browser for one test. Each context is a profile of its own and is closed with the test.

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'

/** Opens an empty profile. Call this within a test. */
export async function openContext(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  return context
}

/** Opens a page in a new tab of the profile. */
export async function openTab(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(url)
  return page
}
