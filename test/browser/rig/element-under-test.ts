// The element under a strict Content-Security-Policy, with clips to choose, and what a coach does with it.

import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { pattern } from '../../../src/testing/transport/requests.ts'
import { hasLooked, heading, isLatePart, useElementPages, withoutOwnPicker } from './element-page.ts'

/** Nothing inline, nothing evaluated, no style but constructed ones, no markup from strings. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'none'; img-src data:; connect-src *; require-trusted-types-for 'script'"
const MIB = 1024 * 1024

/** To be called in a `describe`: its hooks start and end what the pages need. */
export function useElement() {
  const clips = { 'swing-01.mp4': pattern(1000), 'swing-02.mp4': pattern(6 * MIB), 'back\\slash.mp4': pattern(100) }
  const files = { ...clips, 'notes.pdf': pattern(100) }
  const pages = useElementPages(files, { 'content-security-policy': POLICY })

  const paths = (...names: string[]): string[] => names.map(pages.pathOf)
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const pick = (page: Page, ...names: string[]) => page.setInputFiles('mocap-uploader input >> nth=0', paths(...names))
  const told = (page: Page, name: string) =>
    page.evaluate((of) => globalThis.told.filter((each) => each.name === of).map((each) => each.detail), name)

  const openPage = (colorScheme: 'light' | 'dark' = 'light'): Promise<Page> =>
    pages.openPage({ colorScheme }, withoutOwnPicker)
  const addElement = (page: Page, attributes: Record<string, string> = {}): Promise<void> =>
    pages.addElement(page, {
      ...{ 'movement-type': '1', player: 'p-17', date: '2026-11-20', 'session-type': '2' },
      ...attributes,
    })

  /** The second part of the large file is kept from leaving, until `let go` is called. */
  async function holdLarge(page: Page): Promise<() => Promise<void>> {
    await page.route(isLatePart, () => undefined)
    return () => page.unroute(isLatePart)
  }

  /** Uploads two files until the small one is confirmed; the large one is held. */
  async function uploadHalf(page: Page): Promise<() => Promise<void>> {
    const letGo = await holdLarge(page)
    await pick(page, 'swing-01.mp4', 'swing-02.mp4')
    await button(page, 'Upload 2 files').click()
    await heading(page).getByText('1 of 2 files confirmed').waitFor()
    return letGo
  }

  /** Listens to what a screen reader is told from now on. */
  async function listen(page: Page): Promise<() => Promise<string>> {
    await page.evaluate(() => {
      const region = document.querySelector('mocap-uploader')!.shadowRoot!.querySelector('[role=status]')!
      const heard: string[] = []
      new MutationObserver(() => heard.push(region.textContent)).observe(region, { childList: true })
      Object.assign(globalThis, { heard })
    })
    return () => page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard.join(' | '))
  }

  async function offersNothingAfterReload(page: Page): Promise<void> {
    await page.reload()
    await addElement(page)
    await pick(page, 'swing-02.mp4')
    await button(page, 'Upload 1 file').waitFor()
    await hasLooked(page)
    expect(await page.getByRole('group', { name: 'An earlier upload is not finished' }).count()).toBe(0)
  }

  return {
    files,
    paths,
    button,
    pick,
    told,
    openPage,
    addElement,
    holdLarge,
    uploadHalf,
    listen,
    offersNothingAfterReload,
  }
}
