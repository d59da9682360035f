// Tabs of a browser for one test: each context is a profile of its own, and goes with the test.

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'

/** A profile without anything in it. Called within a test. */
export async function openContext(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  return context
}

/** A tab of this profile, on a page. */
export async function openTab(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(url)
  return page
}
