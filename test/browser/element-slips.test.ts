// What a coach does that nobody meant: a double click, a file saved anew after it was chosen, a change of mind. And that
// no button goes away under a finger, and that the ear hears what the eye sees.

import { appendFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { pattern } from '../../src/testing/transport/requests.ts'
import { chromiumPath } from './rig/chromium.ts'
import { hasLooked, heading, isLatePart, startTwo, useElementPages, withoutOwnPicker } from './rig/element-page.ts'

const MIB = 1024 * 1024
const VIDEO = { 'movement-type': '1', player: 'p-17', date: '2026-11-20', 'session-type': '2' }

describe.skipIf(chromiumPath === undefined)('the element in Chromium', () => {
  const files = {
    'swing-01.mp4': pattern(1000),
    'swing-02.mp4': pattern(6 * MIB),
    'changing.mp4': pattern(500),
    'other/swing-02.mp4': pattern(700),
  }
  const pages = useElementPages({ ...files, 'notes.pdf': pattern(100) })

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const pick = (page: Page, ...names: string[]) =>
    page.setInputFiles('mocap-uploader input >> nth=0', names.map(pages.pathOf))
  const rows = (page: Page) => page.locator('mocap-uploader [part~=file-name]').allTextContents()
  const sentences = (page: Page) => page.locator('mocap-uploader [role=status] > *').allTextContents()
  const placeOf = async (page: Page, name: string) => (await button(page, name).boundingBox())!

  async function openPage(): Promise<Page> {
    const page = await pages.openPage({}, withoutOwnPicker)
    await pages.addElement(page, VIDEO)
    return page
  }

  /** Clicks where this button is now, as the platform counts them: within half a second in the same place. */
  async function clicksAt(page: Page, name: string): Promise<(clickCount: number, afterMs: number) => Promise<void>> {
    const { x, y, width, height } = await placeOf(page, name)
    const devTools = await page.context().newCDPSession(page)
    const startedAt = Date.now() / 1000
    return async (clickCount, afterMs) => {
      const at = { x: x + width / 2, y: y + height / 2, timestamp: startedAt + afterMs / 1000 }
      for (const type of ['mousePressed', 'mouseReleased'] as const)
        await devTools.send('Input.dispatchMouseEvent', { ...at, type, button: 'left', clickCount })
    }
  }

  /** Uploads two files until the small one is confirmed; the large one is held. */
  async function uploadHalf(page: Page): Promise<void> {
    await page.route(isLatePart, () => undefined)
    await pick(page, 'swing-01.mp4', 'swing-02.mp4')
    await button(page, 'Upload 2 files').click()
    await heading(page).getByText('1 of 2 files confirmed').waitFor()
  }

  test('does not cancel what a double click has begun, though another button is drawn under the pointer', async () => {
    const page = await openPage()
    await page.route(isLatePart, () => undefined)
    await pick(page, 'swing-01.mp4', 'swing-02.mp4')
    await button(page, 'Upload 2 files').waitFor()
    const { x, y, width, height } = await placeOf(page, 'Upload 2 files')
    const at = [x + width * 0.8, y + height / 2] as const
    await page.mouse.click(...at)
    await button(page, 'Cancel').waitFor()
    const cancel = await placeOf(page, 'Cancel')
    expect(at[0]).toBeGreaterThan(cancel.x)

    await page.mouse.down({ clickCount: 2 })
    await page.mouse.up({ clickCount: 2 })

    await heading(page).getByText('1 of 2 files confirmed').waitFor()
    expect(await page.evaluate(() => document.querySelector('mocap-uploader')!.phase)).toBe('uploading')
  })

  test('hears keys however quickly they come, and what a script or an assistive technology sends', async () => {
    const page = await openPage()
    await pick(page, 'swing-01.mp4', 'swing-02.mp4')
    for (const name of ['swing-01.mp4', 'swing-02.mp4']) await button(page, `Remove: ${name}`).waitFor()
    await button(page, 'Remove: swing-01.mp4').focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Space')
    await expect.poll(() => rows(page)).toEqual([])

    await pick(page, 'swing-01.mp4')
    await button(page, 'Remove: swing-01.mp4').dispatchEvent('click')
    await expect.poll(() => rows(page)).toEqual([])
    await pick(page, 'swing-01.mp4')
    await button(page, 'Remove: swing-01.mp4').evaluate((of) => of.dispatchEvent(new Event('click')))
    await expect.poll(() => rows(page)).toEqual([])
  })

  test('removes two files by two clicks in one place, since the rows move up under it, and one by a double click', async () => {
    const page = await openPage()
    await pick(page, 'swing-01.mp4', 'swing-02.mp4', 'changing.mp4')
    await button(page, 'Remove: changing.mp4').waitFor()
    const click = await clicksAt(page, 'Remove: changing.mp4')

    await click(1, 0)
    await click(2, 150)
    await expect.poll(() => rows(page)).toEqual(['swing-01.mp4', 'swing-02.mp4'])
    await click(3, 480)

    await expect.poll(() => rows(page)).toEqual(['swing-02.mp4'])
  })

  test('removes one file by a triple click, however slow', async () => {
    const page = await openPage()
    await pick(page, 'swing-01.mp4', 'swing-02.mp4', 'changing.mp4')
    await button(page, 'Remove: changing.mp4').waitFor()
    const click = await clicksAt(page, 'Remove: changing.mp4')

    for (const [count, afterMs] of [0, 250, 500].entries()) await click(count + 1, afterMs)

    await expect.poll(() => rows(page)).toEqual(['swing-01.mp4', 'swing-02.mp4'])
    // Whoever means it clicks once more: well after the bound, since the browser rounds its times to either side of it.
    await click(4, 900)
    await expect.poll(() => rows(page)).toEqual(['swing-02.mp4'])
  })

  test('takes no later click of a series on another kind of button than its first, however slow', async () => {
    const page = await openPage()
    await pick(page, 'swing-01.mp4', 'swing-02.mp4', 'changing.mp4')
    await button(page, 'Remove: changing.mp4').waitFor()

    const removedBy = (...parts: string[]) =>
      page.evaluate((all) => {
        const { shadowRoot } = document.querySelector('mocap-uploader')!
        const countOfRows = () => shadowRoot!.querySelectorAll('li.file').length
        const before = countOfRows()
        all.forEach((part, index) => {
          const click = new MouseEvent('click', { detail: index + 1, bubbles: true })
          Object.defineProperty(click, 'timeStamp', { value: 1000 + index * 400 })
          shadowRoot!.querySelector(`[part~=${part}]`)!.dispatchEvent(click)
        })
        return before - countOfRows()
      }, parts)

    expect(await removedBy('drop-title', 'row-button', 'row-button')).toBe(0)
    expect(await removedBy('row-button', 'start-button')).toBe(1)
    expect(await page.evaluate(() => document.querySelector('mocap-uploader')!.phase)).toBe('ready')
    await button(page, 'Upload 2 files').waitFor()
  })

  test('takes a key that is held for one press, also where the focus moves on to another button', async () => {
    const page = await openPage()
    await pick(page, 'swing-01.mp4', 'swing-02.mp4', 'changing.mp4')
    await button(page, 'Remove: changing.mp4').focus()

    for (let times = 0; times < 3; times += 1) await page.keyboard.down('Enter')
    await page.keyboard.up('Enter')

    await expect.poll(() => rows(page)).toEqual(['swing-01.mp4', 'swing-02.mp4'])
  })

  test('puts no question whose answer nobody hears, however quickly the one before was answered', async () => {
    const page = await openPage()
    await uploadHalf(page)

    const seen = await page.evaluate(async () => {
      const element = document.querySelector('mocap-uploader')!
      const dialog = element.shadowRoot!.querySelector('dialog')!
      const first = element.cancel()
      dialog.close()
      const second = element.cancel()
      return { answers: [await first, await second], isOpen: dialog.open }
    })
    expect(seen).toEqual({ answers: [false, false], isOpen: false })
    await button(page, 'Cancel').click()
    await button(page, 'Keep 1 file, give up the rest').click()
    await heading(page).getByText('The upload was cancelled').waitFor()
  })

  test('takes Escape for no also where the question before was answered otherwise', async () => {
    const page = await openPage()
    const answers = await page.evaluate(async () => {
      const { element } = elementRig.showScripted()
      const root = element.shadowRoot!
      const dialog = root.querySelector('dialog')!
      element.addFiles(['swing-01.mp4', 'swing-02.mp4'].map((name) => new File(['x'], name)))
      await element.start()
      globalThis.scripted.change(0, { state: 'confirmed', sentBytes: 1, confirmedBytes: 1 })
      const first = element.cancel()
      dialog.querySelector<HTMLButtonElement>('[part~=danger-button]')!.click()
      await first
      const second = element.cancel()
      // As Escape does.
      dialog.close()
      return [await first, await second]
    })

    expect(answers).toEqual([true, false])
  })

  test('puts a question anew that a dialog of the page has come to lie over', async () => {
    const page = await openPage()
    await page.evaluate(() => {
      const dialog = document.body.appendChild(document.createElement('dialog'))
      dialog.append(document.querySelector('mocap-uploader')!)
      dialog.showModal()
    })
    await uploadHalf(page)
    await button(page, 'Cancel').click()
    await page.evaluate(() => {
      const dialog = document.querySelector('dialog')!
      dialog.close()
      dialog.showModal()
    })

    await button(page, 'Cancel').click()
    await button(page, 'Keep 1 file, give up the rest').click()

    await heading(page).getByText('The upload was cancelled').waitFor()
  })

  test('takes a question back when it is taken out of the page, where nobody can answer it, and puts it again', async () => {
    const page = await openPage()
    await uploadHalf(page)

    const seen = await page.evaluate(async () => {
      const element = document.querySelector('mocap-uploader')!
      const answer = element.cancel()
      document.body.append(document.createElement('section').appendChild(element))
      return { answer: await answer, isOpen: element.shadowRoot!.querySelector('dialog')!.open }
    })
    expect(seen).toEqual({ answer: false, isOpen: false })
    await button(page, 'Cancel').click()
    await button(page, 'Keep 1 file, give up the rest').click()
    await heading(page).getByText('The upload was cancelled').waitFor()
  })

  test('asks nothing out of the page, where nobody can answer, and gives nothing up', async () => {
    const page = await openPage()
    await uploadHalf(page)

    const answer = await page.evaluate(async () => {
      const element = document.querySelector('mocap-uploader')!
      element.remove()
      const isCancelled = await element.cancel()
      document.body.append(element)
      return isCancelled
    })

    expect(answer).toBe(false)
    await heading(page).getByText('1 of 2 files confirmed').waitFor()
  })

  test('gives another clip of the same name a row of its own, and the same one its own row', async () => {
    const page = await openPage()
    await uploadHalf(page)
    await button(page, 'Cancel').click()
    await button(page, 'Keep 1 file, give up the rest').click()
    await heading(page).getByText('The upload was cancelled').waitFor()
    const states = () => page.locator('mocap-uploader li').evaluateAll((all) => all.map((li) => li.dataset['state']))

    await pick(page, 'other/swing-02.mp4')
    await expect.poll(() => rows(page)).toEqual(['swing-01.mp4', 'swing-02.mp4', 'swing-02.mp4'])
    await pick(page, 'swing-02.mp4')

    await expect.poll(states).toEqual(['confirmed', 'ready', 'ready'])
  })

  test('leaves the controls where they are when there is something to read', async () => {
    const page = await openPage()
    await uploadHalf(page)
    const before = await placeOf(page, 'Cancel')

    await pick(page, 'notes.pdf')
    await page.getByText('1 item was not added').waitFor()

    expect(await placeOf(page, 'Cancel')).toEqual(before)
  })

  describe('a button of a row that is pressed at the moment in which its row would move', () => {
    /** Two clips wait for their turn below two under way. Settles with the middle of the first one's button. */
    async function showReady(page: Page): Promise<{ readonly x: number; readonly y: number }> {
      await startTwo(page)
      await page.evaluate(() => {
        const clips = ['later-1.mp4', 'later-2.mp4'].map((name) => new File(['x'], name))
        document.querySelector('mocap-uploader')!.addFiles(clips)
      })
      await button(page, 'Remove: later-2.mp4').waitFor()
      const { x, y, width, height } = await placeOf(page, 'Remove: later-1.mp4')
      return { x: x + width / 2, y: y + height / 2 }
    }
    /** Something comes that is shown above the list, and has its frames to be shown in. */
    const pushDown = (page: Page) =>
      page.evaluate(async () => {
        document.querySelector('mocap-uploader')!.addFiles([new File(['x'], 'notes.pdf')])
        globalThis.scripted.stop('paused')
        for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame)
      })
    /** A mouse presses that button, and holds it while something comes. */
    async function holdWhilePushedDown(page: Page): Promise<void> {
      const { x, y } = await showReady(page)
      await page.mouse.move(x, y)
      await page.mouse.down()
      await pushDown(page)
    }
    const isRemoved = async (page: Page): Promise<void> => {
      await page.getByText('1 item was not added').waitFor()
      await heading(page).getByText('Paused').waitFor()
      await expect.poll(() => rows(page)).toEqual(['swing-01.mp4', 'swing-02.mp4', 'later-2.mp4'])
    }

    test('is clicked by a mouse', async () => {
      const page = await pages.openPage()
      await holdWhilePushedDown(page)
      await page.mouse.up()

      await isRemoved(page)
    })

    test('is tapped by a finger, and no other one in its place', async () => {
      const page = await pages.openPage({ hasTouch: true, viewport: { width: 390, height: 844 } })
      const at = await showReady(page)
      const devTools = await page.context().newCDPSession(page)
      await devTools.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [at] })
      await pushDown(page)
      await devTools.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })

      await isRemoved(page)
    })

    test('holds nothing back once the finger scrolls', async () => {
      const page = await pages.openPage()
      await showReady(page)

      const titles = await page.evaluate(async () => {
        const nowMs = performance.now()
        performance.now = () => nowMs
        const { shadowRoot } = document.querySelector('mocap-uploader')!
        const [list, title] = ['list', 'summary-title'].map((part) => shadowRoot!.querySelector(`[part~=${part}]`)!)
        const after = async (type: string) => {
          list!.dispatchEvent(new PointerEvent(type, { pointerType: 'touch', bubbles: true }))
          globalThis.scripted.stop('paused')
          for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame)
          return title!.textContent
        }
        return [await after('pointerdown'), await after('pointercancel')]
      })

      expect(titles).toEqual(['0 of 2 files confirmed', 'Paused. 0 of 2 files confirmed'])
    })

    test('holds back what is to be drawn for a moment only, also where no click follows', async () => {
      const page = await pages.openPage()
      await holdWhilePushedDown(page)

      await page.getByText('1 item was not added').waitFor()
      await heading(page).getByText('Paused').waitFor()
    })
  })

  test('keeps the row of a file that changed until it is chosen again, counts it once, and offers nothing of it later', async () => {
    const page = await openPage()
    await pick(page, 'swing-01.mp4', 'changing.mp4')
    await button(page, 'Upload 2 files').waitFor()
    await appendFile(pages.pathOf('changing.mp4'), 'more')
    await button(page, 'Upload 2 files').click()
    // Until then the other clip may still be on its way, and its row in another place.
    await heading(page).getByText('1 file not finished').waitFor()
    const choosing = page.waitForEvent('filechooser')
    await button(page, 'Choose again: changing.mp4').click()
    const chooser = await choosing
    expect(await rows(page)).toEqual(['changing.mp4', 'swing-01.mp4'])

    await chooser.setFiles(pages.pathOf('changing.mp4'))
    await button(page, 'Upload 1 file').click()

    await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()
    expect(await rows(page)).toEqual(['changing.mp4', 'swing-01.mp4'])
    await expect
      .poll(async () => {
        await page.reload()
        await pages.addElement(page, VIDEO)
        await pick(page, 'swing-02.mp4')
        await button(page, 'Upload 1 file').waitFor()
        await hasLooked(page)
        return page.getByText('An earlier upload is not finished').count()
      })
      .toBe(0)
  })

  test('tells the service once that a session is given up of which nothing could be read', async () => {
    const page = await openPage()
    const given: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'DELETE') given.push(request.url())
    })
    await pick(page, 'changing.mp4')
    await button(page, 'Upload 1 file').waitFor()
    await appendFile(pages.pathOf('changing.mp4'), 'more')
    await button(page, 'Upload 1 file').click()
    await button(page, 'Choose again: changing.mp4').waitFor()
    // Nobody waits for it, the row's button least of all.
    await expect.poll(() => given).toHaveLength(1)

    const choosing = page.waitForEvent('filechooser')
    await button(page, 'Choose again: changing.mp4').click()
    await (await choosing).setFiles(pages.pathOf('changing.mp4'))
    await button(page, 'Upload 1 file').click()
    await heading(page).getByText('Your file is uploaded and confirmed').waitFor()
    await pick(page, 'swing-01.mp4')
    await button(page, 'Upload 1 file').click()
    await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()

    expect(given).toHaveLength(1)
  })

  test('counts a file once that was given up, chosen again, and delivered', async () => {
    const page = await openPage()
    await uploadHalf(page)
    await button(page, 'Cancel').click()
    await button(page, 'Keep 1 file, give up the rest').click()
    await heading(page).getByText('The upload was cancelled').waitFor()
    await page.unroute(isLatePart)

    await pick(page, 'swing-02.mp4')
    await button(page, 'Upload 1 file').click()

    await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()
    expect(await rows(page)).toEqual(['swing-01.mp4', 'swing-02.mp4'])
  })

  test('says that an earlier upload is not finished, of which nothing else tells the ear', async () => {
    const page = await openPage()
    await uploadHalf(page)
    await page.reload()
    await pages.addElement(page, VIDEO)

    await page.getByRole('button', { name: 'Discard' }).waitFor()
    await expect.poll(() => sentences(page)).toEqual(['An earlier upload is not finished'])
  })

  test('says of a cancel that it was one, and apart from that what stays', async () => {
    const page = await openPage()
    await uploadHalf(page)
    // The last that is said before the cancel. What is said within a moment is said together.
    await expect.poll(() => sentences(page)).toContain('75% stored.')

    await button(page, 'Cancel').click()
    await button(page, 'Keep 1 file, give up the rest').click()

    await expect.poll(() => sentences(page)).toEqual(['The upload was cancelled', '1 of 2 files confirmed'])
  })
})
