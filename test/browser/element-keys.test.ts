// The element with the keyboard alone, in a real Chromium: the way through it is short however many files there are, and the focus
// is never dropped.

import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { pattern } from '../../src/testing/transport/requests.ts'
import { violations } from './rig/accessibility.ts'
import { chromiumPath } from './rig/chromium.ts'
import { heading, isLatePart, useElementPages, withoutOwnPicker } from './rig/element-page.ts'

const MIB = 1024 * 1024

describe.skipIf(chromiumPath === undefined)('the element in Chromium, by keys', () => {
  const pages = useElementPages({ 'swing-01.mp4': pattern(1000), 'swing-02.mp4': pattern(6 * MIB) })

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const pick = (page: Page, ...names: string[]) =>
    page.setInputFiles('mocap-uploader input >> nth=0', names.map(pages.pathOf))
  /** How what has the focus in the element is called; empty if nothing there has it. */
  const focused = (page: Page): Promise<string> =>
    page.evaluate(() => {
      const { activeElement: found } = document.querySelector('mocap-uploader')!.shadowRoot!
      return found?.getAttribute('aria-label') ?? found?.textContent ?? ''
    })
  const press = async (page: Page, key: string): Promise<string> => {
    await page.keyboard.press(key)
    return focused(page)
  }

  async function openPage(): Promise<Page> {
    const page = await pages.openPage({}, withoutOwnPicker)
    await pages.addElement(page, { 'movement-type': '1', player: 'p-17', date: '2026-11-20', 'session-type': '2' })
    return page
  }

  test('works with the keyboard alone, and never drops the focus', async () => {
    const page = await openPage()
    // Listened for early: what the browser opens before it knows of the listener is a window that nobody can see.
    const choosing = page.waitForEvent('filechooser')
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Choose files')
    await page.keyboard.press('Enter')
    await (await choosing).setFiles(['swing-01.mp4', 'swing-02.mp4'].map(pages.pathOf))
    await button(page, 'Remove: swing-02.mp4').waitFor()

    const order: string[] = []
    for (let step = 0; step < 4; step += 1) {
      await page.keyboard.press('Tab')
      order.push((await focused(page)).slice(0, 15))
    }
    expect(order).toEqual(['Choose a folder', 'Upload 2 files', 'Files', 'Remove: swing-0'])

    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toBe('Remove: swing-02.mp4')
    await page.keyboard.press('Space')
    expect(await focused(page)).toBe('Remove: swing-01.mp4')
    await page.keyboard.press('Enter')
    await page.getByText('Drop your files here').waitFor()
    expect(await focused(page)).toBe('Choose files')
    await pick(page, 'swing-02.mp4')
    await page.route(isLatePart, () => undefined)
    await button(page, 'Upload 1 file').focus()
    await page.keyboard.press('Enter')
    await button(page, 'Pause').waitFor()
    expect(await focused(page)).toBe('Pause')
    await page.keyboard.press('Enter')
    await button(page, 'Resume').waitFor()
    expect(await focused(page)).toBe('Resume')
    await page.unroute(isLatePart)
    await page.keyboard.press('Enter')

    await heading(page).getByText('Your file is uploaded and confirmed').waitFor()
    expect(await focused(page)).not.toBe('')
  })

  test('passes a thousand files in two steps, and goes from one to the next by the arrows', async () => {
    const page = await openPage()
    await page.evaluate(async () => {
      const { element, list } = elementRig.showScripted()
      element.after(document.createElement('button'))
      element.addFiles(Array.from({ length: 1000 }, (_, index) => new File(['x'], `swing-${String(index)}.mp4`)))
      while (list.querySelectorAll('li').length < 1000) await new Promise(requestAnimationFrame)
    })
    await button(page, 'Upload 1,000 files').focus()

    expect(await press(page, 'Tab')).toBe('Files')
    expect(await press(page, 'Tab')).toBe('Remove: swing-0.mp4')
    expect(await press(page, 'ArrowUp')).toBe('Remove: swing-0.mp4')
    expect(await press(page, 'ArrowDown')).toBe('Remove: swing-1.mp4')
    expect(await press(page, 'End')).toBe('Remove: swing-999.mp4')
    expect(await press(page, 'ArrowUp')).toBe('Remove: swing-998.mp4')
    expect(await violations(page, 'mocap-uploader')).toEqual([])
    // Whoever comes back is where they were.
    expect(await press(page, 'Tab')).toBe('')
    expect(await press(page, 'Shift+Tab')).toBe('Remove: swing-998.mp4')
    expect(await press(page, 'Home')).toBe('Remove: swing-0.mp4')
  })

  test('takes an arrow on the button of a row for its own, and leaves the list and what belongs to the browser alone', async () => {
    const page = await openPage()
    const taken = await page.evaluate(async () => {
      const { element, list } = elementRig.showScripted()
      element.addFiles([new File(['x'], 'swing-01.mp4')])
      await new Promise(requestAnimationFrame)
      const isTaken = (of: HTMLElement, held: KeyboardEventInit = {}): boolean =>
        !of.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true, cancelable: true, ...held }))
      const ofRow = list.querySelector('button')!
      const held = [{ altKey: true }, { ctrlKey: true }, { metaKey: true }].map((key) => isTaken(ofRow, key))
      return [isTaken(ofRow), isTaken(list), ...held]
    })

    expect(taken).toEqual([true, false, false, false, false])
  })

  test('keeps the focus on the button of a notice when something else is to be read', async () => {
    const page = await openPage()
    let answer = (): void => undefined
    const isAnswered = new Promise<void>((resolve) => (answer = resolve))
    await page.route('**/upload_videos', async (route) => {
      if (route.request().method() !== 'POST') return route.continue()
      await isAnswered
      return route.fulfill({ status: 401, headers: { 'access-control-allow-origin': '*' }, body: '{}' })
    })
    await pick(page, 'swing-01.mp4')
    await button(page, 'Upload 1 file').click()
    await page.evaluate(() => document.querySelector('mocap-uploader')!.addFiles([new File(['x'], 'notes.pdf')]))
    await button(page, 'Dismiss').focus()

    answer()

    await page.getByRole('alert').getByText('You are not signed in').waitFor()
    expect(await focused(page)).toBe('Dismiss')
    expect(await press(page, 'Enter')).toBe('Choose files')
    expect(await page.getByRole('alert').textContent()).toBe('')
  })

  test('keeps the focus in the list when the button of a row has done its work and is gone', async () => {
    const page = await openPage()
    await page.evaluate(() => elementRig.tryOnce())
    await page.route(isLatePart, (route) =>
      route.fulfill({ status: 500, headers: { 'access-control-allow-origin': '*' }, body: 'no' }),
    )
    await pick(page, 'swing-01.mp4', 'swing-02.mp4')
    await button(page, 'Upload 2 files').click()
    await button(page, 'Try again: swing-02.mp4').focus()
    await page.unroute(isLatePart)

    await page.keyboard.press('Enter')

    await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()
    await expect.poll(() => focused(page)).toBe('Files')
  })
})
