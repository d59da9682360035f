// What the element says where something fails, and which way on it leaves.

import { describe, expect, test } from 'vitest'
import { violations } from './rig/accessibility.ts'
import { chromiumPath } from './rig/chromium.ts'
import { heading, isLatePart, startTwo } from './rig/element-page.ts'
import { useElement } from './rig/element-under-test.ts'
import { journalText } from './rig/journal-text.ts'

describe.skipIf(chromiumPath === undefined)('the element in Chromium', () => {
  const { button, pick, told, openPage, addElement, uploadHalf, listen, offersNothingAfterReload } = useElement()

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
    expect(await page.getByRole('alert').textContent()).toBe('')
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
    expect(await button(page, 'Give everything up').count()).toBe(0)
    await button(page, 'Keep 1 file, give up the rest').click()
    await expect
      .poll(() => journalText(page))
      .toMatch(/"session\.cancelling","keepsConfirmed":true.*"session\.cancelled"/)
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
})
