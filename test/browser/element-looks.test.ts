// How the element looks where there is little room for it or much to say, in a real Chromium.

import { describe, expect, test } from 'vitest'
import { chromiumPath } from './rig/chromium.ts'
import { startTwo, useElementPages } from './rig/element-page.ts'

describe.skipIf(chromiumPath === undefined)('the look of the element in Chromium', () => {
  const { openPage } = useElementPages({})

  test('shows all that is paused in one way, whether bytes of it were on their way or not', async () => {
    const page = await openPage()
    await startTwo(page, 1000)
    await page.evaluate(() => globalThis.scripted.change(0, { state: 'uploading', sentBytes: 500 }))
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    const looks = () =>
      page.locator('mocap-uploader [part~=file]').evaluateAll((rows) =>
        rows.map((row) => {
          const icon = row.querySelector('.file-icon')!
          const shape = icon.querySelector('path')!.getAttribute('d')
          return [row.querySelector('.file-status')!.textContent, shape, getComputedStyle(icon).color].join()
        }),
      )
    await expect
      .poll(async () => [(await looks())[0]?.startsWith('Paused'), new Set(await looks()).size])
      .toEqual([true, 1])
  })

  test('shows of a file that is paused how far it is, if it has begun', async () => {
    const page = await openPage()
    await startTwo(page, 1000)
    await page.evaluate(() =>
      globalThis.scripted.change(0, { state: 'uploading', sentBytes: 700, confirmedBytes: 500 }),
    )
    await page.getByRole('button', { name: 'Pause', exact: true }).click()

    const bar = page.locator('mocap-uploader [part~=file]').getByRole('progressbar')
    await expect.poll(() => bar.evaluateAll((all) => all.map((each) => each.ariaValueText))).toEqual(['50%, Paused'])
  })

  test('says of a file how often it was tried again, as long as it is on its way', async () => {
    const page = await openPage()
    await startTwo(page)
    const statuses = () => page.locator('mocap-uploader [part~=file-status]').allTextContents()
    await page.evaluate(() => {
      globalThis.scripted.change(0, { state: 'uploading' })
      globalThis.scripted.retry(0)
      globalThis.scripted.retry(0)
    })
    await expect.poll(statuses).toEqual(['0%2 retries', 'Waiting'])

    await page.evaluate(() => globalThis.scripted.change(0, { state: 'confirmed', sentBytes: 1, confirmedBytes: 1 }))
    await expect.poll(statuses).toEqual(['Confirmed', 'Waiting'])
  })

  test('says how long is left while bytes are left to send, and not while only answers are awaited', async () => {
    const page = await openPage()
    await startTwo(page, 1000)
    const facts = page.locator('mocap-uploader [part~=summary-facts]')
    const isAt = (sentBytes: number, remainingMs: number) =>
      page.evaluate(
        ([sent, left]) => {
          Object.assign(globalThis.scripted.line, { bytesPerSecond: 100, remainingMs: left })
          globalThis.scripted.change(0, { state: 'uploading', sentBytes: sent! })
          globalThis.scripted.change(1, { state: 'uploading', sentBytes: sent! })
        },
        [sentBytes, remainingMs],
      )
    await isAt(500, 10_000)
    await facts.getByText('10 sec left').waitFor()
    await isAt(1000, 0)
    await facts.getByText('2 kB of 2 kB').waitFor()

    expect(await facts.locator('span').allTextContents()).toEqual(['2 kB of 2 kB', '100 bytes per second'])
  })

  test('writes its texts in its own way, whatever the page says of those around it', async () => {
    const page = await openPage()
    await startTwo(page, 1000)
    const file = page.locator('mocap-uploader [part~=file-name]').first()
    await file.waitFor()
    const looks = () =>
      page.evaluate(() => {
        const { shadowRoot } = document.querySelector('mocap-uploader')!
        return ['.file-name', 'dialog'].map((of) => {
          const { color, letterSpacing, textAlign, textTransform, whiteSpace } = getComputedStyle(
            shadowRoot!.querySelector(of)!,
          )
          return [color, letterSpacing, textAlign, textTransform, whiteSpace]
        })
      })
    const own = await looks()

    await page.evaluate(() => {
      const style = { letterSpacing: '.3em', textAlign: 'center', textTransform: 'uppercase', whiteSpace: 'nowrap' }
      Object.assign(document.body.style, style)
      document.querySelector('mocap-uploader')!.style.all = 'unset'
    })

    expect(await looks()).toEqual(own)
  })

  test('shows every letter of what is known on a phone whose text is twice as large', async () => {
    const page = await openPage({ viewport: { width: 320, height: 740 } })
    await page.evaluate(() => (document.documentElement.style.fontSize = '32px'))
    await startTwo(page, 1000)
    await page.evaluate(() => globalThis.scripted.change(0, { state: 'uploading', sentBytes: 500 }))
    await page.getByText('500 bytes of 2 kB').waitFor()
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByText('what was on its way is sent again').waitFor()

    const cut = await page.evaluate(() => {
      const [facts] = document.querySelector('mocap-uploader')!.shadowRoot!.querySelectorAll('.facts')
      // What lies before and behind this is not seen.
      const { left, right } = facts!.parentElement!.getBoundingClientRect()
      const letters = document.createRange()
      const texts = document.createTreeWalker(facts!, NodeFilter.SHOW_TEXT)
      let cut = ''
      while (texts.nextNode()) {
        const text = texts.currentNode as Text
        for (let at = 0; at < text.length; at += 1) {
          letters.setStart(text, at)
          letters.setEnd(text, at + 1)
          const box = letters.getBoundingClientRect()
          if (box.left < left - 1 || box.right > right + 1) cut += text.data[at]!
        }
      }
      return cut.trim()
    })
    expect(cut).toBe('')
  })

  test('cuts no button off on a phone, also in a language of long words whose letters are twice as large', async () => {
    const page = await openPage({ viewport: { width: 320, height: 740 } })
    await page.evaluate(() => (document.documentElement.style.fontSize = '32px'))
    await startTwo(page, 1000)
    await page.evaluate(() => {
      globalThis.scripted.change(0, { state: 'confirmed', sentBytes: 1000, confirmedBytes: 1000 })
      const element = document.querySelector('mocap-uploader')!
      element.texts = {
        chooseFiles: 'Videoaufzeichnungsdateien auswählen',
        pause: 'Datenübertragungspause',
        questionKeep: 'Zur Übertragungsübersicht',
        questionDiscard: () => 'Restliche Videoaufzeichnungsdateien verwerfen',
        questionCancel: 'Videoaufzeichnungsübertragung abbrechen',
      }
      void element.cancel()
    })
    await page.getByRole('button', { name: 'Restliche' }).waitFor()

    const cut = await page.locator('mocap-uploader button:visible').evaluateAll((buttons) =>
      buttons.flatMap((button) => {
        const room = (button.closest('dialog') ?? button.closest('.uploader')!).getBoundingClientRect()
        const { left, right } = button.getBoundingClientRect()
        const isWhole = left >= room.left && right <= room.right && button.scrollWidth <= button.clientWidth
        return isWhole ? [] : [button.textContent]
      }),
    )
    expect(cut).toEqual([])
  })

  test('begins each line of a long name where the row begins, in a language that is written from right to left', async () => {
    const page = await openPage({ viewport: { width: 320, height: 740 } })
    await startTwo(page, 1000)
    await page.evaluate(() => {
      const element = document.querySelector('mocap-uploader')!
      element.texts = { addMore: 'أضف ملفات أخرى' }
      element.addFiles([new File(['x'], `2026-11-20_${'ballpark-'.repeat(6)}cam.mp4`)])
    })
    await page.locator('mocap-uploader [part~=file]').nth(2).waitFor()

    const edges = await page.evaluate(() => {
      const words = document.querySelector('mocap-uploader')!.shadowRoot!.querySelectorAll('.words')[2]!
      const name = document.createRange()
      name.selectNodeContents(words.querySelector('bdi')!)
      return {
        begins: words.getBoundingClientRect().right,
        lines: [...name.getClientRects()].map(({ right }) => right),
      }
    })
    expect(edges.lines.length).toBeGreaterThan(1)
    for (const right of edges.lines) expect(right).toBeCloseTo(edges.begins, 0)
  })

  test('keeps the picture of a row beside its name, also where the text is twice as large', async () => {
    const page = await openPage({ viewport: { width: 320, height: 740 } })
    await page.evaluate(() => (document.documentElement.style.fontSize = '32px'))
    await startTwo(page, 1000)

    const boxOf = async (part: string) => (await page.locator(`mocap-uploader .${part}`).first().boundingBox())!
    const [icon, words] = [await boxOf('file-icon'), await boxOf('file .words')]
    expect(icon.x + icon.width).toBeLessThanOrEqual(words.x)
    expect(icon.y).toBeGreaterThanOrEqual(words.y)
  })

  test('sets each refused file apart from the next, as the reasons take two lines on a phone', async () => {
    const page = await openPage({ viewport: { width: 390, height: 740 } })
    await page.evaluate(() => {
      const { element } = elementRig.showScripted()
      element.addFiles(['notes-of-the-game.docx', 'holiday-in-june.jpg'].map((name) => new File(['x'], name)))
    })
    const refused = page.locator('mocap-uploader .notice li')
    await refused.nth(1).waitFor()

    const [first, second] = [(await refused.nth(0).boundingBox())!, (await refused.nth(1).boundingBox())!]
    const line = await refused.first().evaluate((item) => parseFloat(getComputedStyle(item).lineHeight))
    expect(first.height).toBeGreaterThan(1.5 * line)
    expect(second.y - (first.y + first.height)).toBeGreaterThanOrEqual(4)
  })

  test('covers no letter below the heading with the ring around it, where the focus goes when no button is left', async () => {
    const page = await openPage()
    await startTwo(page, 1000)
    const cancel = page.getByRole('button', { name: 'Cancel', exact: true })
    await cancel.focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => cancel.isDisabled()).toBe(true)

    const seen = await page.evaluate(() => {
      const root = document.querySelector('mocap-uploader')!.shadowRoot!
      const heading = root.activeElement!
      const { outlineStyle, outlineOffset, outlineWidth } = getComputedStyle(heading)
      const ring = heading.getBoundingClientRect().bottom + parseFloat(outlineOffset) + parseFloat(outlineWidth)
      return {
        outlineStyle,
        name: heading.localName,
        gap: heading.nextElementSibling!.getBoundingClientRect().top - ring,
      }
    })
    expect(seen).toMatchObject({ name: 'h2', outlineStyle: 'solid' })
    expect(seen.gap).toBeGreaterThanOrEqual(0)
  })

  test('gives a dialog that it fits in nothing to scroll', async () => {
    const page = await openPage()
    await page.evaluate(() => {
      elementRig.showScripted()
      Object.assign(document.body.style, { position: 'relative', overflow: 'auto', margin: '0' })
      document.documentElement.style.overflow = 'hidden'
    })
    await page.getByRole('button', { name: 'Choose files' }).waitFor()

    const rest = await page.evaluate(() => document.body.scrollHeight - document.body.clientHeight)
    expect(rest).toBe(0)
  })

  test('draws small print and the edges of buttons in the colour of its text for a person who asks for more contrast', async () => {
    const colours = async (contrast: 'more' | 'no-preference') => {
      const page = await openPage({ contrast })
      await startTwo(page, 1000)
      const pause = page.getByRole('button', { name: 'Pause', exact: true })
      await pause.waitFor()
      const edge = await pause.evaluate((button) => getComputedStyle(button).borderTopColor)
      const of = (part: string) =>
        page.locator(`mocap-uploader .${part}`).evaluate((element) => getComputedStyle(element).color)
      return { edge, hint: await of('drop-hint'), text: await of('summary-title') }
    }

    const { edge, hint, text } = await colours('more')
    expect({ edge, hint }).toEqual({ edge: text, hint: text })
    expect(new Set(Object.values(await colours('no-preference'))).size).toBe(3)
  })

  test('leaves a button that is off the colour which the person has chosen for such buttons', async () => {
    const page = await openPage({ forcedColors: 'active' })
    await startTwo(page, 1000)
    const pause = page.getByRole('button', { name: 'Pause', exact: true })
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()

    await expect.poll(() => pause.isDisabled()).toBe(true)
    expect(await pause.evaluate((button) => getComputedStyle(button).opacity)).toBe('1')
  })
})
