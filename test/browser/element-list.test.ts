// The list of rows in a real Chromium: how tall it grows, what of it is laid out and printed, and where the focus goes when a row goes.

import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { chromiumPath } from './rig/chromium.ts'
import { useElementPages } from './rig/element-page.ts'

/** Shows an element with so many files, all of their rows made. */
const showFiles = (page: Page, count: number): Promise<void> =>
  page.evaluate(async (rows) => {
    const { element, list } = elementRig.showScripted()
    element.addFiles(Array.from({ length: rows }, (_, index) => new File(['x'], `swing-${String(index)}.mp4`)))
    while (list.querySelectorAll('li').length < rows) await new Promise(requestAnimationFrame)
  }, count)

/** How many rows after the first 500 the browser has laid out, in sight or near it. */
const laidOut = (page: Page): Promise<number> =>
  page
    .locator('mocap-uploader [part~=file]')
    .evaluateAll((rows) => rows.slice(500).filter((row) => row.checkVisibility({ contentVisibilityAuto: true })).length)

/** How many rows a screen reader is told of. */
async function rowsTold(page: Page): Promise<number> {
  const devTools = await page.context().newCDPSession(page)
  const { nodes } = await devTools.send('Accessibility.getFullAXTree')
  return nodes.filter(({ role, ignored }) => role?.value === 'listitem' && !ignored).length
}

describe.skipIf(chromiumPath === undefined)('the list of the element in Chromium, with a screen reader', () => {
  // So does Chromium when it finds a screen reader. What other assistive programs are told holds less.
  const { openPage } = useElementPages({}, {}, ['--force-renderer-accessibility'])

  test('is told with each of 1,000 files, so that their total is true, also of those that are not laid out', async () => {
    const page = await openPage()
    await showFiles(page, 1_000)

    await expect.poll(() => laidOut(page)).toBeLessThanOrEqual(100)
    await expect.poll(() => rowsTold(page)).toBe(1_000)
  })
})

describe.skipIf(chromiumPath === undefined)('the list of the element in Chromium', () => {
  const { openPage } = useElementPages({})

  const heights = (page: Page) =>
    page.locator('mocap-uploader [part~=list]').evaluate((list) => [list.clientHeight, list.scrollHeight])

  test('tells whatever assists a person of each of 500 files, also of those out of sight', async () => {
    const page = await openPage()
    await showFiles(page, 500)

    await expect.poll(() => rowsTold(page)).toBe(500)
  })

  test('lays out, of the rows after the first 500, only those near what is in sight, also after it was scrolled', async () => {
    const page = await openPage()
    await showFiles(page, 1_000)

    await expect.poll(() => laidOut(page)).toBeLessThanOrEqual(100)
    await page.locator('mocap-uploader [part~=list]').evaluate((list) => (list.scrollTop = list.scrollHeight * 0.75))

    await expect
      .poll(() =>
        page
          .locator('mocap-uploader [part~=file]')
          .nth(750)
          .evaluate((row) => row.checkVisibility({ contentVisibilityAuto: true })),
      )
      .toBe(true)
    expect(await laidOut(page)).toBeLessThanOrEqual(100)
  })

  test('leaves a quarter of a low window to the rest of the page, and is never taller than 28rem', async () => {
    const page = await openPage({ viewport: { width: 900, height: 400 } })
    await showFiles(page, 20)
    const height = async () => (await page.locator('mocap-uploader [part~=list]').boundingBox())!.height
    expect(await height()).toBe(300)

    await page.setViewportSize({ width: 900, height: 1200 })
    expect(await height()).toBe(28 * 16)
  })

  test('prints all rows, not only those that were in sight', async () => {
    const page = await openPage()
    await showFiles(page, 60)
    const [seen, all] = await heights(page)
    expect(seen).toBeLessThan(all!)

    await page.emulateMedia({ media: 'print' })
    const [printed, needed] = await heights(page)

    expect(printed).toBe(needed)
    expect(printed).toBeGreaterThanOrEqual(60 * 60)
  })

  test('gives the focus of a row that is removed to the next one, and from the last to the one before', async () => {
    const page = await openPage()
    // The rows of one frame are a group, so the second of these groups is one row, which goes with it.
    await showFiles(page, 21)
    const rowButton = (index: number) =>
      page.getByRole('button', { name: `Remove: swing-${String(index)}.mp4`, exact: true })
    const focused = (): Promise<string | null | undefined> =>
      page.evaluate(() =>
        document.querySelector('mocap-uploader')!.shadowRoot!.activeElement?.getAttribute('aria-label'),
      )

    await rowButton(7).focus()
    await page.keyboard.press('Enter')
    expect(await focused()).toBe('Remove: swing-8.mp4')

    await rowButton(19).focus()
    await page.keyboard.press('Enter')
    expect(await focused()).toBe('Remove: swing-20.mp4')
    await page.keyboard.press('Enter')
    expect(await focused()).toBe('Remove: swing-18.mp4')
    expect(await page.locator('mocap-uploader [part~=file]').count()).toBe(18)
  })

  test('gives a file that is chosen again the row that it had, and leaves the focus there', async () => {
    const page = await openPage()
    await page.evaluate(async () => {
      const { element } = elementRig.showScripted()
      const files = ['swing-01.mp4', 'swing-02.mp4'].map((name) => new File(['x'], name))
      element.addFiles(files)
      await element.start()
      const error = { code: 'ERR_UPLOAD_SOURCE_CHANGED', message: 'It has changed.' } as const
      globalThis.scripted.change(0, { state: 'failed', error })
      globalThis.scripted.fail()
      Object.assign(globalThis, { chooseAgain: () => element.addFiles(files.slice(0, 1)) })
    })
    const button = (name: string) => page.getByRole('button', { name: `${name}: swing-01.mp4` })
    const first = () =>
      page.locator('mocap-uploader [part~=file]').evaluateAll(([row]) => {
        const isFocused = (row!.getRootNode() as ShadowRoot).activeElement?.closest('li') === row
        return [row!.querySelector('.file-name')!.textContent, isFocused]
      })
    await button('Choose again').focus()
    await page.evaluate('chooseAgain()')
    await button('Remove').waitFor()
    expect(await first()).toEqual(['swing-01.mp4', true])

    await button('Remove').click()
    await button('Choose again').waitFor()
    expect(await first()).toEqual(['swing-01.mp4', true])
  })
})
