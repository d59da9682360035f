// The examples in a real Chromium, beside a service of their own, with two clips to deliver.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { pattern } from '../../../src/testing/transport/requests.ts'
import { API_KEY, startUnderTest, type ServiceUnderTest } from '../../service/service-under-test.ts'
import { type ServedExample } from './built-example.ts'
import { launchChromium, openPage } from './chromium.ts'

const MIB = 1024 * 1024

/** To be called in a `describe`: its hooks start the browser and the service, and end them. */
export function useExamples() {
  let browser: Browser
  let service: ServiceUnderTest
  let folder: string
  const clips = new Map([
    ['swing-01.mp4', pattern(6 * MIB + 1)],
    ['swing-02.mp4', pattern(200_000)],
  ])
  const paths = (): string[] => [...clips.keys()].map((name) => join(folder, name))

  beforeAll(async () => {
    browser = await launchChromium()
    service = await startUnderTest({ now: Date.now })
    folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-examples-'))
    for (const [name, bytes] of clips) await writeFile(join(folder, name), bytes)
  })
  afterAll(async () => {
    await browser.close()
    await Promise.all([service.close(), rm(folder, { recursive: true })])
  })

  async function open(example: ServedExample): Promise<Page> {
    const page = await openPage(browser, example.url)
    await connect(page)
    return page
  }
  async function connect(page: Page): Promise<void> {
    page.setDefaultTimeout(30_000)
    await page.fill('[name=service]', service.url)
    await page.fill('[name=key]', API_KEY)
    await page.click('button:has-text("Connect")')
  }
  /** The accessible text of what has the focus, also within an element's shadow root. */
  function focused(page: Page): Promise<string | undefined> {
    return page.evaluate(() => {
      const inPage = document.activeElement
      const inner = inPage?.shadowRoot?.activeElement ?? inPage
      const label = inner instanceof HTMLInputElement ? inner.labels?.[0] : inner
      return label === document.body ? undefined : label?.textContent.trim()
    })
  }
  /** Lets files fall on an element, as from a folder of the desktop. */
  async function drop(page: Page, onto: string): Promise<void> {
    const dropped = [...clips].map(([name, { length }]) => ({ name, length }))
    const transfer = await page.evaluateHandle((files) => {
      const data = new DataTransfer()
      for (const { name, length } of files)
        data.items.add(new File([new Uint8Array(length).fill(7)], name, { type: 'video/mp4', lastModified: 1 }))
      return data
    }, dropped)
    await page.dispatchEvent(onto, 'dragover', { dataTransfer: transfer })
    await page.dispatchEvent(onto, 'drop', { dataTransfer: transfer })
  }
  async function storedSizes(): Promise<Record<string, number>> {
    const { items } = (await service.call('GET', '/stored')).json as { items: { file_name: string; url: string }[] }
    const last = [...clips.keys()].map((name) => items.findLast((item) => item.file_name === name))
    const sizes = last.map(async (item) => [item!.file_name, (await (await fetch(item!.url)).arrayBuffer()).byteLength])
    return Object.fromEntries(await Promise.all(sizes)) as Record<string, number>
  }
  const sizes = Object.fromEntries([...clips].map(([name, { length }]) => [name, length]))

  return { browser: () => browser, service: () => service, paths, open, connect, focused, drop, storedSizes, sizes }
}
