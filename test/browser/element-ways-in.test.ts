// The ways by which files come to the element and go on, beside choosing clips: captures, a folder that is dropped, files
// that the browser remembers after a reload; and colours that are forced.

import { mkdir, writeFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { pattern } from '../../src/testing/transport/requests.ts'
import { violations } from './rig/accessibility.ts'
import { chromiumPath } from './rig/chromium.ts'
import { dropOnto, heading, isLatePart, startTwo, useElementPages } from './rig/element-page.ts'
import { waitForAnswers } from './rig/patient-page.ts'

const MIB = 1024 * 1024
const VIDEO = { 'movement-type': '1', player: 'p-17', date: '2026-11-20', 'session-type': '2' }
const CAPTURE = { flow: 'capture', org: 'org-1', 'mocap-type': '2', date: '2026-11-19', 'session-type': '1' }

describe.skipIf(chromiumPath === undefined)('the element in Chromium', () => {
  const takes = ['take-10.action', 'take-2.action', 'cam2/take-1.action']
  const { openPage, addElement, pathOf } = useElementPages({
    ...Object.fromEntries(takes.map((name) => [`game/${name}`, pattern(3000)])),
    'swing-01.mp4': pattern(6 * MIB),
    'notes.pdf': pattern(100),
  })

  const names = (page: Page) => page.locator('mocap-uploader [part~=file-name]').allTextContents()

  test('walks a folder that is dropped, and delivers its captures in natural order', async () => {
    const page = await openPage()
    await addElement(page, CAPTURE)
    const registered: unknown[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/mocap_session_file'))
        registered.push((request.postDataJSON() as { filenames: unknown }).filenames)
    })
    await dropOnto(page, [pathOf('game')])
    await page.getByRole('button', { name: 'Upload 3 files', exact: true }).click()
    await heading(page).getByText('All 3 files are uploaded and confirmed').waitFor()

    expect(await names(page)).toHaveLength(3)
    expect(registered).toEqual([['take-1.action', 'take-2.action', 'take-10.action']])

    // The takes of the next game have the same names, and go into a session of their own.
    const addNextGame = () =>
      page.evaluate(() => document.querySelector('mocap-uploader')!.addFiles([new File(['next'], 'take-1.action')]))
    await page.evaluate(() => document.querySelector('mocap-uploader')!.setAttribute('session', 'that-of-both'))
    await addNextGame()
    await page.getByText('take-1.action: another file has the same name').waitFor()
    await page.evaluate(() => document.querySelector('mocap-uploader')!.removeAttribute('session'))
    await addNextGame()
    await page.getByRole('button', { name: 'Upload 1 file', exact: true }).waitFor()
  })

  test('ends its welcome when a drag has left it, also where what was under the drag is no longer there', async () => {
    const page = await openPage()
    await startTwo(page, 1000)
    const facts = page.locator('mocap-uploader [part~=summary-facts]')
    const isAt = async (sentBytes: number) => {
      await page.evaluate((sent) => globalThis.scripted.change(0, { state: 'uploading', sentBytes: sent }), sentBytes)
      await facts.getByText(`${String(sentBytes)} bytes of 2 kB`).waitFor()
    }
    await isAt(100)
    await page.evaluate(() => {
      const zone = document.querySelector('mocap-uploader')!.shadowRoot!.querySelector('.drop-zone')!
      new MutationObserver(() => (document.title = 'welcomed')).observe(zone, { attributeFilter: ['data-over'] })
    })
    const devTools = await page.context().newCDPSession(page)
    const data = { items: [], files: [pathOf('swing-01.mp4')], dragOperationsMask: 1 }
    const drag = (type: 'dragEnter' | 'dragOver' | 'dragCancel', x: number, y: number) =>
      devTools.send('Input.dispatchDragEvent', { type, x, y, data })
    const box = (await facts.boundingBox())!
    const [x, y] = [box.x + 30, box.y + box.height / 2]
    await drag('dragEnter', x, y)
    await drag('dragOver', x, y)
    await isAt(200)
    await drag('dragOver', x + 1, y)
    await drag('dragOver', x, 700)
    await drag('dragCancel', x, 700)

    expect(await page.title()).toBe('welcomed')
    await expect.poll(() => page.locator('mocap-uploader [data-over]').count()).toBe(0)
  })

  test.each([
    ['a folder takes long to be read', (page: Page) => dropOnto(page, [pathOf('game')])],
    ['what was picked does', (page: Page) => pickByHandles(page, '1.action', '2.action', '3.action')],
  ])('says to eyes and ears that it is at it while %s', async (_, bring) => {
    const page = await openPage()
    await page.evaluate(() => {
      const { prototype } = FileSystemFileHandle
      const { getFile } = prototype
      const isOver = new Promise((resolve) => document.addEventListener('go-on', resolve))
      prototype.getFile = async function (this: FileSystemFileHandle) {
        await isOver
        return getFile.call(this)
      }
    })
    await addElement(page, CAPTURE)
    await bring(page)

    const title = page.locator('mocap-uploader [part~=drop-title]')
    await title.getByText('Reading your files…').waitFor()
    await page.getByRole('status').getByText('Reading your files…').waitFor()
    await page.evaluate(() => document.dispatchEvent(new Event('go-on')))
    await page.getByRole('button', { name: 'Upload 3 files', exact: true }).waitFor()
    await page.getByRole('status').getByText('3 files added.').waitFor()
    expect(await title.textContent()).toBe('Add more files')
    expect(await page.getByRole('status').textContent()).toBe('3 files added.')
  })

  test('says that a folder has no files', async () => {
    const page = await openPage()
    await addElement(page, CAPTURE)
    await mkdir(pathOf('empty'), { recursive: true })
    await dropOnto(page, [pathOf('empty')])

    await page.getByRole('alert').getByText('No files found').waitFor()
  })

  test('says of what it refuses of a folder where it lies, and takes a hidden one that is dropped by itself', async () => {
    const page = await openPage()
    await addElement(page, VIDEO)
    for (const folder of ['.takes/left', '.takes/right']) {
      await mkdir(pathOf(folder), { recursive: true })
      await writeFile(pathOf(`${folder}/1.mp4`), '')
      await writeFile(pathOf(`${folder}/2.mp4`), folder)
    }
    await dropOnto(page, [pathOf('.takes')])

    await page.getByRole('button', { name: 'Upload 2 files', exact: true }).waitFor()
    expect(await page.getByRole('alert').getByRole('listitem').allTextContents()).toEqual([
      '.takes/left/1.mp4: the file is empty',
      '.takes/right/1.mp4: the file is empty',
    ])
  })

  test('walks a folder of which the browser gives no handle, nor says so', async () => {
    const page = await openPage()
    await page.evaluate(() => {
      const never = () => new Promise(() => undefined)
      Object.defineProperty(DataTransferItem.prototype, 'getAsFileSystemHandle', { value: never })
    })
    await addElement(page, CAPTURE)
    await dropOnto(page, [pathOf('game')])

    await page.getByRole('button', { name: 'Upload 3 files', exact: true }).waitFor()
  })

  test.each(['refuses', 'never gives'])(
    'takes no folder for a clip that has a name like one, where the browser %s its handle',
    async (how) => {
      const page = await openPage()
      await waitForAnswers(page)
      await page.evaluate((isRefused) => {
        const refuse = () => Promise.reject(new DOMException('Not for pages.', 'NotAllowedError'))
        const value = isRefused ? refuse : () => new Promise(() => undefined)
        Object.defineProperty(DataTransferItem.prototype, 'getAsFileSystemHandle', { value })
      }, how === 'refuses')
      await addElement(page, VIDEO)
      await mkdir(pathOf('night.mp4'), { recursive: true })
      await dropOnto(page, [pathOf('night.mp4'), pathOf('swing-01.mp4')])

      await page.getByRole('button', { name: 'Upload 1 file', exact: true }).waitFor()
      expect(await names(page)).toEqual(['swing-01.mp4'])
    },
  )

  test('asks the browser for the endings that it takes, and in its plain way for what that does not understand', async () => {
    const page = await openPage()
    await page.evaluate(() => {
      const pick = (window as unknown as { showOpenFilePicker: (options: unknown) => Promise<never> })
        .showOpenFilePicker
      const asked: unknown[] = []
      // Without a click of the person's the browser refuses what it understands for that reason, and the rest as it is.
      const showOpenFilePicker = async (options: unknown): Promise<unknown> => {
        asked.push(options, await pick.call(window, options).catch((error: unknown) => (error as Error).name))
        throw new DOMException('', 'AbortError')
      }
      Object.assign(window, { showOpenFilePicker, asked })
    })
    const ask = async (attributes: Readonly<Record<string, string>>): Promise<unknown> => {
      await addElement(page, attributes)
      await page.evaluate(() => document.querySelector('mocap-uploader')!.shadowRoot!.querySelector('button')!.click())
      await page.waitForFunction(() => (window as unknown as { asked: unknown[] }).asked.length > 0)
      return page.evaluate(() => (window as unknown as { asked: unknown[] }).asked.splice(0))
    }

    const understood = expect.stringMatching(/^(?:AbortError|NotAllowedError|SecurityError)$/) as unknown
    const video = [{ accept: { '*/*': ['.mp4', '.mov'] } }]
    expect(await ask(VIDEO)).toEqual([{ multiple: true, types: video }, understood])
    expect(await ask(CAPTURE)).toEqual([{ multiple: true, types: [] }, understood])
    expect(await ask({ ...CAPTURE, accept: '.c3d, video/*' })).toContain('TypeError')
  })

  /** Has the person pick files of these names, of which `gone.mp4` is gone by then. */
  async function pickByHandles(page: Page, ...picks: string[]): Promise<void> {
    await page.evaluate((wanted) => {
      const showOpenFilePicker = async (): Promise<FileSystemFileHandle[]> => {
        const folder = await navigator.storage.getDirectory()
        const picked = wanted.map(async (name) => {
          const handle = await folder.getFileHandle(name, { create: true })
          const writable = await handle.createWritable()
          await writable.write(name)
          await writable.close()
          return handle
        })
        const handles = await Promise.all(picked)
        if (wanted.includes('gone.mp4')) await folder.removeEntry('gone.mp4')
        return handles
      }
      Object.assign(window, { showOpenFilePicker })
    }, picks)
    await page.getByRole('button', { name: 'Choose files' }).click()
  }

  test('takes what can be read of what was picked, and loses none of it for one file that is gone', async () => {
    const page = await openPage()
    await addElement(page, VIDEO)

    await pickByHandles(page, 'swing-01.mp4', 'gone.mp4', 'swing-02.mp4')

    await page.getByRole('button', { name: 'Upload 2 files', exact: true }).waitFor()
    expect(await names(page)).toEqual(['swing-01.mp4', 'swing-02.mp4'])
  })

  test('says so where nothing of what was picked can be read', async () => {
    const page = await openPage()
    await addElement(page, VIDEO)

    await pickByHandles(page, 'gone.mp4')

    const refused = page.getByRole('alert').getByRole('listitem')
    await refused.getByText('gone.mp4: it cannot be read; see that you can open it, then add it again').waitFor()
  })

  test('goes on after a reload by one click where the browser remembers the files', async () => {
    const page = await openPage()
    await page.route(isLatePart, () => undefined)
    await addElement(page, VIDEO)
    // A handle of the origin's own files stands for one that a person picked.
    await page.evaluate((bytes) => {
      const showOpenFilePicker = async (): Promise<FileSystemFileHandle[]> => {
        const handle = await (await navigator.storage.getDirectory()).getFileHandle('swing-01.mp4', { create: true })
        const writable = await handle.createWritable()
        await writable.write(new Uint8Array(bytes))
        await writable.close()
        return [handle]
      }
      Object.assign(window, { showOpenFilePicker })
    }, 6 * MIB)
    await page.getByRole('button', { name: 'Choose files' }).click()
    await page.getByRole('button', { name: 'Upload 1 file', exact: true }).click()
    await page.waitForFunction((of) => document.querySelector('mocap-uploader')!.totals.confirmedBytes === of, 5 * MIB)
    await page.reload()
    await page.unroute(isLatePart)
    const puts: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'PUT') puts.push(new URL(request.url()).searchParams.get('partNumber') ?? '')
    })
    await addElement(page, VIDEO)

    await page.getByText('One click and it goes on.').waitFor()
    await page.getByRole('button', { name: 'Continue', exact: true }).click()

    await heading(page).getByText('Your file is uploaded and confirmed').waitFor()
    expect(puts).toEqual(['2'])
  })

  test('offers nothing that another tab still uploads, and offers it when that tab is gone', async () => {
    const page = await openPage()
    await page.route(isLatePart, () => undefined)
    await addElement(page, VIDEO)
    await dropOnto(page, [pathOf('swing-01.mp4')])
    await page.getByRole('button', { name: 'Upload 1 file', exact: true }).click()
    await page.waitForFunction((of) => document.querySelector('mocap-uploader')!.totals.confirmedBytes === of, 5 * MIB)
    const tab = await page.context().newPage()
    await tab.goto(page.url())
    // How often it asked who is at what: it has looked, and watches.
    await tab.evaluate(() => {
      const { query } = LockManager.prototype
      Object.assign(window, { queries: 0 })
      LockManager.prototype.query = function () {
        Object.assign(window, { queries: (window as unknown as { queries: number }).queries + 1 })
        return query.call(this)
      }
    })
    await addElement(tab, VIDEO)
    await tab.waitForFunction(() => (window as unknown as { queries: number }).queries > 2)
    const offer = tab.getByRole('group', { name: 'An earlier upload is not finished' })
    expect(await offer.count()).toBe(0)
    await dropOnto(tab, [pathOf('swing-01.mp4'), pathOf('notes.pdf')])
    const notice = tab.getByRole('alert')
    await notice.getByText('swing-01.mp4: it is being uploaded already').waitFor()

    await page.close()
    await offer.waitFor()
    await expect.poll(() => notice.getByRole('listitem').allTextContents()).toEqual([expect.stringMatching(/^notes/)])
    await notice.getByText('1 item was not added').waitFor()
  })

  test('shows whole names and whole bytes on a phone, and nothing is wider than it', async () => {
    const page = await openPage({ viewport: { width: 360, height: 740 } })
    await addElement(page, { ...VIDEO, lang: 'en' })
    const long = `2026-11-20_player-17_${'calibrated-again_'.repeat(5)}left.mp4`
    await page.evaluate((name) => {
      const files = [new File(['x'.repeat(100)], name), new File(['x'], 'x'.repeat(200) + '.mp4')]
      document.querySelector('mocap-uploader')!.addFiles(files)
    }, long)
    const sizes = page.locator('mocap-uploader [part~=file-size]')
    await expect.poll(() => sizes.allTextContents()).toEqual(['100 bytes', '1 byte'])
    const seen = await page.evaluate(() => {
      const root = document.querySelector('mocap-uploader')!.shadowRoot!
      const isCut = (of: Element): boolean => of.scrollWidth > of.clientWidth || of.scrollHeight > of.clientHeight
      const cut = [...root.querySelectorAll('.file-name')].filter(isCut)
      return { cut: cut.length, overhang: document.documentElement.scrollWidth - window.innerWidth }
    })
    expect(seen).toEqual({ cut: 0, overhang: 0 })
  })

  test('has a width where its place has none, in a dialog or beside other things, and none wider than a phone', async () => {
    const page = await openPage({ viewport: { width: 360, height: 740 } })
    await addElement(page, VIDEO)
    const seen = await page.evaluate(() => {
      const element = document.querySelector('mocap-uploader')!
      const widths = ['flex', 'grid', 'inline-block', 'dialog'].map((display) => {
        const place = document.body.appendChild(document.createElement(display === 'dialog' ? display : 'div'))
        if (place instanceof HTMLDialogElement) place.showModal()
        else place.style.display = display
        place.append(element)
        return Math.round(element.getBoundingClientRect().width)
      })
      return { least: Math.min(...widths), overhang: document.documentElement.scrollWidth - window.innerWidth }
    })
    expect(seen.least).toBeGreaterThanOrEqual(260)
    expect(seen.overhang).toBe(0)
  })

  test('reads its words in their own order in a page of another direction, and amounts apart from them', async () => {
    const page = await openPage()
    await page.evaluate(() => Object.assign(document.documentElement, { lang: 'ar', dir: 'rtl' }))
    await addElement(page, VIDEO)
    await page.evaluate(() => {
      document.querySelector('mocap-uploader')!.addFiles([new File(['x'.repeat(2000)], 'swing-01.mp4')])
    })
    const directionOf = (part: string) =>
      page.locator(`mocap-uploader [part~=${part}]`).evaluate((of) => getComputedStyle(of).direction)
    await heading(page).getByText('1 file ready to upload').waitFor()

    expect(await directionOf('summary-title')).toBe('ltr')
    expect(await page.locator('mocap-uploader [part~=file-size]').textContent()).toMatch(/^\u2068.*2.*\u2069$/)

    await page.evaluate(() => {
      document.querySelector('mocap-uploader')!.texts = { addMore: 'أضف المزيد من الملفات' }
    })
    await page.getByText('أضف المزيد من الملفات').waitFor()
    expect(await directionOf('summary-title')).toBe('rtl')
    expect(await directionOf('file-name')).toBe('ltr')
  })

  test('writes amounts in the language of the page, also within a shadow root of the page', async () => {
    const page = await openPage()
    await addElement(page, VIDEO)
    await page.evaluate(() => {
      document.documentElement.lang = 'de'
      const element = document.querySelector('mocap-uploader')!
      const host = document.body.appendChild(document.createElement('div'))
      host.attachShadow({ mode: 'open' }).append(element)
      element.addFiles([new File(['x'.repeat(1500)], 'swing-01.mp4')])
    })

    const sizes = page.locator('mocap-uploader [part~=file-size]')
    await expect.poll(() => sizes.allTextContents()).toEqual(['1,5 kB'])
  })

  test('keeps bar, borders and focus visible in forced colours', async () => {
    const page = await openPage({ forcedColors: 'active' })
    await page.route(isLatePart, () => undefined)
    await addElement(page, VIDEO)
    await page.setInputFiles('mocap-uploader input >> nth=0', pathOf('swing-01.mp4'))
    await page.getByRole('button', { name: 'Upload 1 file', exact: true }).click()
    const fill = page.locator('mocap-uploader [part~=total-bar] .fill')
    // Drawn, and not only known. A row may be drawn a frame after the whole.
    await expect.poll(async () => (await fill.boundingBox())?.width).toBeGreaterThan(1)
    await page.getByRole('progressbar', { name: 'swing-01.mp4' }).waitFor()

    const seen = await page.evaluate(() => {
      const root = document.querySelector('mocap-uploader')!.shadowRoot!
      const colour = (name: string): string => {
        const probe = document.body.appendChild(document.createElement('i'))
        probe.style.color = name
        const { color } = getComputedStyle(probe)
        probe.remove()
        return color
      }
      const fill = root.querySelector('.fill')!
      const button = root.querySelector<HTMLElement>('button:not([hidden])')!
      button.focus({ focusVisible: true })
      return {
        isBarHighlighted: getComputedStyle(fill).backgroundColor === colour('Highlight'),
        rowBarHeight: root.querySelector('.file-bar .fill')!.getBoundingClientRect().height,
        border: getComputedStyle(root.querySelector('.drop-zone')!).borderTopStyle,
        outline: getComputedStyle(button).outlineStyle,
      }
    })
    expect(seen).toMatchObject({ isBarHighlighted: true })
    expect(seen.rowBarHeight).toBeGreaterThanOrEqual(3)
    expect([seen.border, seen.outline]).not.toContain('none')
    expect(await violations(page, 'mocap-uploader')).toEqual([])
  })
})
