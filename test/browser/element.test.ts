// The element as a coach meets it, in a real Chromium, under a strict Content-Security-Policy, against the service on
// another origin: drop, wrong file, pause, reload, cancel, no network, keyboard alone, and what a screen reader is told.

import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { API_KEY } from '../service/service-under-test.ts'
import { chromiumPath } from './rig/chromium.ts'
import { heading } from './rig/element-page.ts'
import { useElement } from './rig/element-under-test.ts'

const MIB = 1024 * 1024

describe.skipIf(chromiumPath === undefined)('the element in Chromium', () => {
  const { paths, button, pick, told, openPage, addElement, uploadHalf, listen } = useElement()

  /** Pauses an upload of two files when one is confirmed, with nothing left in flight. */
  async function pauseHalf(page: Page): Promise<void> {
    const letGo = await uploadHalf(page)
    await button(page, 'Pause').click()
    await heading(page).getByText('Paused. 1 of 2 files confirmed').waitFor()
    await letGo()
  }

  test('uploads what is dropped, in natural order, and tells the page', async () => {
    const page = await openPage()
    await addElement(page)
    const transfer = await page.evaluateHandle(() => {
      const data = new DataTransfer()
      for (const name of ['swing-10.mp4', 'swing-2.mp4']) data.items.add(new File([name.repeat(200)], name))
      return data
    })
    await page.dispatchEvent('mocap-uploader', 'drop', { dataTransfer: transfer })

    await button(page, 'Upload 2 files').click()

    await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()
    const facts = page.locator('mocap-uploader [part~=summary-facts] span')
    expect(await facts.allTextContents()).toEqual(['4.6 kB'])
    expect(await told(page, 'start')).toMatchObject([{ names: ['swing-2.mp4', 'swing-10.mp4'] }])
    expect(await told(page, 'done')).toMatchObject([{ status: 'confirmed' }])
  })

  test('refuses files of the wrong kind with the reason, before anything is sent', async () => {
    const page = await openPage()
    await addElement(page)
    const calls: string[] = []
    page.on('request', (request) => calls.push(request.url()))
    await pick(page, 'notes.pdf', 'swing-01.mp4')

    const notice = page.getByRole('alert')
    await notice.getByText('notes.pdf: not a kind of file that is taken here').waitFor()
    await expect
      .poll(() => page.locator('mocap-uploader [part~=file-name]').allTextContents())
      .toEqual(['swing-01.mp4'])
    expect(await told(page, 'refused')).toEqual([
      { files: [{ name: 'notes.pdf', location: 'notes.pdf', reason: 'kind' }] },
    ])
    expect(calls).toEqual([])

    await button(page, 'Dismiss').click()
    expect(await notice.textContent()).toBe('')
  })

  test('says what it refuses also where the rest starts by itself', async () => {
    const page = await openPage()
    await addElement(page, { 'auto-start': '' })
    await pick(page, 'swing-01.mp4', 'notes.pdf')

    await heading(page).getByText('Your file is uploaded and confirmed').waitFor()
    expect(await page.getByRole('alert').getByRole('listitem').allTextContents()).toEqual([
      'notes.pdf: not a kind of file that is taken here',
    ])
  })

  test('takes the same file again that was removed: its input is left empty, or the browser would tell of no choice', async () => {
    const page = await openPage()
    await addElement(page)
    for (const remove of [true, false]) {
      await pick(page, 'swing-01.mp4')
      await button(page, 'Upload 1 file').waitFor()
      expect(await page.locator('mocap-uploader input >> nth=0').inputValue()).toBe('')
      if (remove) await button(page, 'Remove: swing-01.mp4').click()
    }
  })

  test('refuses a file whose name no upload can carry, and takes the others', async () => {
    const page = await openPage()
    await addElement(page)
    await pick(page, 'back\\slash.mp4', 'swing-01.mp4')

    const why = 'its name has / or \\; rename it'
    await page.getByRole('alert').getByText(`back\\slash.mp4: ${why}`).waitFor()
    await button(page, 'Upload 1 file').click()
    await heading(page).getByText('Your file is uploaded and confirmed').waitFor()
  })

  test('names the kinds that it takes in words, however the page names them', async () => {
    const page = await openPage()
    await addElement(page, { accept: 'video/*, .mov, application/zip' })

    await page.getByText('VIDEO, MOV, or ZIP files').waitFor()
  })

  test('pauses with nothing in flight, and resumes', async () => {
    const page = await openPage()
    await addElement(page)
    await pauseHalf(page)
    await button(page, 'Resume').click()

    await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()
  })

  test('says of what is paused that it is, also while what was added since is uploaded, and goes on with all', async () => {
    const page = await openPage()
    await addElement(page)
    await pauseHalf(page)
    const isPut = (url: URL): boolean => url.searchParams.has('X-Amz-Signature')
    await page.route(isPut, () => undefined)

    const added = { name: 'swing-03.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(1000) }
    await page.setInputFiles('mocap-uploader input >> nth=0', added)
    await button(page, 'Upload 1 file').click()

    const statuses = page.locator('mocap-uploader [part~=file-status]')
    await expect.poll(() => statuses.allTextContents()).toEqual(['Confirmed', 'Paused', 'Waiting'])

    await button(page, 'Pause').click()
    await heading(page).getByText('Paused. 1 of 3 files confirmed').waitFor()
    await expect.poll(() => statuses.allTextContents()).toEqual(['Confirmed', 'Paused', 'Paused'])
    await page.unroute(isPut)
    await button(page, 'Resume').click()
    await heading(page).getByText('All 3 files are uploaded and confirmed').waitFor()
  })

  test('keeps the screen on while it uploads, and lets it go off during a pause and at the end', async () => {
    const page = await openPage()
    await page.evaluate(() => {
      const screen = { locks: 0 }
      const request = () => {
        screen.locks += 1
        return Promise.resolve({ release: () => Promise.resolve(void (screen.locks -= 1)) })
      }
      Object.defineProperty(navigator, 'wakeLock', { value: { request } })
      Object.assign(globalThis, { screenOn: screen })
    })
    const locks = () => page.evaluate(() => (globalThis as unknown as { screenOn: { locks: number } }).screenOn.locks)
    await addElement(page)
    const letGo = await uploadHalf(page)
    expect(await locks()).toBe(1)

    await button(page, 'Pause').click()
    await heading(page).getByText('Paused').waitFor()
    await expect.poll(locks).toBe(0)

    await letGo()
    await button(page, 'Resume').click()
    await expect.poll(locks).toBe(1)
    await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()
    await expect.poll(locks).toBe(0)
  })

  test('uploads on when it is taken out of the page in the middle, and tells the page of the end', async () => {
    const page = await openPage()
    await addElement(page)
    const letGo = await uploadHalf(page)
    const done = await page.evaluateHandle(() => {
      const element = document.querySelector('mocap-uploader')!
      element.remove()
      return {
        detail: new Promise<{ status: string }>((resolve) => {
          element.addEventListener('mocap-upload-done', ({ detail }) => resolve(detail))
        }),
      }
    })
    await letGo()

    expect(await done.evaluate(async ({ detail }) => (await detail).status)).toBe('confirmed')
  })

  test('offers what a reload interrupted, and finishes it with the files chosen again', async () => {
    const page = await openPage()
    await addElement(page)
    const letGo = await uploadHalf(page)
    // The small file, and the first part of the large one.
    const confirmed = 1000 + 5 * MIB
    await page.waitForFunction(
      (of) => document.querySelector('mocap-uploader')!.totals.confirmedBytes === of,
      confirmed,
    )
    await page.reload()
    await letGo()
    await addElement(page)
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'PUT') sent.push(new URL(request.url()).searchParams.get('partNumber') ?? '')
    })

    const offer = page.getByRole('group', { name: 'An earlier upload is not finished' })
    await offer.getByText(/^1 of 2 files confirmed, begun .+\. Choose the missing file again to finish\.$/).waitFor()
    const heard = await listen(page)
    const choosing = page.waitForEvent('filechooser')
    await button(page, 'Choose files').first().click()
    await (await choosing).setFiles(paths('swing-02.mp4'))

    await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()
    expect(await offer.count()).toBe(0)
    expect(sent).toEqual(['2'])
    await expect.poll(heard).toContain('Uploading 1 file.')
  })

  test('keeps the focus also while another window is in front, where nothing matches :focus', async () => {
    const page = await openPage()
    await addElement(page)
    await pick(page, 'swing-01.mp4', 'swing-02.mp4')
    await button(page, 'Remove: swing-01.mp4').focus()
    await button(page, 'Remove: swing-02.mp4').waitFor()
    const session = await page.context().newCDPSession(page)
    await session.send('Emulation.setFocusEmulationEnabled', { enabled: false })
    const other = await page.context().newPage()
    await other.bringToFront()
    await page.waitForFunction(() => !document.hasFocus())

    const next = await page.evaluate(() => {
      const root = document.querySelector('mocap-uploader')!.shadowRoot!
      ;(root.activeElement as HTMLElement).click()
      return root.activeElement?.getAttribute('aria-label')
    })

    expect(next).toBe('Remove: swing-02.mp4')
  })

  test('speaks the language of the page, in words that were replaced and numbers as they are written there', async () => {
    const page = await openPage()
    await addElement(page, { lang: 'de' })
    await page.evaluate(() => {
      document.querySelector('mocap-uploader')!.texts = {
        dropHere: 'Dateien hier ablegen',
        start: ({ value, text }) => (value === 1 ? 'Eine Datei hochladen' : `${text} Dateien hochladen`),
        refusals: { kind: 'wird hier nicht angenommen' },
      }
    })
    await page.getByText('Dateien hier ablegen').waitFor()
    await pick(page, 'notes.pdf', 'swing-01.mp4', 'swing-02.mp4')

    await page.getByRole('alert').getByText('notes.pdf: wird hier nicht angenommen').waitFor()
    await button(page, '2 Dateien hochladen').waitFor()
    const sizes = page.locator('mocap-uploader [part~=file-size]')
    await expect.poll(() => sizes.allTextContents()).toEqual(['1 kB', '6,3 MB'])

    // Somebody changes the language of the page: what is still to be read is said anew.
    await page.evaluate(() => {
      document.querySelector('mocap-uploader')!.texts = { refusals: { kind: 'pas accepté ici' } }
    })
    await page.getByRole('alert').getByText('notes.pdf: pas accepté ici').waitFor()
    await page.getByRole('alert').getByText('1 item was not added').waitFor()
  })

  test('leaves a name its place on a phone, however long the words of a button are', async () => {
    const page = await openPage()
    await page.setViewportSize({ width: 360, height: 700 })
    await addElement(page, { lang: 'de' })
    await page.evaluate(() => {
      document.querySelector('mocap-uploader')!.texts = { remove: 'Aus der Liste der Dateien entfernen' }
    })
    await pick(page, 'swing-01.mp4')

    const name = page.locator('mocap-uploader [part~=file-name]')
    await expect.poll(async () => (await name.boundingBox())?.height).toBeLessThan(30)
  })

  test('says what the page lacks before any call, and takes no credential from markup', async () => {
    const page = await openPage()
    await addElement(page, { player: '' })
    await pick(page, 'swing-01.mp4')
    const calls: string[] = []
    page.on('request', (request) => calls.push(request.url()))
    await button(page, 'Upload 1 file').click()

    await page.getByRole('alert').getByText('playerId').waitFor()
    expect(await told(page, 'error')).toMatchObject([{ error: { code: 'ERR_UPLOAD_INVALID_ARGUMENT' } }])
    expect(calls).toEqual([])
    expect(await page.evaluate(() => document.body.innerHTML)).not.toContain(API_KEY)
  })
})
