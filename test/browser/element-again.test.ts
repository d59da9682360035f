// Uploads that follow each other in one list: a clip that is saved anew and dropped again, and one that is cancelled after
// another was delivered.

import { appendFile, rename, utimes, writeFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { pattern } from '../../src/testing/transport/requests.ts'
import { chromiumPath } from './rig/chromium.ts'
import { dropOnto, heading, isLatePart, useElementPages } from './rig/element-page.ts'
import { waitForAnswers } from './rig/patient-page.ts'

const MIB = 1024 * 1024
const VIDEO = { 'movement-type': '1', player: 'p-17', date: '2026-11-20', 'session-type': '2' }

describe.skipIf(chromiumPath === undefined)('the element in Chromium', () => {
  const names = [
    'changing-01.mp4',
    'changing-02.mp4',
    'changing-03.mp4',
    'cam1/swing-01.mp4',
    'cam2/swing-01.mp4',
    'card/clip-01.mp4',
  ]
  const { openPage, addElement, pathOf } = useElementPages({
    ...Object.fromEntries(names.map((name, index) => [name, pattern(500 + index)])),
    'large.mp4': pattern(6 * MIB),
    'growing.mp4': pattern(6 * MIB),
    'growing-2.mp4': pattern(6 * MIB),
  })

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  /** Name and state of each row. */
  const rows = (page: Page) =>
    page
      .locator('mocap-uploader li')
      .evaluateAll((all) => all.map((row) => `${row.querySelector('bdi')!.textContent} ${row.dataset['state']}`))
  const drop = (page: Page, ...of: string[]) => dropOnto(page, of.map(pathOf))
  const errorCount = (page: Page) => page.evaluate(() => globalThis.told.filter(({ name }) => name === 'error').length)

  async function open(): Promise<Page> {
    const page = await openPage()
    // Without a handle a clip is not known to be the one that was saved anew.
    await waitForAnswers(page)
    await addElement(page, VIDEO)
    return page
  }

  /** Uploads a clip, of which a part is stored and the late one waits, and lets it grow meanwhile. */
  async function growOnItsWay(page: Page, name: string): Promise<void> {
    await page.route(isLatePart, () => undefined)
    await drop(page, name)
    await button(page, 'Upload 1 file').click()
    await page.waitForFunction((of) => document.querySelector('mocap-uploader')!.totals.confirmedBytes >= of, 5 * MIB)
    await appendFile(pathOf(name), 'more')
  }

  test('gives a clip that changed its row again when it is dropped again, and counts it once', async () => {
    const page = await open()
    await drop(page, 'changing-01.mp4', 'cam1/swing-01.mp4')
    await button(page, 'Upload 2 files').waitFor()
    await appendFile(pathOf('changing-01.mp4'), 'more')
    await button(page, 'Upload 2 files').click()
    await heading(page).getByText('1 file not finished').waitFor()

    await drop(page, 'changing-01.mp4')
    await expect.poll(() => rows(page)).toEqual(['changing-01.mp4 ready', 'swing-01.mp4 confirmed'])
    await button(page, 'Upload 1 file').click()

    await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()
  })

  test('gives a clip that changed before its turn its row again, and uploads it once', async () => {
    const page = await open()
    await drop(page, 'changing-02.mp4')
    await button(page, 'Upload 1 file').waitFor()
    await appendFile(pathOf('changing-02.mp4'), 'more')
    await drop(page, 'changing-02.mp4')
    await expect.poll(() => page.locator('mocap-uploader [part~=file-size]').allTextContents()).toEqual(['505 bytes'])
    await button(page, 'Upload 1 file').click()

    await heading(page).getByText('Your file is uploaded and confirmed').waitFor()
  })

  test('shows a clip that changed on its way until it has failed, and gives its row to the one that was dropped meanwhile', async () => {
    const page = await open()
    await growOnItsWay(page, 'growing.mp4')
    await drop(page, 'growing.mp4')
    await expect.poll(() => rows(page)).toEqual(['growing.mp4 uploading', 'growing.mp4 ready'])

    await page.unroute(isLatePart)
    await expect.poll(() => rows(page)).toEqual(['growing.mp4 ready'])
    await button(page, 'Upload 1 file').click()

    await heading(page).getByText('Your file is uploaded and confirmed').waitFor()
  })

  test('gives a clip of another folder a row of its own, whatever became of the first of its name', async () => {
    const page = await open()
    await drop(page, 'changing-03.mp4')
    await drop(page, 'cam1/swing-01.mp4')
    await drop(page, 'cam2/swing-01.mp4')

    await button(page, 'Upload 3 files').waitFor()
  })

  test('gives the clip of another camera a row of its own, though its card lies where the other one was', async () => {
    const page = await open()
    await drop(page, 'card/clip-01.mp4')
    await button(page, 'Upload 1 file').waitFor()
    // The cards have one name, and the clips as well.
    const place = pathOf('card/clip-01.mp4')
    await writeFile(`${place}.other`, pattern(700))
    const recordedAt = Date.now() / 1000 - 3600
    await utimes(`${place}.other`, recordedAt, recordedAt)
    await rename(`${place}.other`, place)
    await drop(page, 'card/clip-01.mp4')

    await button(page, 'Upload 2 files').click()
    // What is gone is asked for, and not forgotten.
    await button(page, 'Choose again: clip-01.mp4').waitFor()
    await heading(page).getByText('1 file not finished').waitFor()
    await expect.poll(() => rows(page)).toEqual(['clip-01.mp4 failed', 'clip-01.mp4 confirmed'])
  })

  test('offers after a reload what changed on its way, when a part of it is stored', async () => {
    const page = await open()
    await growOnItsWay(page, 'growing-2.mp4')
    await page.unroute(isLatePart)
    await button(page, 'Choose again: growing-2.mp4').waitFor()

    await page.reload()
    await addElement(page, VIDEO)

    await page.getByText('Choose the missing file again to finish.').waitFor()
  })

  test('says of an upload that is cancelled that it was, also where a newer one was confirmed before', async () => {
    const page = await open()
    await page.route(isLatePart, () => undefined)
    await drop(page, 'large.mp4')
    await button(page, 'Upload 1 file').click()
    await page.waitForFunction((of) => document.querySelector('mocap-uploader')!.totals.confirmedBytes >= of, 5 * MIB)
    await drop(page, 'cam1/swing-01.mp4')
    await button(page, 'Upload 1 file').click()
    await heading(page).getByText('1 of 2 files confirmed').waitFor()

    await button(page, 'Cancel').click()
    await button(page, 'Give everything up').click()

    await expect.poll(() => rows(page)).toEqual(['large.mp4 cancelled', 'swing-01.mp4 confirmed'])
    expect(await heading(page).textContent()).toBe('The upload was cancelled')
    expect(await page.locator('mocap-uploader [part~=summary]').getAttribute('data-outcome')).toBe('')
  })

  test('lets go of what runs when the signal of its page fires, cancels nothing, and goes on by one click', async () => {
    const page = await open()
    await page.route(isLatePart, () => undefined)
    await page.evaluate(() => {
      const leaving = new AbortController()
      Object.assign(window, { leave: () => leaving.abort() })
      document.querySelector('mocap-uploader')!.input = { signal: leaving.signal }
    })
    const calls: string[] = []
    page.on('request', (request) => calls.push(request.method()))
    await drop(page, 'large.mp4')
    await button(page, 'Upload 1 file').click()
    await page.waitForFunction((of) => document.querySelector('mocap-uploader')!.totals.confirmedBytes >= of, 5 * MIB)

    await page.evaluate(() => (window as unknown as { leave: () => void }).leave())
    await heading(page).getByText('1 file not finished').waitFor()
    await page.getByRole('alert').getByText('It did not work. Try again in a few minutes.').waitFor()
    expect(calls).not.toContain('DELETE')
    // What is taken up again listens as well. The heading says the same before it has begun.
    expect(await errorCount(page)).toBe(1)
    await button(page, 'Try again').click()
    await expect.poll(() => errorCount(page)).toBe(2)
    await heading(page).getByText('1 file not finished').waitFor()

    await page.unroute(isLatePart)
    await page.evaluate(() => (document.querySelector('mocap-uploader')!.input = {}))
    const sent = calls.filter((method) => method === 'PUT').length
    await button(page, 'Try again').click()
    await heading(page).getByText('Your file is uploaded and confirmed').waitFor()
    expect(calls.filter((method) => method === 'PUT').length - sent).toBe(1)
  })

  test('goes on with the others where one that the browser had found by itself has changed since, and asks for that one', async () => {
    const page = await openPage()
    const isPart = (url: URL): boolean => url.searchParams.has('partNumber')
    /** Files of the origin itself stand for some that a person picked. */
    const write = (...clips: string[]) =>
      page.evaluate(async (all) => {
        const folder = await navigator.storage.getDirectory()
        const handles = all.map(async (name) => {
          const handle = await folder.getFileHandle(name, { create: true })
          const writable = await handle.createWritable()
          await writable.write(new Uint8Array(100))
          await writable.close()
          return handle
        })
        const picked = await Promise.all(handles)
        Object.assign(window, { showOpenFilePicker: () => Promise.resolve(picked) })
      }, clips)
    await addElement(page, VIDEO)
    await write('own-01.mp4', 'own-02.mp4')
    await page.route(isPart, () => undefined)
    const begun = page.waitForRequest((request) => request.method() === 'PUT')
    await button(page, 'Choose files').click()
    await button(page, 'Upload 2 files').click()
    await begun
    await page.reload()
    await page.unroute(isPart)
    await page.route(isPart, (route) => route.fulfill({ status: 400, headers: { 'access-control-allow-origin': '*' } }))
    await addElement(page, VIDEO)
    await button(page, 'Continue').click()
    await heading(page).getByText('2 files not finished').waitFor()
    await page.unroute(isPart)

    await write('own-01.mp4')
    await button(page, 'Try 2 files again').click()

    await expect.poll(() => rows(page)).toEqual(['own-01.mp4 failed', 'own-02.mp4 confirmed'])
    await button(page, 'Choose again: own-01.mp4').waitFor()
  })
})
