// The element as a coach meets it, in a real Chromium, under a strict Content-Security-Policy, against the service on
// another origin: drop, wrong file, pause, reload, cancel, no network, keyboard alone, and what a screen reader is told.

import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { pattern } from '../../src/testing/transport/requests.ts'
import { API_KEY } from '../service/service-under-test.ts'
import { violations } from './rig/accessibility.ts'
import { chromiumPath } from './rig/chromium.ts'
import { hasLooked, heading, isLatePart, startTwo, useElementPages } from './rig/element-page.ts'

/** Nothing inline, nothing evaluated, no style but constructed ones, no markup from strings. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'none'; img-src data:; connect-src *; require-trusted-types-for 'script'"
const MIB = 1024 * 1024

describe.skipIf(chromiumPath === undefined)('the element in Chromium', () => {
  const clips = { 'swing-01.mp4': pattern(1000), 'swing-02.mp4': pattern(6 * MIB), 'back\\slash.mp4': pattern(100) }
  const files = { ...clips, 'notes.pdf': pattern(100) }
  const pages = useElementPages(files, { 'content-security-policy': POLICY })

  const paths = (...names: string[]): string[] => names.map(pages.pathOf)
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const pick = (page: Page, ...names: string[]) => page.setInputFiles('mocap-uploader input >> nth=0', paths(...names))
  const told = (page: Page, name: string) =>
    page.evaluate((of) => globalThis.told.filter((each) => each.name === of).map((each) => each.detail), name)

  async function openPage(colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
    const page = await pages.openPage({ colorScheme })
    // The browser's own picker cannot be driven; the one of <input> can.
    await page.addInitScript(() => Object.defineProperty(window, 'showOpenFilePicker', { value: undefined }))
    await page.reload()
    return page
  }
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
    expect(await told(page, 'refused')).toEqual([{ files: [{ name: 'notes.pdf', reason: 'kind' }] }])
    expect(calls).toEqual([])

    await button(page, 'Dismiss').click()
    expect(await notice.textContent()).toBe('')
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
    const letGo = await uploadHalf(page)

    await button(page, 'Pause').click()
    await heading(page).getByText('Paused. 1 of 2 files confirmed').waitFor()
    await letGo()
    await button(page, 'Resume').click()

    await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()
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

  test('asks before it cancels what is confirmed in part, and takes Escape for no', async () => {
    const page = await openPage()
    await addElement(page)
    await uploadHalf(page)

    await button(page, 'Cancel').click()
    const question = page.getByRole('dialog', { name: 'Give this upload up?' })
    await question.getByText('1 of 2 files confirmed').waitFor()
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'hidden' })
    expect(await told(page, 'cancelled')).toEqual([])

    await button(page, 'Cancel').click()
    await button(page, 'Give everything up').click()
    await heading(page).getByText('The upload was cancelled').waitFor()
    expect(await told(page, 'cancelled')).toMatchObject([{ status: 'cancelled', isServiceTold: true }])

    // The session is given up whole; nothing of it may still look delivered, or on its way.
    await expect
      .poll(() => page.locator('mocap-uploader [part~=file-status]').allTextContents())
      .toEqual(['Cancelled', 'Cancelled'])
    expect(await page.locator('mocap-uploader [part~=summary-facts]').textContent()).toBe('')
    await pick(page, 'swing-01.mp4')
    await button(page, 'Upload 1 file').waitFor()
  })

  test('keeps what is confirmed when it is to stop the rest, says so, and offers nothing of it again', async () => {
    const page = await openPage()
    await addElement(page)
    await uploadHalf(page)
    const calls: string[] = []
    page.on('request', (request) => calls.push(request.method()))

    await button(page, 'Cancel').click()
    await button(page, 'Keep 1 file, give up the rest').click()
    await heading(page).getByText('The upload was cancelled').waitFor()

    expect(await told(page, 'cancelled')).toMatchObject([{ status: 'cancelled', keepsConfirmed: true }])
    await expect
      .poll(() => page.locator('mocap-uploader [part~=file-status]').allTextContents())
      .toEqual(['Confirmed', 'Cancelled'])
    await page.locator('mocap-uploader [part~=summary-facts]').getByText('1 of 2 files confirmed').waitFor()
    expect(calls).not.toContain('DELETE')
    await offersNothingAfterReload(page)
  })

  test('asks before it cancels a file of which a part is confirmed, and says so', async () => {
    const page = await openPage()
    await addElement(page)
    await holdLarge(page)
    await pick(page, 'swing-02.mp4')
    await button(page, 'Upload 1 file').click()
    await page.waitForFunction((of) => document.querySelector('mocap-uploader')!.totals.confirmedBytes === of, 5 * MIB)

    await button(page, 'Cancel').click()
    const question = page.getByRole('dialog', { name: 'Give this upload up?' })
    await question.getByText('Part of it is uploaded already. That is given up too.').waitFor()
    await button(page, 'Give everything up').click()
    await heading(page).getByText('The upload was cancelled').waitFor()
  })

  test('says at once how long a cancel takes of which the service cannot be told', async () => {
    const page = await openPage()
    await addElement(page)
    await uploadHalf(page)
    await page.context().setOffline(true)

    await button(page, 'Cancel').click()
    await button(page, 'Give everything up').click()

    await heading(page).getByText('Cancelling. If the service cannot be reached, this takes a minute or two.').waitFor()
    await page.context().setOffline(false)
    await heading(page).getByText('The upload was cancelled').waitFor()
  })

  test('asks before it clears a file that failed and of which a part is confirmed', async () => {
    const page = await openPage()
    await addElement(page)
    await page.evaluate(() => elementRig.tryOnce())
    const isFirstConfirmed = () =>
      page.waitForFunction((of) => document.querySelector('mocap-uploader')!.totals.confirmedBytes === of, 5 * MIB)
    await page.route(isLatePart, async (route) => {
      await isFirstConfirmed()
      await route.fulfill({ status: 500, headers: { 'access-control-allow-origin': '*' }, body: 'no' })
    })
    await pick(page, 'swing-02.mp4')
    await button(page, 'Upload 1 file').click()
    await heading(page).getByText('1 file not finished').waitFor()

    await button(page, 'Clear the list').click()
    const question = page.getByRole('dialog', { name: 'Give this upload up?' })
    await question.getByText('Part of it is uploaded already. That is given up too.').waitFor()
    await button(page, 'Go back').click()
    await page.unroute(isLatePart)
    await button(page, 'Try again: swing-02.mp4').click()

    await heading(page).getByText('Your file is uploaded and confirmed').waitFor()
  })

  test('says why an upload cannot go on here: the browser has no more room for it', async () => {
    const page = await openPage()
    await addElement(page)
    await page.evaluate(() => {
      IDBObjectStore.prototype.put = () => {
        throw new DOMException('The disk is full.', 'QuotaExceededError')
      }
    })
    await pick(page, 'swing-01.mp4')
    await button(page, 'Upload 1 file').click()

    await page.getByRole('alert').getByText('Free some space on the disk').waitFor()
  })

  test('says that there is no network, and goes on by itself when it is back', async () => {
    const page = await openPage()
    await addElement(page)
    await page.context().setOffline(true)
    await pick(page, 'swing-01.mp4')
    await page.context().setOffline(false)
    const isStorage = (url: URL): boolean => url.searchParams.has('partNumber')
    await page.route(isStorage, async (route) => {
      await page.context().setOffline(true)
      await route.abort('internetdisconnected')
    })
    await button(page, 'Upload 1 file').click()
    await heading(page).getByText('No connection. The upload goes on by itself when it is back.').waitFor()

    await page.unroute(isStorage)
    await page.context().setOffline(false)

    await heading(page).getByText('Your file is uploaded and confirmed').waitFor()
  })

  test('stops saying that there is no network as soon as there is one, though nothing is told', async () => {
    const page = await openPage()
    await startTwo(page)
    const isOnline = (value: boolean) =>
      page.evaluate((is) => void Object.defineProperty(navigator, 'onLine', { value: is, configurable: true }), value)
    await isOnline(false)
    await page.evaluate(() => globalThis.scripted.stop('waiting'))
    await heading(page).getByText('No connection').waitFor()

    await isOnline(true)

    await heading(page).getByText('Waiting').waitFor({ timeout: 15_000 })
  })

  test('says that it is the other end that takes nothing, and goes on by itself when it does', async () => {
    const page = await openPage()
    await addElement(page)
    await pick(page, 'swing-01.mp4')
    await button(page, 'Upload 1 file').click()
    await heading(page).getByText('Your file is uploaded and confirmed').waitFor()
    const isFarEnd = ({ origin }: URL): boolean => origin !== new URL(page.url()).origin
    await page.route(isFarEnd, (route) => route.abort('connectionrefused'))
    await pick(page, 'swing-02.mp4')
    await button(page, 'Upload 1 file').click()
    await heading(page)
      .getByText(/^The upload service is not available\. The next try is at \d+:\d\d:\d\d( [AP]M)?\.$/)
      .waitFor()

    await page.unroute(isFarEnd)

    await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()
  })

  test('says of a file whose confirmation alone was refused that its bytes are there, and goes on from there', async () => {
    const page = await openPage()
    await addElement(page)
    const puts: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'PUT') puts.push(request.url())
    })
    await page.route('**/upload_videos', async (route) => {
      if (route.request().method() !== 'PATCH') return route.continue()
      return route.fulfill({ status: 401, headers: { 'access-control-allow-origin': '*' }, body: '{}' })
    })
    await pick(page, 'swing-01.mp4')
    await button(page, 'Upload 1 file').click()

    await heading(page).getByText('1 file not finished').waitFor()
    const facts = page.locator('mocap-uploader [part~=summary-facts]')
    expect(await facts.locator('span').allTextContents()).toEqual(['1 kB of 1 kB', 'another try goes on from there'])
    await page.getByRole('listitem').getByText('Not finished').waitFor()
    await page.unroute('**/upload_videos')
    await button(page, 'Try again').click()

    await heading(page).getByText('Your file is uploaded and confirmed').waitFor()
    expect(puts).toHaveLength(1)
  })

  test('says at once that there is no network, also where it goes while a file is being confirmed', async () => {
    const page = await openPage()
    await addElement(page)
    let tries = 0
    await page.route('**/upload_videos', async (route) => {
      if (route.request().method() !== 'PATCH') return route.continue()
      tries += 1
      // Of the second try nothing is heard: what is said was said before.
      if (tries > 1) return
      await page.context().setOffline(true)
      await route.abort('internetdisconnected')
    })
    await pick(page, 'swing-01.mp4')
    await button(page, 'Upload 1 file').click()
    await heading(page).getByText('No connection. The upload goes on by itself when it is back.').waitFor()
  })

  test('says in plain words what failed, and tries exactly that again', async () => {
    const page = await openPage()
    await addElement(page)
    await page.evaluate(() => elementRig.tryOnce())
    await page.route(isLatePart, (route) =>
      route.fulfill({ status: 500, headers: { 'access-control-allow-origin': '*' }, body: 'no' }),
    )
    await pick(page, 'swing-01.mp4', 'swing-02.mp4')
    await button(page, 'Upload 2 files').click()
    await heading(page).getByText('1 file not finished').waitFor()
    const problem = page.locator('mocap-uploader [part~=file-problem]')
    await problem.getByText('It did not work. Try again in a few minutes.').waitFor()

    await page.unroute(isLatePart)
    const heard = await listen(page)
    await button(page, 'Try again: swing-02.mp4').click()

    await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()
    await expect.poll(heard).toContain('Uploading 1 file.')
  })

  test('leaves a way on where the service refuses the upload before it begins, and says so once, not of each file', async () => {
    const page = await openPage()
    await addElement(page)
    const isCreate = (url: URL): boolean => url.pathname.endsWith('/upload_videos')
    await page.route(isCreate, (route) =>
      route.fulfill({ status: 401, headers: { 'access-control-allow-origin': '*' }, body: '{}' }),
    )
    await pick(page, 'swing-01.mp4', 'swing-02.mp4')
    await button(page, 'Upload 2 files').click()
    await heading(page).getByText('2 files not finished').waitFor()
    await page.getByRole('listitem').getByText('Not finished').last().waitFor()
    await page.getByRole('alert').getByText('You are not signed in').waitFor()
    expect(await page.locator('mocap-uploader [part~=file-problem]:visible').count()).toBe(0)
    expect(await violations(page, 'mocap-uploader')).toEqual([])

    await page.unroute(isCreate)
    await button(page, 'Try 2 files again').click()

    await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()
  })

  test('says why the rest was not uploaded where the service refuses it in the middle', async () => {
    const page = await openPage()
    await addElement(page)
    const letGo = await uploadHalf(page)
    await page.route(
      (url) => url.pathname.endsWith('/upload_videos'),
      (route) => route.fulfill({ status: 401, headers: { 'access-control-allow-origin': '*' }, body: '{}' }),
    )
    await button(page, 'Pause').click()
    await button(page, 'Resume').waitFor()
    await letGo()
    await button(page, 'Resume').click()

    await heading(page).getByText('1 file not finished').waitFor()
    await page.getByText('You are not signed in').waitFor()
    expect(await told(page, 'done')).toMatchObject([{ status: 'partial' }])

    // What a person has put away is not offered again, and what is confirmed of it stays.
    await button(page, 'Clear the list').click()
    await button(page, 'Keep 1 file, give up the rest').click()
    const kept = () =>
      page.evaluate(
        () =>
          new Promise<string>((resolve) => {
            const opening = indexedDB.open('mocap-uplink')
            opening.onsuccess = () => {
              const rows = opening.result.transaction('records').objectStore('records').getAll()
              rows.onsuccess = () => resolve(rows.result.join(' '))
              opening.result.close()
            }
          }),
      )
    await expect.poll(kept).toMatch(/"session\.cancelling","keepsConfirmed":true.*"session\.cancelled"/)
    await offersNothingAfterReload(page)
  })

  test('leaves several files that failed to one button, which tries exactly those', async () => {
    const page = await openPage()
    await addElement(page)
    await page.evaluate(() => elementRig.tryOnce())
    const isPart = (url: URL): boolean => url.searchParams.has('partNumber')
    await page.route(isPart, (route) =>
      route.fulfill({ status: 500, headers: { 'access-control-allow-origin': '*' }, body: 'no' }),
    )
    await pick(page, 'swing-01.mp4', 'swing-02.mp4')
    await button(page, 'Upload 2 files').click()
    await button(page, 'Try 2 files again').waitFor()
    await expect.poll(() => page.getByRole('listitem').getByRole('button').count()).toBe(0)
    expect(await page.getByRole('alert').textContent()).toBe('')

    await page.unroute(isPart)
    await button(page, 'Try 2 files again').click()

    await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()
    expect(await page.getByRole('alert').textContent()).toBe('')
  })

  test('says to those who run the page that nothing at its base URL knows what it asks for', async () => {
    const page = await openPage()
    await addElement(page)
    await page.evaluate(() => {
      const element = document.querySelector('mocap-uploader')!
      element.setAttribute('base-url', `${element.getAttribute('base-url')!}/elsewhere`)
      element.addFiles([new File(['x'], 'swing-01.mp4')])
      return element.start()
    })

    const details = page.getByRole('alert').getByText('Details: ')
    await details.getByText('(404)').waitFor()
    expect(await details.textContent()).toMatch(/ Check the base URL\.\u2069$/)
  })

  test('offers no retry for what nobody in front of the page can mend', async () => {
    const page = await openPage()
    await addElement(page)
    const isPart = (url: URL): boolean => url.searchParams.has('partNumber')
    await page.route(isPart, async (route) => {
      if (route.request().method() === 'OPTIONS') return route.continue()
      const response = await route.fetch()
      const shown = Object.entries(response.headers()).filter(([name]) => name !== 'access-control-expose-headers')
      return route.fulfill({ response, headers: Object.fromEntries(shown) })
    })
    await pick(page, 'swing-01.mp4')
    await button(page, 'Upload 1 file').click()
    await heading(page).getByText('1 file not finished').waitFor()

    const row = page.getByRole('listitem').filter({ hasText: 'swing-01.mp4' })
    await row.getByText('Tell the people who run this page, then try again.').waitFor()
    expect(await row.getByRole('button').count()).toBe(0)
    // What those can use, and nothing that the row says, which the live region alone says again, a moment later.
    await page.getByRole('alert').getByText('ExposeHeaders').waitFor()
    await page.getByRole('status').getByText('Tell the people who run this page').waitFor()
    expect(await page.getByText('Tell the people who run this page').count()).toBe(2)
    // For when they have mended it.
    await button(page, 'Try again').waitFor()
  })

  test('offers no retry while the rest of its upload runs, because it could not begin', async () => {
    const page = await openPage()
    await startTwo(page)
    await page.evaluate(() => {
      globalThis.scripted.change(0, {
        state: 'failed',
        error: { code: 'ERR_UPLOAD_HTTP_STATUS', message: 'no', status: 503 },
      })
    })
    const row = page.getByRole('listitem').filter({ hasText: 'swing-01.mp4' })
    await row.getByText('Not finished').waitFor()
    await button(page, 'Pause').waitFor()

    expect(await row.getByRole('button').count()).toBe(0)
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

  test.each(['light', 'dark'] as const)('passes the accessibility check in every state, %s', async (scheme) => {
    const page = await openPage(scheme)
    await addElement(page)
    await page.evaluate(() => document.documentElement.style.setProperty('color-scheme', 'light dark'))
    const violationsNow = () => violations(page, 'mocap-uploader')
    expect(await violationsNow()).toEqual([])

    await pick(page, 'notes.pdf', 'swing-01.mp4', 'swing-02.mp4')
    await button(page, 'Upload 2 files').waitFor()
    expect(await violationsNow()).toEqual([])

    const letGo = await holdLarge(page)
    await button(page, 'Upload 2 files').click()
    await heading(page).getByText('1 of 2 files confirmed').waitFor()
    expect(await violationsNow()).toEqual([])

    await button(page, 'Cancel').click()
    expect(await violationsNow()).toEqual([])
    await button(page, 'Go back').click()

    await button(page, 'Pause').click()
    await button(page, 'Resume').waitFor()
    await letGo()
    await button(page, 'Resume').click()
    await heading(page).getByText('All 2 files are uploaded and confirmed').waitFor()
    expect(await violationsNow()).toEqual([])
  })

  test('tells a screen reader what is there and how far it is', async () => {
    const page = await openPage()
    await addElement(page)
    await uploadHalf(page)

    // A row may be drawn a frame after the heading.
    await expect
      .poll(() => page.locator('mocap-uploader').ariaSnapshot())
      .toMatch(/listitem: swing-01\.mp4 1 kB Confirmed/)
    const tree = await page.locator('mocap-uploader').ariaSnapshot()
    expect(tree).toContain('region "Upload files"')
    expect(tree).toContain('heading "1 of 2 files confirmed" [level=2]')
    expect(tree).toMatch(/- list "Files"/)
    expect(tree).toContain('button "Pause"')

    const session = await page.context().newCDPSession(page)
    const { nodes } = await session.send('Accessibility.getFullAXTree')
    const bars = nodes
      .filter((node) => node.role?.value === 'progressbar' && !node.ignored)
      .map((node) => ({ name: node.name?.value as string, value: node.value?.value as unknown }))
    expect(bars[0]?.name).toBe('All files together')
  })

  test('says the share of a file once, beside what else is known of it', async () => {
    const page = await openPage()
    await startTwo(page)
    await page.evaluate(() => {
      globalThis.scripted.change(0, { state: 'uploading', sentBytes: 0.5 })
      globalThis.scripted.change(1, { state: 'confirming', sentBytes: 1 })
    })

    const said = (name: string) => page.getByRole('progressbar', { name }).getAttribute('aria-valuetext')
    expect(await said('swing-01.mp4')).toMatch(/^50%[^%]*$/)
    expect(await said('swing-02.mp4')).toBe('100%, Being confirmed')
  })

  test('says milestones only, and several at once as one', async () => {
    const page = await openPage()
    await addElement(page)
    const heard = await listen(page)
    expect(await heard()).toBe('')
    await pick(page, 'swing-01.mp4')
    await button(page, 'Upload 1 file').click()
    await heading(page).getByText('Your file is uploaded and confirmed').waitFor()
    await expect.poll(heard).toContain('Your file is uploaded and confirmed')
    expect(await heard()).toContain('1 file added.')
    expect((await heard()).split(' | ').length).toBeLessThanOrEqual(3)
  })

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
