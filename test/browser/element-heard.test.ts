// The element by ear: what a screen reader finds and is told.

import { describe, expect, test } from 'vitest'
import { violations } from './rig/accessibility.ts'
import { chromiumPath } from './rig/chromium.ts'
import { heading, startTwo } from './rig/element-page.ts'
import { useElement } from './rig/element-under-test.ts'

describe.skipIf(chromiumPath === undefined)('the element in Chromium', () => {
  const { button, pick, openPage, addElement, holdLarge, uploadHalf, listen } = useElement()

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

  test('leaves nothing to read of a pause that is over, and what else was said', async () => {
    const page = await openPage()
    await addElement(page)
    const letGo = await uploadHalf(page)
    const said = page.getByRole('status')
    await button(page, 'Pause').click()
    await said.getByText('Paused. 1 of 2 files confirmed').waitFor()
    await said.evaluate((region) => {
      const other = document.createElement('p')
      other.textContent = 'Something else'
      region.append(other)
    })

    await button(page, 'Resume').click()

    await button(page, 'Pause').waitFor()
    expect(await said.textContent()).toBe('Something else')
    await letGo()
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
})
