// An upload that an earlier visit left, as a coach comes back to it: the same clips are dropped once more, another tab has
// gone on meanwhile; and what a pause says is kept.

import { rm, utimes, writeFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { pattern } from '../../src/testing/transport/requests.ts'
import { chromiumPath } from './rig/chromium.ts'
import { hasLooked, heading, isLatePart, useElementPages } from './rig/element-page.ts'

const MIB = 1024 * 1024
const VIDEO = { 'movement-type': '1', player: 'p-17', date: '2026-11-20', 'session-type': '2' }

describe.skipIf(chromiumPath === undefined)('an unfinished upload in Chromium', () => {
  const clips = { 'swing-01.mp4': pattern(1000), 'swing-02.mp4': pattern(6 * MIB), 'gone.mp4': pattern(1000) }
  const night = { 'night/left/clip.mp4': pattern(1000), 'night/right/clip.mp4': pattern(2000) }
  const pages = useElementPages({ ...clips, ...night, 'notes.pdf': pattern(100) })

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const offer = (page: Page) => page.getByRole('group', { name: 'An earlier upload is not finished' })
  const pick = (page: Page, ...names: string[]) =>
    page.setInputFiles('mocap-uploader input >> nth=0', names.map(pages.pathOf))
  const statuses = (page: Page) => page.locator('mocap-uploader [part~=file-status]').allTextContents()

  /** Leaves the upload of two clips when the first is confirmed, and a part of the second; `puts` are the parts sent since. */
  async function comeBack(page: Page): Promise<{ readonly puts: readonly string[] }> {
    await page.route(isLatePart, () => undefined)
    await pages.addElement(page, VIDEO)
    await pick(page, 'swing-01.mp4', 'swing-02.mp4')
    await button(page, 'Upload 2 files').click()
    const bytes = 1000 + 5 * MIB
    await page.waitForFunction((of) => document.querySelector('mocap-uploader')!.totals.confirmedBytes === of, bytes)
    await page.reload()
    await page.unroute(isLatePart)
    const puts: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'PUT') puts.push(new URL(request.url()).searchParams.get('partNumber') ?? '')
    })
    await pages.addElement(page, VIDEO)
    await offer(page).waitFor()
    return { puts }
  }

  test('goes on when all its files are chosen again, and delivers none twice', async () => {
    const page = await pages.openPage()
    const { puts } = await comeBack(page)
    await pick(page, 'swing-01.mp4', 'swing-02.mp4')

    await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()
    expect(puts).toEqual(['2'])
    await expect.poll(() => statuses(page)).toEqual(['Confirmed', 'Confirmed'])

    await pick(page, 'swing-01.mp4', 'swing-02.mp4')
    await page.getByRole('alert').getByText('2 items were not added').waitFor()
  })

  /** Reloads, and has a page give these files to an element whose first look lasts until `go-on`; `isStarted`: and start them. */
  async function giveEarly(page: Page, names: string[], attributes: Record<string, string>, isStarted = false) {
    await page.reload()
    await page.setInputFiles('#files', names.map(pages.pathOf))
    await page.evaluate((isToStart) => {
      const { files } = document.querySelector<HTMLInputElement>('#files')!
      const { query } = LockManager.prototype
      const isOver = new Promise((resolve) => document.addEventListener('go-on', resolve))
      LockManager.prototype.query = async function () {
        await isOver
        return query.call(this)
      }
      document.addEventListener('give', () => {
        const element = document.querySelector('mocap-uploader')!
        element.addFiles(files!)
        if (isToStart) void element.start()
      })
    }, isStarted)
    await pages.addElement(page, { ...VIDEO, ...attributes })
    await page.evaluate(() => document.dispatchEvent(new Event('give')))
    await button(page, `Upload ${names.length === 1 ? '1 file' : '2 files'}`).waitFor()
    await page.evaluate(() => document.dispatchEvent(new Event('go-on')))
  }

  test.each([
    ['', {}, false],
    [', and it starts by itself', { 'auto-start': '' }, false],
    [', and has it start', {}, true],
  ])(
    'takes its files also where a page gave them before the element had looked%s, and delivers none twice',
    async (_how, attributes, isStarted) => {
      const page = await pages.openPage()
      const { puts } = await comeBack(page)

      await giveEarly(page, ['swing-01.mp4', 'swing-02.mp4'], attributes, isStarted)

      await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()
      expect(puts).toEqual(['2'])
      await expect.poll(() => statuses(page)).toEqual(['Confirmed', 'Confirmed'])
    },
  )

  test('sends no file anew that is confirmed in it, also where a page gave it before the element had looked', async () => {
    const page = await pages.openPage()
    const { puts } = await comeBack(page)

    await giveEarly(page, ['swing-01.mp4'], { 'auto-start': '' })

    await page.getByRole('alert').getByText('swing-01.mp4: it was added already').waitFor()
    await expect.poll(() => statuses(page)).toEqual([])
    expect(puts).toEqual([])
  })

  test('is waited for by what is started for a while only, where the disk of one of its files does not answer', async () => {
    const page = await pages.openPage()
    await page.clock.install()
    await page.evaluate(() => {
      const { element } = elementRig.showScripted()
      Object.assign(globalThis.scripted.uplink, { sessions: () => new Promise(() => undefined) })
      element.addFiles([new File(['x'], 'swing-03.mp4')])
    })
    await button(page, 'Upload 1 file').click()
    // What is added meanwhile waits for a click of its own.
    await page.evaluate(() => document.querySelector('mocap-uploader')!.addFiles([new File(['x'], 'swing-04.mp4')]))

    await page.clock.runFor(5_000)

    await button(page, 'Pause').waitFor()
    await expect.poll(() => statuses(page)).toEqual(['Waiting', 'Ready'])
  })

  test('is still being looked for when a host starts and cancels, and nothing is uploaded', async () => {
    const page = await pages.openPage()

    const isCancelled = await page.evaluate(async () => {
      const { element } = elementRig.showScripted()
      element.addFiles([new File(['x'], 'swing-03.mp4')])
      const started = element.start()
      const answer = await element.cancel()
      await started
      return answer
    })

    expect(isCancelled).toBe(true)
    expect(await page.evaluate(() => document.querySelector('mocap-uploader')!.phase)).toBe('ready')
  })

  test.each(['at once', 'while it looks'])(
    'is still being looked for when a host starts and pauses %s, and nothing is sent',
    async (when) => {
      const page = await pages.openPage()

      const phases = await page.evaluate(async (pausedWhen) => {
        const { element } = elementRig.showScripted()
        element.addFiles([new File(['x'], 'swing-03.mp4')])
        const started = element.start()
        if (pausedWhen !== 'at once') await navigator.locks.query()
        element.pause()
        await started
        return element.phase
      }, when)

      expect(phases).toBe('paused')
    },
  )

  test.each(['hidden', 'out of the page'])(
    'is looked for in the journal of who has signed in while the element was %s, before anything is begun',
    async (where) => {
      const page = await pages.openPage()
      const resumed = await page.evaluate(async (place) => {
        const { element } = elementRig.showScripted()
        const clip = new File(['x'], 'swing-03.mp4', { lastModified: 7 })
        // Once it has looked.
        element.addFiles([new File(['x'], 'swing-01.mp4')])
        await element.start()
        const resumed: string[] = []
        const { uplink } = elementRig.scriptedUplink()
        const facts = { fileName: clip.name, bytes: clip.size, modifiedAtMs: clip.lastModified }
        const file = { ...facts, fileIndex: 0, name: clip.name, location: clip.name, how: 'pick' }
        Object.assign(uplink, {
          sessions: () =>
            Promise.resolve([{ key: 'earlier', flow: 'video', status: 'open', filesConfirmed: 0, filesTotal: 1 }]),
          sessionFiles: () => Promise.resolve([file]),
          uploadVideos: () => resumed.push('begun anew'),
          resume: (key: string) => (resumed.push(key), new Promise(() => undefined)),
        })
        if (place === 'hidden') Object.defineProperty(document, 'hidden', { value: true })
        else element.remove()

        element.uplink = uplink
        element.addFiles([clip])
        await element.start()
        return resumed
      }, where)

      expect(resumed).toEqual(['earlier'])
    },
  )

  /** Adds an element whose uploads do not end, and a second one with these attributes besides; gives the second, once both have looked. */
  async function addTwo(page: Page, attributes: Record<string, string> = {}): Promise<Locator> {
    await page.route(isLatePart, () => undefined)
    await pages.addElement(page, VIDEO)
    await page.evaluate((more) => {
      const first = document.querySelector('mocap-uploader')!
      const second = document.createElement('mocap-uploader')
      for (const name of first.getAttributeNames()) second.setAttribute(name, first.getAttribute(name)!)
      for (const [name, value] of Object.entries(more)) second.setAttribute(name, value)
      second.id = 'second'
      second.credentials = first.credentials
      document.body.append(second)
    }, attributes)
    await hasLooked(page)
    return page.locator('#second')
  }

  test('is not begun anew by another element that looked before, nor by a tab beside this one', async () => {
    const page = await pages.openPage()
    const second = await addTwo(page)
    await second.locator('input').first().setInputFiles(pages.pathOf('swing-02.mp4'))
    await second.getByRole('button', { name: 'Upload 1 file' }).waitFor()
    await pick(page, 'swing-01.mp4', 'swing-02.mp4')
    await button(page, 'Upload 2 files').click()
    await heading(page).first().getByText('1 of 2 files confirmed').waitFor()

    await second.getByRole('button', { name: 'Upload 1 file' }).click()

    await second.getByRole('alert').getByText('swing-02.mp4: it is being uploaded already').waitFor()
    const begun = await page.evaluate(() => globalThis.told.filter(({ name }) => name === 'start').length)
    expect(begun).toBe(1)

    // Nothing is left of the notice when that is over.
    await button(page, 'Cancel').click()
    await button(page, 'Give everything up').click()
    await expect.poll(() => second.getByRole('alert').textContent()).toBe('')
  })

  test('says of a file that only a start finds in another upload that it is, beside what was refused before', async () => {
    const page = await pages.openPage()
    const second = await addTwo(page, { 'auto-start': '' })
    await pick(page, 'swing-01.mp4', 'swing-02.mp4')
    await button(page, 'Upload 2 files').click()
    await heading(page).first().getByText('1 of 2 files confirmed').waitFor()

    const chosen = ['swing-02.mp4', 'notes.pdf'].map(pages.pathOf)
    await second.locator('input').first().setInputFiles(chosen)

    const refused = second.getByRole('alert').getByRole('listitem')
    await refused.getByText('swing-02.mp4: it is being uploaded already').waitFor()
    expect(await refused.allTextContents()).toEqual([
      'notes.pdf: not a kind of file that is taken here',
      'swing-02.mp4: it is being uploaded already',
    ])
  })

  test('is none where no file could be read: its session is given up at once, and the file can be chosen again', async () => {
    const page = await pages.openPage()
    await pages.addElement(page, VIDEO)
    // In whole milliseconds, to be set again.
    const changedAt = new Date(2026, 10, 20)
    await utimes(pages.pathOf('gone.mp4'), changedAt, changedAt)
    await pick(page, 'gone.mp4')
    // By then the browser has looked at it; a file that is gone before would be an empty one.
    await button(page, 'Upload 1 file').waitFor()
    await rm(pages.pathOf('gone.mp4'))
    const told = page.waitForRequest((request) => request.method() === 'DELETE')
    await button(page, 'Upload 1 file').click()

    await page.getByRole('button', { name: 'Choose again: gone.mp4' }).waitFor()
    expect((await (await told).response())?.ok()).toBe(true)

    // Also where nobody uses the row's button, and the file is as it was.
    await writeFile(pages.pathOf('gone.mp4'), clips['gone.mp4'])
    await utimes(pages.pathOf('gone.mp4'), changedAt, changedAt)
    await pick(page, 'gone.mp4')
    await expect.poll(() => statuses(page)).toEqual(['Ready'])
    await button(page, 'Upload 1 file').click()
    await heading(page).getByText('Your file is uploaded and confirmed').waitFor()
    expect(await page.evaluate(() => globalThis.told.filter(({ name }) => name === 'cancelled'))).toEqual([])
  })

  test('says of a file that is confirmed in it that it is, and goes on offering', async () => {
    const page = await pages.openPage()
    await comeBack(page)
    await pick(page, 'swing-01.mp4')

    await page.getByRole('alert').getByText('swing-01.mp4: it was added already').waitFor()
    // A row would be drawn a frame after the alert.
    await hasLooked(page)
    expect(await statuses(page)).toEqual([])
    await offer(page).getByText('Choose the missing file again to finish.').waitFor()
    await offer(page).getByText('\u2068swing-02.mp4\u2069').waitFor()
  })

  test('names files with their folders, before and after a reload, or nobody could tell the clip of one camera from the other', async () => {
    const page = await pages.openPage()
    await page.route('**/*', (route) => (route.request().method() === 'PUT' ? undefined : route.continue()))
    await pages.addElement(page, VIDEO)
    const choosing = page.waitForEvent('filechooser')
    await button(page, 'Choose a folder').click()
    await (await choosing).setFiles(pages.pathOf('night'))
    await button(page, 'Remove: night/left/clip.mp4').waitFor()
    const shown = await page.locator('mocap-uploader [part=file-name]').allTextContents()
    expect(shown).toEqual(['night/left/clip.mp4', 'night/right/clip.mp4'])
    const begun = page.waitForRequest((request) => request.method() === 'PUT')
    await button(page, 'Upload 2 files').click()
    await begun
    await page.unroute('**/*')
    await page.reload()
    await pages.addElement(page, VIDEO)

    await offer(page).getByText('\u2068night/left/clip.mp4\u2069, \u2068night/right/clip.mp4\u2069').waitFor()
  })

  test('keeps what is confirmed when the rest is discarded, says so first, and offers it no more', async () => {
    const page = await pages.openPage()
    await comeBack(page)
    const calls: string[] = []
    page.on('request', (request) => calls.push(request.method()))
    await button(page, 'Discard').click()
    await page
      .getByRole('dialog', { name: 'Give this upload up?' })
      .getByText('1 of 2 files confirmed', { exact: true })
      .waitFor()
    // What is confirmed cannot be given up here.
    expect(await button(page, 'Give everything up').count()).toBe(0)
    await button(page, 'Keep 1 file, give up the rest').click()
    await offer(page).waitFor({ state: 'detached' })
    await page.reload()
    await pages.addElement(page, VIDEO)
    await pick(page, 'swing-02.mp4')

    // As new.
    await button(page, 'Upload 1 file').waitFor()
    await hasLooked(page)
    expect(await offer(page).count()).toBe(0)
    expect(calls.filter((method) => method !== 'GET')).toEqual([])
  })

  test('is offered no more when another tab has given it up and somebody comes back to this one', async () => {
    const page = await pages.openPage()
    await comeBack(page)
    const tab = await page.context().newPage()
    await tab.goto(page.url())
    await pages.addElement(tab, VIDEO)
    await button(tab, 'Discard').click()
    await button(tab, 'Keep 1 file, give up the rest').click()
    await offer(tab).waitFor({ state: 'detached' })

    // The browser without a window never hides a page: this is what it says when a person comes back.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))

    await offer(page).waitFor({ state: 'detached' })
  })

  test('is offered to nobody whose journal is another, and no more when nobody is signed in', async () => {
    const page = await pages.openPage()
    await comeBack(page)
    const set = (name: 'uplink' | 'credentials', person?: string) =>
      page.evaluate(
        ([field, of]) => {
          const value = of === undefined ? undefined : elementRig.uplinkOf(of)
          Object.assign(document.querySelector('mocap-uploader')!, { [field]: value })
        },
        [name, person] as const,
      )

    await set('uplink', 'another coach')
    await offer(page).waitFor({ state: 'detached' })
    await set('uplink')
    await offer(page).waitFor()
    await set('credentials')
    await offer(page).waitFor({ state: 'detached' })
  })

  test('is discarded in the journal of the person who began it, also when somebody else has signed in since', async () => {
    const page = await pages.openPage()
    await pages.addElement(page, VIDEO)
    // The address of the page is that of no service, so the upload fails.
    await page.evaluate(async () => {
      const element = document.querySelector('mocap-uploader')!
      element.uplink = elementRig.uplinkOf('one coach')
      element.addFiles([new File(['x'], 'swing-01.mp4')])
      await element.start()
    })
    await button(page, 'Clear the list').waitFor()
    await page.evaluate(() => {
      document.querySelector('mocap-uploader')!.uplink = elementRig.uplinkOf('another coach')
    })
    await button(page, 'Clear the list').click()

    const statuses = () =>
      page.evaluate(async () => (await elementRig.uplinkOf('one coach').sessions()).map(({ status }) => status))
    await expect.poll(statuses).toEqual(['cancelled'])
  })

  test('is taken up by an Uplink that a host wrote itself, with what no journal can hold', async () => {
    const page = await pages.openPage()
    const given = await page.evaluateHandle(() => {
      const given: string[] = []
      const { uplink } = elementRig.scriptedUplink()
      class OwnUplink {
        readonly #open = [{ key: 'earlier', flow: 'video', status: 'open', filesConfirmed: 0, filesTotal: 1 }]
        sessions() {
          return Promise.resolve(this.#open)
        }
        sessionFiles() {
          return Promise.resolve([])
        }
        allowFiles() {
          return Promise.resolve([])
        }
        resume(key: string, options: object) {
          this.#open.pop()
          given.push(key, ...Object.keys(options))
          return Promise.resolve(uplink.uploadVideos({ files: [] } as never))
        }
      }
      const element = document.createElement('mocap-uploader')
      element.input = { signal: new AbortController().signal, isAlreadyConfirmed: () => false }
      element.uplink = new OwnUplink() as unknown as typeof uplink
      document.body.replaceChildren(element)
      return given
    })
    await button(page, 'Continue').click()

    await button(page, 'Pause').waitFor()
    expect(await given.jsonValue()).toEqual(['earlier', 'signal', 'isAlreadyConfirmed', 'files'])
  })

  describe('when it stops in the middle of a part', () => {
    const facts = (page: Page) => page.locator('mocap-uploader [part~=summary-facts] span').allTextContents()

    async function openHalfSent(): Promise<Page> {
      const page = await pages.openPage()
      await page.evaluate(async () => {
        const { element } = elementRig.showScripted()
        element.lang = 'en'
        element.addFiles([new File(['x'.repeat(100)], 'swing-01.mp4')])
        await element.start()
        globalThis.scripted.change(0, { state: 'uploading', sentBytes: 60 })
      })
      await expect.poll(() => facts(page)).toEqual(['60 bytes of 100 bytes'])
      return page
    }

    test('says why fewer bytes are kept than were shown, when it is paused', async () => {
      const page = await openHalfSent()
      await button(page, 'Pause').click()

      await expect.poll(() => facts(page)).toEqual(['0 bytes of 100 bytes', 'what was on its way is sent again'])
    })

    test('says so too when it waits', async () => {
      const page = await openHalfSent()
      await page.evaluate(() => globalThis.scripted.stop('waiting'))

      await expect.poll(() => facts(page)).toEqual(['0 bytes of 100 bytes', 'what was on its way is sent again'])
    })

    test('promises to send nothing again, when it is cancelled', async () => {
      const page = await openHalfSent()
      await button(page, 'Cancel').click()

      await expect.poll(() => facts(page)).toEqual(['0 bytes of 100 bytes'])
    })
  })
})
