// The example of Uppy's dashboard over this engine, built and used in a real Chromium as a coach would.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { violations } from './rig/accessibility.ts'
import { serveExample, type ServedExample } from './rig/built-example.ts'
import { chromiumPath, openPage } from './rig/chromium.ts'
import { isLatePart } from './rig/element-page.ts'
import { useExamples } from './rig/examples.ts'
import { journalText } from './rig/journal-text.ts'

const PARTS = /X-Amz-Signature/i

describe.skipIf(chromiumPath === undefined)('the example', () => {
  const examples = useExamples()
  const { paths, open, connect, focused, storedSizes, sizes } = examples

  describe('uppy', () => {
    let example: ServedExample
    beforeAll(async () => {
      example = await serveExample('uppy')
    })
    afterAll(() => example.close())

    async function pick(page: Page): Promise<void> {
      await page.locator('input.uppy-Dashboard-input').first().setInputFiles(paths())
    }
    /** Uppy's own colours, by axe's rule color-contrast: its link in the dark, and its notices, while they fade in or out. */
    const isUppysOwn = (violation: string): boolean =>
      /^color-contrast: (<button [^>]*uppy-Dashboard-browse|<p role="alert">Failed to upload )/.test(violation)
    const upload = (page: Page) => page.click('.uppy-StatusBar-actionBtn--upload')
    const status = (page: Page, words: string) => page.waitForSelector(`.uppy-StatusBar:has-text("${words}")`)

    test('moves the focus to the dashboard that takes the place of the form', async () => {
      const page = await open(example)
      await page.locator('#dashboard button').first().waitFor()
      await expect.poll(() => focused(page)).toMatch(/\S/)
      expect(await page.evaluate(() => document.activeElement?.closest('#dashboard') !== null)).toBe(true)
    })

    test('uploads through the dashboard, in one session of the service', async () => {
      const page = await open(example)
      const sessions: string[] = []
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith('/upload_videos')) sessions.push(request.url())
      })
      await pick(page)
      await upload(page)
      await status(page, 'Complete')

      expect(await page.locator('.uppy-Dashboard-Item.is-complete').count()).toBe(2)
      expect(sessions.length).toBe(1)
      expect(await storedSizes()).toEqual(sizes)
    })

    test('takes no empty clip, beside which it could not say how much there is', async () => {
      const page = await open(example)
      const empty = { name: 'swing-00.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(0) }
      await page.locator('input.uppy-Dashboard-input').first().setInputFiles(empty)

      await page.getByText('An empty file was not added').first().waitFor()
      expect(await page.locator('.uppy-Dashboard-Item').count()).toBe(0)
    })

    test.each(['light', 'dark'] as const)('passes the accessibility check in every state, %s', async (colorScheme) => {
      const page = await openPage(examples.browser(), example.url)
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const found: Record<string, readonly string[]> = { form: await violations(page) }
      await connect(page)
      await page.locator('.uppy-Dashboard-input').first().waitFor({ state: 'attached' })
      found['nothing chosen'] = await violations(page)
      await pick(page)
      await page.locator('.uppy-Dashboard-Item').nth(1).waitFor()
      found['chosen'] = await violations(page)

      await page.route(PARTS, () => undefined)
      await upload(page)
      await status(page, 'Uploading')
      found['uploading'] = await violations(page)
      await page.click('.uppy-StatusBar-actionCircleBtn[title=Pause]')
      await status(page, 'Paused')
      found['paused'] = await violations(page)
      await page.unroute(PARTS)
      await page.route(PARTS, (route) =>
        route.fulfill({ status: 400, headers: { 'access-control-allow-origin': '*' } }),
      )
      await page.click('.uppy-StatusBar-actionCircleBtn[title=Resume]')
      await status(page, 'Upload failed')
      found['failed'] = await violations(page)
      await page.unroute(PARTS)
      await page.click('.uppy-StatusBar-actionBtn--retry')
      await status(page, 'Complete')
      found['complete'] = await violations(page)

      const ours = Object.entries(found).map(([name, of]) => [name, of.filter((each) => !isUppysOwn(each))])
      expect(ours).toEqual(Object.keys(found).map((name) => [name, []]))
    })

    test('says beside its buttons, and not under them, how far it is on a phone', async () => {
      const page = await open(example)
      await page.setViewportSize({ width: 320, height: 700 })
      await pick(page)
      await page.route(isLatePart, () => undefined)
      await upload(page)
      await page.locator('.uppy-StatusBar-statusSecondary').getByText('1 of 2 files uploaded').waitFor()

      const box = async (part: string) => (await page.locator(`.uppy-StatusBar${part}`).boundingBox())!
      const [bar, words, buttons] = [await box(''), await box('-status'), await box('-actions')]
      expect(words.x + words.width).toBeLessThanOrEqual(buttons.x)
      expect(words.y + words.height).toBeLessThanOrEqual(bar.y + bar.height)
    })

    test('pauses, and goes on', async () => {
      const page = await open(example)
      await pick(page)
      await page.route(PARTS, () => undefined)
      await upload(page)
      await status(page, 'Uploading')
      await page.click('.uppy-StatusBar-actionCircleBtn[title=Pause]')
      await status(page, 'Paused')
      await page.unroute(PARTS)
      await page.click('.uppy-StatusBar-actionCircleBtn[title=Resume]')
      await status(page, 'Complete')
    })

    test('shows the file that failed, and a retry sends it alone', async () => {
      const page = await open(example)
      await pick(page)
      // The storage says no to the second file, for good.
      let refused = ''
      await page.route('**/upload_videos', async (route) => {
        if (route.request().method() !== 'POST') return route.continue()
        const response = await route.fetch()
        const { pre_signed_urls: files } = (await response.json()) as { pre_signed_urls: { info: { url: string }[] }[] }
        refused = new URL(files[1]!.info[0]!.url).pathname
        return route.fulfill({ response })
      })
      await page.route(PARTS, (route) =>
        new URL(route.request().url()).pathname === refused
          ? route.fulfill({ status: 400, headers: { 'access-control-allow-origin': '*' } })
          : route.continue(),
      )
      await upload(page)
      await status(page, 'Upload failed')
      await page.waitForSelector('.uppy-Dashboard-Item.is-complete:has-text("swing-01.mp4")')
      await page.waitForSelector('.uppy-Dashboard-Item.is-error:has-text("swing-02.mp4")')

      await page.unroute('**/upload_videos')
      await page.unroute(PARTS)
      await page.click('.uppy-StatusBar-actionBtn--retry')
      await status(page, 'Complete')
      expect(await page.locator('.uppy-Dashboard-Item.is-complete').count()).toBe(2)
      expect(await storedSizes()).toEqual(sizes)
    })

    test.each([
      ['as soon as its failure is known', true],
      ['once its session is over', false],
    ])('asks for a file that failed and was cancelled %s, and goes on with it', async (_when, isAtOnce) => {
      const page = await open(example)
      await pick(page)
      // The page's requests are held up for the whole test: to let go of them in the middle could lose one that is on its way.
      let isRefused = true
      await page.route(/partNumber=2/, async (route) => {
        if (!isRefused) return route.continue()
        // The other file is confirmed first: a part of this one waits for that.
        if (isAtOnce) await page.waitForSelector('.uppy-Dashboard-Item.is-complete:has-text("swing-02.mp4")')
        return route.fulfill({ status: 400, headers: { 'access-control-allow-origin': '*' } })
      })
      const cancel = '.uppy-DashboardContent-back'
      if (isAtOnce) {
        // Uppy logs a failure before its dashboard shows it. Only the first word of it clicks.
        await page.evaluate((button) => {
          const { error } = console
          console.error = () => {
            console.error = error
            queueMicrotask(() => document.querySelector<HTMLElement>(button)?.click())
          }
        }, cancel)
        await upload(page)
      } else {
        await upload(page)
        await status(page, 'Upload failed')
        const isDriven = () =>
          page.evaluate(async () => {
            const { held = [] } = await navigator.locks.query()
            return held.some(({ name = '' }) => name.startsWith('mocap-uplink session '))
          })
        await expect.poll(isDriven, { timeout: 30_000 }).toBe(false)
        expect(await page.locator('#earlier p').count()).toBe(0)
        // Not with the mouse: the end of the batch draws the button anew, and a click that began on the old one can be lost.
        await page.locator(cancel).evaluate((button: HTMLElement) => button.click())
      }
      await page.waitForSelector('#earlier:has-text("1 of 2 confirmed. Add these again, and it goes on: swing-01.mp4")')

      isRefused = false
      await page.locator('input.uppy-Dashboard-input').first().setInputFiles(paths().slice(0, 1))
      await upload(page)
      await expect.poll(() => page.textContent('.uppy-StatusBar'), { timeout: 30_000 }).toContain('Complete')

      expect(await page.textContent('#earlier')).toBe('')
      expect(await storedSizes()).toEqual(sizes)
    })

    test('says who is not available, in one notice at a time, and goes on by itself', async () => {
      const page = await open(example)
      // No pause between two tries is so short that notices are told while others fade out.
      await page.addInitScript(() => {
        const { random } = Math
        Math.random = () => (1 + random()) / 2
      })
      await page.reload()
      await connect(page)
      await page.locator('input.uppy-Dashboard-input').first().setInputFiles(paths().slice(1))
      await upload(page)
      await status(page, 'Complete')
      const isFarEnd = ({ origin }: URL): boolean => origin !== new URL(page.url()).origin
      let tries = 0
      await page.route(isFarEnd, (route) => {
        tries += 1
        return route.abort('connectionrefused')
      })
      await page.evaluate(() => {
        const shown: number[] = []
        const look = () => shown.push(document.querySelectorAll('.uppy-Informer p[role=alert]').length)
        new MutationObserver(look).observe(document.body, { childList: true, subtree: true })
        Object.assign(globalThis, { shown })
      })
      await page.click('.uppy-DashboardContent-addMore')
      await page.locator('input.uppy-Dashboard-input').first().setInputFiles(paths().slice(0, 1))
      await upload(page)
      await page
        .getByText(/^The service is not available\. The next try is at /)
        .first()
        .waitFor()
      const triesBefore = tries
      // The pauses grow and are random: three of them may take half a minute.
      await expect.poll(() => tries).toBeGreaterThan(triesBefore + 2)
      const shown = await page.evaluate(() => (globalThis as unknown as { shown: number[] }).shown)
      // One that fades out may still be there beside the next.
      expect(Math.max(...shown)).toBeLessThanOrEqual(2)

      await page.unroute(isFarEnd)

      const complete = page.locator('.uppy-Dashboard-Item.is-complete')
      await expect.poll(() => complete.count()).toBe(2)
    })

    test('says that it is the network where there is none', async () => {
      const page = await open(example)
      await pick(page)
      await page.context().setOffline(true)
      await upload(page)

      await page
        .getByText(/^There is no network\. The next try is /)
        .first()
        .waitFor()

      await page.context().setOffline(false)
      await status(page, 'Complete')
    })

    test('sends in the session that they were in all files that failed, when one of them is tried again', async () => {
      const page = await open(example)
      const creates: string[] = []
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith('/upload_videos')) creates.push(request.url())
      })
      await pick(page)
      await page.route(PARTS, (route) =>
        route.fulfill({ status: 400, headers: { 'access-control-allow-origin': '*' } }),
      )
      await upload(page)
      await status(page, 'Upload failed')
      await page.waitForFunction(() => document.querySelectorAll('.uppy-Dashboard-Item.is-error').length === 2)
      await page.unroute(PARTS)
      await page.locator('.uppy-Dashboard-Item.is-error .uppy-Dashboard-Item-progressIndicator').first().click()

      await page.waitForFunction(() => document.querySelectorAll('.uppy-Dashboard-Item.is-complete').length === 2)
      expect(creates.length).toBe(1)
      expect(await storedSizes()).toEqual(sizes)
    })

    describe('while it looks for earlier uploads', () => {
      /** Clicks a button when that has begun, and lets it come to its end; `sent` are the parts since. */
      async function clickMeanwhile(page: Page, title: string): Promise<{ readonly sent: readonly string[] }> {
        await pick(page)
        // It asks first which sessions other tabs drive.
        await page.evaluate(() => {
          const ask = navigator.locks.query.bind(navigator.locks)
          const asked = new Promise<void>((resolve) => Object.assign(globalThis, { letGo: resolve }))
          navigator.locks.query = () => asked.then(ask)
        })
        const sent: string[] = []
        page.on('request', (request) => {
          if (request.method() === 'PUT') sent.push(request.url())
        })
        await upload(page)
        await page.click(`.uppy-StatusBar-actionCircleBtn[title=${title}]`)
        await page.evaluate(() => (globalThis as unknown as { letGo: () => void }).letGo())
        return { sent }
      }

      test('heeds a pause', async () => {
        const page = await open(example)
        const { sent } = await clickMeanwhile(page, 'Pause')
        await expect.poll(() => journalText(page)).toContain('session.begun')
        // An upload that is not paused asks for its session, and then sends.
        for (let answers = 0; answers < 20; answers += 1) await page.evaluate((url) => fetch(url), example.url)
        const sentEarly = [...sent]
        await page.click('.uppy-StatusBar-actionCircleBtn[title=Resume]')
        await status(page, 'Complete')

        expect(sentEarly).toEqual([])
      })

      test('heeds a cancel', async () => {
        const page = await open(example)
        const { sent } = await clickMeanwhile(page, 'Cancel')
        await pick(page)
        await upload(page)
        await status(page, 'Complete')

        // Those of the second alone.
        expect(new Set(sent.map((url) => new URL(url).pathname)).size).toBe(2)
      })
    })

    test('goes on after a reload with what is not confirmed, when its clips are added again', async () => {
      const page = await open(example)
      await pick(page)
      const isLate = /partNumber=2/
      await page.route(isLate, () => undefined)
      await upload(page)
      await page.waitForSelector('.uppy-Dashboard-Item.is-complete:has-text("swing-02.mp4")')
      await page.reload()
      await page.unroute(isLate)
      await connect(page)
      await page.waitForSelector('#earlier:has-text("1 of 2 confirmed. Add these again, and it goes on: swing-01.mp4")')
      expect((await violations(page)).filter((each) => !isUppysOwn(each))).toEqual([])

      const sessions: string[] = []
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith('/upload_videos')) sessions.push(request.url())
      })
      await pick(page)
      await upload(page)
      await status(page, 'Complete')

      // The confirmed one neither, though a coach adds the whole folder again.
      expect(await page.locator('.uppy-Dashboard-Item.is-complete').count()).toBe(2)
      expect(sessions).toEqual([])
      expect(await page.textContent('#earlier')).toBe('')
      expect(await storedSizes()).toEqual(sizes)
    })

    test('gives an earlier upload up when asked to', async () => {
      const page = await open(example)
      await pick(page)
      // Until a part goes the journal may know of nothing that a reload could interrupt.
      const begun = new Promise<void>((resolve) => void page.route(PARTS, () => resolve()))
      await upload(page)
      await begun
      await page.reload()
      await connect(page)
      page.on('dialog', (dialog) => void dialog.accept())
      const told = page.waitForRequest((request) => request.method() === 'DELETE')
      await page.click('#earlier button:has-text("Discard")')
      await told

      await page.waitForSelector('#earlier:empty', { state: 'attached' })
    })

    test('cancels, and tells the service', async () => {
      const page = await open(example)
      await pick(page)
      // Uppy shows it as uploading before there is a session that the service could be told of.
      const begun = new Promise<void>((resolve) => void page.route(PARTS, () => resolve()))
      await upload(page)
      await begun
      const told = page.waitForRequest((request) => request.method() === 'DELETE')
      await page.click('.uppy-StatusBar-actionCircleBtn[title=Cancel]')
      await told

      await page.locator('.uppy-Dashboard-Item').first().waitFor({ state: 'detached' })
    })
  })
})
