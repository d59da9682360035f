// What the element draws with many files, and when it scrolls.

import type { Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { chromiumPath } from './rig/chromium.ts'
import { startTwo } from './rig/element-page.ts'
import { useElement } from './rig/element-under-test.ts'

describe.skipIf(chromiumPath === undefined)('the element in Chromium', () => {
  const { button, pick, openPage, addElement } = useElement()

  test('stays smooth with a thousand files: few rows a frame, and only those that changed', async () => {
    const page = await openPage()
    const made = await page.evaluate(async () => {
      // A frame also makes fewer rows where they take it long: here they take it no time.
      const nowMs = performance.now()
      performance.now = () => nowMs
      const { element, list } = elementRig.showScripted()
      const batches: number[] = []
      new MutationObserver((changes) =>
        batches.push(changes.reduce((sum, { addedNodes }) => sum + addedNodes[0]!.childNodes.length, 0)),
      ).observe(list, { childList: true })
      element.addFiles(Array.from({ length: 1000 }, (_, index) => new File(['x'], `swing-${String(index)}.mp4`)))
      while (list.querySelectorAll('li').length < 1000) await new Promise(requestAnimationFrame)
      await element.start()
      return { most: Math.max(...batches), all: batches.reduce((sum, count) => sum + count, 0) }
    })
    expect(made).toEqual({ most: 20, all: 1000 })

    const touched = await page.evaluate(async () => {
      const list = document.querySelector('mocap-uploader')!.shadowRoot!.querySelector('ul')!
      const frames = async (count: number): Promise<void> => {
        for (let frame = 0; frame < count; frame += 1) await new Promise(requestAnimationFrame)
      }
      // Until every row shows that it waits.
      while (list.querySelector('[data-state=ready]') !== null) await frames(1)
      await frames(2)
      const rows = new Set<Element>()
      const observer = new MutationObserver((changes) => {
        for (const { target } of changes) {
          const row = (target instanceof Element ? target : target.parentElement)?.closest('li')
          if (row !== null && row !== undefined) rows.add(row)
        }
      })
      observer.observe(list, { subtree: true, childList: true, attributes: true, characterData: true })
      for (const index of [3, 500, 999]) globalThis.scripted.change(index, { state: 'uploading', sentBytes: 1 })
      await frames(3)
      return [...rows].map((row) => row.querySelector('bdi')!.textContent)
    })
    expect(touched).toEqual(['swing-3.mp4', 'swing-500.mp4', 'swing-999.mp4'])
  })

  test('draws the last row, too, where the first one changes in each frame and takes all its time', async () => {
    const page = await openPage()
    await startTwo(page)
    await page.evaluate(() => {
      // Whenever it is looked at, more has gone by than a frame may take.
      let nowMs = performance.now()
      performance.now = () => (nowMs += 5)
      const { change } = globalThis.scripted
      let sentBytes = 0
      const goOn = (): void => {
        change(0, { state: 'uploading', sentBytes: (sentBytes += 1e-6) })
        requestAnimationFrame(goOn)
      }
      goOn()
      change(1, { state: 'uploading' })
    })

    const row = page.locator('mocap-uploader [part~=file]').last()
    await expect.poll(() => row.getAttribute('data-state')).toBe('uploading')
  })

  test('looks again while it uploads, also when nothing is told', async () => {
    const page = await openPage()
    await startTwo(page)
    const row = page.locator('mocap-uploader [part~=file]').first()
    await expect.poll(() => row.getAttribute('data-state')).toBe('waiting')

    await page.evaluate(() => {
      const { files } = globalThis.scripted
      files[0] = { ...files[0]!, state: 'uploading' }
    })

    await expect.poll(() => row.getAttribute('data-state')).toBe('uploading')
  })

  test('shows the row of the file that is on its way, unless somebody looks through the list', async () => {
    const page = await openPage()
    await page.mouse.move(1, 1)
    await page.evaluate(async () => {
      const { element } = elementRig.showScripted()
      // Rows of different heights, which are known only when they are near.
      element.style.inlineSize = '20rem'
      const name = (index: number): string => `${'swing-'.repeat(index % 20)}${String(index)}.mp4`
      element.addFiles(Array.from({ length: 300 }, (_, index) => new File(['x'], name(index))))
      await element.start()
    })
    /** How far the top of a row is from that of the list. */
    const distance = (index: number) =>
      page.evaluate((of) => {
        const list = document.querySelector('mocap-uploader')!.shadowRoot!.querySelector('ul')!
        const row = list.querySelectorAll('li')[of]
        const [from, to] = [list.getBoundingClientRect().top, row?.getBoundingClientRect().top ?? Number.NaN]
        return Math.abs(Math.round(to - from))
      }, index)
    const move = (index: number) =>
      page.evaluate((of) => globalThis.scripted.change(of, { state: 'uploading', sentBytes: 1 }), index)

    await move(200)
    await expect.poll(() => distance(200)).toBeLessThanOrEqual(2)

    await page.locator('mocap-uploader [part~=list]').hover()
    await move(100)
    await page.locator('mocap-uploader li[data-state=uploading]').nth(1).waitFor({ state: 'attached' })
    expect(await distance(200)).toBeLessThanOrEqual(2)
  })

  test('shows the row of a file that has failed when its upload has ended', async () => {
    const page = await openPage()
    await page.mouse.move(1, 1)
    await page.evaluate(async () => {
      const { element } = elementRig.showScripted()
      element.addFiles(Array.from({ length: 60 }, (_, index) => new File(['x'], `swing-${String(index)}.mp4`)))
      await element.start()
      const { files, change, fail } = globalThis.scripted
      files.forEach((_, index) => change(index, { state: index === 50 ? 'failed' : 'confirmed' }))
      fail()
    })

    const row = page.locator('mocap-uploader [part~=file]').nth(50)
    const list = page.locator('mocap-uploader [part~=list]')
    const top = async (of: Locator) => (await of.boundingBox())?.y ?? Number.NaN
    await expect.poll(async () => Math.abs((await top(row)) - (await top(list)))).toBeLessThanOrEqual(2)
  })

  test('leaves the list where a finger has scrolled it, for a while', async () => {
    const page = await openPage()
    await page.mouse.move(1, 1)
    const scrolled = await page.evaluate(async () => {
      let nowMs = performance.now()
      performance.now = () => nowMs
      const { element, list } = elementRig.showScripted()
      element.addFiles(Array.from({ length: 40 }, (_, index) => new File(['x'], `swing-${String(index)}.mp4`)))
      await element.start()
      while (list.querySelectorAll('[data-state=waiting]').length < 40) await new Promise(requestAnimationFrame)
      const begin = async (index: number): Promise<number> => {
        globalThis.scripted.change(index, { state: 'uploading', sentBytes: 1 })
        while (!list.querySelectorAll('li')[index]!.matches('[data-state=uploading]'))
          await new Promise(requestAnimationFrame)
        await new Promise(requestAnimationFrame)
        return list.scrollTop
      }
      const followed = await begin(39)
      list.dispatchEvent(new PointerEvent('pointerdown', { pointerType: 'touch' }))
      list.scrollTop = 100
      const left = await begin(30)
      nowMs += 10_000
      return { followed, left, again: await begin(20) }
    })
    expect(scrolled.left).toBe(100)
    expect([scrolled.followed, scrolled.again]).not.toContain(100)
  })

  test('stays where it was scrolled to when the upload goes on after a pause', async () => {
    const page = await openPage()
    await page.mouse.move(1, 1)
    const tops = await page.evaluate(async () => {
      const { element, list } = elementRig.showScripted()
      element.addFiles(Array.from({ length: 40 }, (_, index) => new File(['x'], `swing-${String(index)}.mp4`)))
      await element.start()
      const { change, stop } = globalThis.scripted
      const seen = async (state: string, count: number): Promise<void> => {
        while (list.querySelectorAll(`[data-state=${state}]`).length < count) await new Promise(requestAnimationFrame)
        await new Promise(requestAnimationFrame)
      }
      await seen('waiting', 40)
      const begin = (index: number): void => change(index, { state: 'uploading', sentBytes: 1 })
      begin(39)
      await seen('uploading', 1)
      stop('paused')
      await seen('paused', 40)
      list.scrollTop = 100
      stop('uploading')
      begin(39)
      await seen('uploading', 1)
      const goneOn = list.scrollTop
      begin(30)
      await seen('uploading', 2)
      return { goneOn, next: list.scrollTop }
    })
    expect(tops.goneOn).toBe(100)
    expect(tops.next).not.toBe(100)
  })

  test('learns the size of each picked file in a task of its own, where that takes the browser long', async () => {
    const page = await openPage()
    await addElement(page)
    const learned = await page.evaluateHandle(() => {
      const learned = { mostInTask: 0 }
      let [aheadMs, inTask] = [0, 0]
      const clock = performance.now.bind(performance)
      performance.now = () => clock() + aheadMs
      const known = new WeakSet<Blob>()
      const { get } = Object.getOwnPropertyDescriptor(Blob.prototype, 'size')!
      Object.defineProperty(Blob.prototype, 'size', {
        get(this: Blob) {
          if (!known.has(this)) {
            known.add(this)
            aheadMs += 20
            inTask += 1
            learned.mostInTask = Math.max(learned.mostInTask, inTask)
          }
          return get!.call(this) as number
        },
      })
      const { set } = Object.getOwnPropertyDescriptor(MessagePort.prototype, 'onmessage')!
      Object.defineProperty(MessagePort.prototype, 'onmessage', {
        set(this: MessagePort, listener: (event: MessageEvent) => void) {
          set!.call(this, (event: MessageEvent) => {
            inTask = 0
            listener(event)
          })
        },
      })
      return learned
    })

    await pick(page, 'swing-01.mp4', 'swing-02.mp4')

    await button(page, 'Upload 2 files').waitFor()
    expect(await learned.evaluate(({ mostInTask }) => mostInTask)).toBe(1)
  })

  test('scrolls once a frame at most, however quickly files follow each other', async () => {
    const page = await openPage()
    await page.mouse.move(1, 1)
    const scrolls = await page.evaluate(async () => {
      // A frame that took long draws the rest in the next one, and scrolls only then: here they take no time.
      const nowMs = performance.now()
      performance.now = () => nowMs
      const { element, list } = elementRig.showScripted()
      element.addFiles(Array.from({ length: 40 }, (_, index) => new File(['x'], `swing-${String(index)}.mp4`)))
      await element.start()
      while (list.querySelector('[data-state=waiting]') === null) await new Promise(requestAnimationFrame)
      const { get, set } = Object.getOwnPropertyDescriptor(Element.prototype, 'scrollTop')!
      let count = 0
      Object.defineProperty(list, 'scrollTop', {
        get: () => get!.call(list) as unknown,
        set(top: number) {
          count += 1
          set!.call(list, top)
        },
      })
      const scrolls: number[] = []
      for (let index = 0; index < 40; index += 1) {
        globalThis.scripted.change(index - 1, { state: 'confirmed', confirmedBytes: 1 })
        globalThis.scripted.change(index, { state: 'uploading', sentBytes: 1 })
        await new Promise(requestAnimationFrame)
        scrolls.push(count)
        count = 0
      }
      return scrolls
    })
    expect(Math.max(...scrolls)).toBe(1)
  })
})
