// What the element asks and says before it gives up what is stored.

import { describe, expect, test } from 'vitest'
import { chromiumPath } from './rig/chromium.ts'
import { heading, isLatePart } from './rig/element-page.ts'
import { useElement } from './rig/element-under-test.ts'

const MIB = 1024 * 1024

describe.skipIf(chromiumPath === undefined)('the element in Chromium', () => {
  const { button, pick, told, openPage, addElement, holdLarge, uploadHalf, offersNothingAfterReload } = useElement()

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

  test('offers to give up no captures that are confirmed, also where its page has turned it to videos since', async () => {
    const page = await openPage()
    await addElement(page, { flow: 'capture', org: 'org-1', 'mocap-type': '67', kind: 'video', 'frame-rate': '240' })
    let sent = 0
    await page.route('**/objects/**', async (route) => {
      if (route.request().method() !== 'PUT' || (sent += 1) === 1) await route.continue()
    })
    await pick(page, 'swing-01.mp4', 'swing-02.mp4')
    await button(page, 'Upload 2 files').click()
    await heading(page).getByText('1 of 2 files confirmed').waitFor()
    await page.evaluate(() => document.querySelector('mocap-uploader')!.setAttribute('flow', 'video'))

    await button(page, 'Cancel').click()
    await button(page, 'Keep 1 file, give up the rest').waitFor()
    expect(await button(page, 'Give everything up').isVisible()).toBe(false)
    await button(page, 'Keep 1 file, give up the rest').click()

    await heading(page).getByText('The upload was cancelled').waitFor()
    const statuses = () => page.locator('mocap-uploader [part~=file-status]').allTextContents()
    await expect.poll(async () => (await statuses()).sort()).toEqual(['Cancelled', 'Confirmed'])
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
})
