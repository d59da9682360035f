// The examples, built as their users build them and used as a coach would: drop, watch, pause, go on, fail, retry, cancel.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pattern } from '../../src/testing/transport/requests.ts'
import { API_KEY, startUnderTest, type ServiceUnderTest } from '../service/service-under-test.ts'
import { violations } from './rig/accessibility.ts'
import { serveExample, type ServedExample } from './rig/built-example.ts'
import { chromiumPath, launchChromium, openPage } from './rig/chromium.ts'
import { isLatePart } from './rig/element-page.ts'

const MIB = 1024 * 1024
const PARTS = /X-Amz-Signature/i
const HASH_WORKER = /hash-worker/

describe.skipIf(chromiumPath === undefined)('the example', () => {
  let browser: Browser
  let service: ServiceUnderTest
  let folder: string
  const clips = new Map([
    ['swing-01.mp4', pattern(6 * MIB + 1)],
    ['swing-02.mp4', pattern(200_000)],
  ])
  const paths = (): string[] => [...clips.keys()].map((name) => join(folder, name))

  beforeAll(async () => {
    browser = await launchChromium()
    service = await startUnderTest({ now: Date.now })
    folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-examples-'))
    for (const [name, bytes] of clips) await writeFile(join(folder, name), bytes)
  })
  afterAll(async () => {
    await browser.close()
    await Promise.all([service.close(), rm(folder, { recursive: true })])
  })

  async function open(example: ServedExample): Promise<Page> {
    const page = await openPage(browser, example.url)
    await connect(page)
    return page
  }
  async function connect(page: Page): Promise<void> {
    page.setDefaultTimeout(30_000)
    await page.fill('[name=service]', service.url)
    await page.fill('[name=key]', API_KEY)
    await page.click('button:has-text("Connect")')
  }
  /** The accessible text of what has the focus, also within an element's shadow root. */
  function focused(page: Page): Promise<string | undefined> {
    return page.evaluate(() => {
      const inPage = document.activeElement
      const inner = inPage?.shadowRoot?.activeElement ?? inPage
      const label = inner instanceof HTMLInputElement ? inner.labels?.[0] : inner
      return label === document.body ? undefined : label?.textContent.trim()
    })
  }
  /** Lets files fall on an element, as from a folder of the desktop. */
  async function drop(page: Page, onto: string): Promise<void> {
    const dropped = [...clips].map(([name, { length }]) => ({ name, length }))
    const transfer = await page.evaluateHandle((files) => {
      const data = new DataTransfer()
      for (const { name, length } of files)
        data.items.add(new File([new Uint8Array(length).fill(7)], name, { type: 'video/mp4', lastModified: 1 }))
      return data
    }, dropped)
    await page.dispatchEvent(onto, 'dragover', { dataTransfer: transfer })
    await page.dispatchEvent(onto, 'drop', { dataTransfer: transfer })
  }
  async function storedSizes(): Promise<Record<string, number>> {
    const { items } = (await service.call('GET', '/stored')).json as { items: { file_name: string; url: string }[] }
    const last = [...clips.keys()].map((name) => items.findLast((item) => item.file_name === name))
    const sizes = last.map(async (item) => [item!.file_name, (await (await fetch(item!.url)).arrayBuffer()).byteLength])
    return Object.fromEntries(await Promise.all(sizes)) as Record<string, number>
  }
  const sizes = Object.fromEntries([...clips].map(([name, { length }]) => [name, length]))

  describe('html', () => {
    let example: ServedExample
    beforeAll(async () => {
      example = await serveExample('html')
    })
    afterAll(() => example.close())

    test('uploads what is dropped on the element', async () => {
      const page = await open(example)
      await page.waitForSelector('mocap-uploader')
      await drop(page, 'mocap-uploader')
      await page.getByRole('button', { name: 'Upload 2 files', exact: true }).click()
      await page.waitForSelector('#result:has-text("confirmed: 2 of 2 files")')
      expect(await violations(page)).toEqual([])

      expect(await storedSizes()).toEqual(sizes)
    })

    test('moves the focus to the element that takes the place of the form', async () => {
      const page = await open(example)
      await expect.poll(() => focused(page)).toBe('Choose files')
    })

    test('fits a phone whose text is twice as large', async () => {
      const page = await openPage(browser, example.url)
      await page.setViewportSize({ width: 320, height: 700 })
      await page.evaluate(() => (document.documentElement.style.fontSize = '200%'))
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
    })
  })

  describe('react-vite', () => {
    let example: ServedExample
    beforeAll(async () => {
      example = await serveExample('react-vite')
    })
    afterAll(() => example.close())

    test('uploads what is dropped, and shows it confirmed and verified by the hashes of its worker', async () => {
      const page = await open(example)
      await drop(page, 'section')
      await page.click('button:has-text("Upload 2 clips")')
      await page.waitForSelector('[role=status]:has-text("done: 2 of 2 confirmed, verified")')

      expect(page.workers().length).toBe(1)
      expect(await page.locator('li[data-state=confirmed]').count()).toBe(2)
      expect(await violations(page)).toEqual([])
      expect(await storedSizes()).toEqual(sizes)
    })

    test('shows it confirmed, and not verified, where the worker cannot be loaded', async () => {
      const page = await openPage(browser, example.url)
      const context = page.context()
      await context.route(HASH_WORKER, (route) => route.abort())
      const reported = page.waitForEvent('pageerror')
      await page.reload()
      expect((await reported).message).toContain('Nothing will be verified')
      await connect(page)
      await drop(page, 'section')
      await page.click('button:has-text("Upload 2 clips")')
      await page.waitForSelector('[role=status]:has-text("done: 2 of 2 confirmed")')

      expect(await page.textContent('[role=status]')).not.toContain('verified')
    })

    test('keeps the focus where the next thing is to be done', async () => {
      const page = await open(example)
      await expect.poll(() => focused(page)).toBe('pick them')
      await page.setInputFiles('input[type=file]', paths())
      await page.route(PARTS, () => undefined)
      await page.focus('button:has-text("Upload 2 clips")')
      await page.keyboard.press('Enter')
      await page.waitForSelector('[role=status]:has-text("uploading:")')
      expect(await focused(page)).toBe('Upload 2 clips')
      await page.focus('button:has-text("Stop")')
      await page.keyboard.press('Enter')
      await page.locator('button:has-text("Stop")[aria-disabled=true]').waitFor()
      expect(await focused(page)).toBe('Stop')
    })

    test('fits a phone, however long a name is and however large the text', async () => {
      const page = await open(example)
      await page.setViewportSize({ width: 320, height: 700 })
      await page.evaluate(() => (document.documentElement.style.fontSize = '200%'))
      const name = `${'swing_of_the_night_'.repeat(10)}.mp4`
      await page.setInputFiles('input[type=file]', { name, mimeType: 'video/mp4', buffer: Buffer.alloc(1000) })
      const width = () => page.evaluate(() => document.documentElement.scrollWidth)
      await page.waitForSelector('li')
      expect(await width()).toBe(320)
      await page.click('button:has-text("Upload 1 clip")')
      await page.waitForSelector('li[data-state=confirmed]')
      expect(await width()).toBe(320)
    })

    test('pauses with nothing in flight, and goes on', async () => {
      const page = await open(example)
      await page.setInputFiles('input[type=file]', paths())
      await page.route(PARTS, () => undefined)
      await page.click('button:has-text("Upload 2 clips")')
      await page.waitForSelector('[role=status]:has-text("uploading:")')
      await page.click('button:has-text("Pause")')
      await page.waitForSelector('[role=status]:has-text("paused:")')
      await page.waitForSelector('li:has-text("paused")')
      expect(await page.locator('li:has-text("uploading")').count()).toBe(0)
      await page.unroute(PARTS)
      await page.click('button:has-text("Go on")')
      await page.waitForSelector('[role=status]:has-text("done: 2 of 2 confirmed")')
    })

    const earlier = (page: Page) =>
      page.getByRole('group', { name: 'An earlier upload, 1 of 2 confirmed' }).locator('input')
    const LATE = /partNumber=2/
    /** Uploads two clips. One is confirmed, and the other stays on its way. */
    const uploadOneOfTwo = async (page: Page) => {
      await page.setInputFiles('input[type=file]', paths())
      await page.route(LATE, () => undefined)
      await page.click('button:has-text("Upload 2 clips")')
      await page.waitForSelector('li[data-state=confirmed]')
    }

    test('goes on after a reload with what is not confirmed, when its clips are picked again', async () => {
      const page = await open(example)
      await uploadOneOfTwo(page)
      await page.reload()
      await page.unroute(LATE)
      await connect(page)
      await page.setViewportSize({ width: 360, height: 700 })
      await earlier(page).waitFor()
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
      await earlier(page).setInputFiles(paths().slice(1))
      await page.getByRole('alert').getByText('swing-01.mp4').waitFor()
      expect(await violations(page)).toEqual([])

      await earlier(page).setInputFiles(paths())

      await page.waitForSelector('[role=status]:has-text("done: 2 of 2 confirmed")')
      expect(await page.getByRole('group', { name: 'An earlier upload' }).count()).toBe(0)
      expect(await storedSizes()).toEqual(sizes)
    })

    test('says which clips an earlier upload misses, takes them one by one, and says of another clip that it is none', async () => {
      const page = await open(example)
      await page.setInputFiles('input[type=file]', paths())
      await page.route(PARTS, () => undefined)
      await page.click('button:has-text("Upload 2 clips")')
      await page.waitForSelector('[role=status]:has-text("uploading:")')
      await page.reload()
      await page.unroute(PARTS)
      await connect(page)
      const card = page.getByRole('group', { name: 'An earlier upload, 0 of 2 confirmed' })
      await card.getByText('pick these again: swing-01.mp4, swing-02.mp4').waitFor()
      await card.locator('input').setInputFiles({ name: 'other.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(9) })
      await card.getByRole('alert').getByText('still needs these, as they were: swing-01.mp4, swing-02.mp4').waitFor()
      await card.locator('input').setInputFiles(paths().slice(1))
      await card.getByText(/pick these again: swing-01\.mp4$/).waitFor()
      expect(await card.getByRole('alert').textContent()).toBe('')

      await card.locator('input').setInputFiles(paths().slice(0, 1))

      await page.waitForSelector('[role=status]:has-text("done: 2 of 2 confirmed")')
    })

    test('names a clip that failed once, and tries it again in the upload in which it failed', async () => {
      const page = await open(example)
      const sent = new Set<string>()
      const sessions: string[] = []
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith('/upload_videos')) sessions.push(request.url())
      })
      await page.setInputFiles('input[type=file]', paths())
      const isLate = /partNumber=2/
      await page.route(isLate, (route) =>
        route.fulfill({ status: 400, headers: { 'access-control-allow-origin': '*' } }),
      )
      await page.click('button:has-text("Upload 2 clips")')
      await page.waitForSelector('[role=status]:has-text("not finished: 1 of 2 confirmed")')
      expect(await page.locator('li[data-state=failed]').textContent()).toMatch(
        /^swing-01\.mp4 +failed: The storage refused/,
      )
      expect(await page.getByRole('group', { name: 'An earlier upload' }).count()).toBe(0)

      await page.unroute(isLate)
      page.on('request', (request) => {
        if (request.method() === 'PUT') sent.add(new URL(request.url()).pathname)
      })
      await page.click('button:has-text("Try again")')
      await page.waitForSelector('[role=status]:has-text("done: 2 of 2 confirmed")')

      expect(sessions.length).toBe(1)
      expect(sent.size).toBe(1)
      expect(await storedSizes()).toEqual(sizes)
    })

    test('uploads what was stopped without what is confirmed, and says of what is added meanwhile that it waits', async () => {
      const page = await open(example)
      await uploadOneOfTwo(page)
      await page.setInputFiles('input[type=file]', { name: 'late.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(9) })
      await page.getByRole('alert').getByText('an upload is under way').waitFor()
      await page.click('button:has-text("Stop and keep 1")')
      await page.waitForSelector('[role=status]:has-text("stopped: 1 of 2 confirmed")')
      expect(await page.locator('li').allTextContents()).toEqual(['swing-01.mp4  stopped', 'swing-02.mp4  confirmed'])

      await page.unroute(LATE)
      await page.click('button:has-text("Upload 1 clip")')

      await page.waitForSelector('[role=status]:has-text("done: 1 of 1 confirmed")')
    })

    test('tells a screen reader of quarters alone, however many clips there are', async () => {
      const page = await open(example)
      await page.evaluate(() => {
        const heard: string[] = []
        const status = document.querySelector('[role=status]')!
        new MutationObserver(() => heard.push(status.textContent)).observe(status, {
          ...{ subtree: true, childList: true, characterData: true },
        })
        Object.assign(globalThis, { heard })
      })
      const names = Array.from({ length: 8 }, (_, index) => `swing-${String(index)}.mp4`)
      const clip = { mimeType: 'video/mp4', buffer: Buffer.alloc(1000) }
      await page.setInputFiles(
        'input[type=file]',
        names.map((name) => ({ ...clip, name })),
      )
      const held: (() => Promise<void>)[] = []
      await page.route(PARTS, async (route) => {
        if (route.request().method() === 'PUT') held.push(() => route.continue())
        else await route.continue()
      })
      await page.click('button:has-text("Upload 8 clips")')
      const confirmed = page.locator('li[data-state=confirmed]')
      for (let count = 1; count <= names.length; count += 1) {
        await expect.poll(() => held.length).toBeGreaterThan(0)
        await held.shift()!()
        await expect.poll(() => confirmed.count()).toBe(count)
        // Progress is told a few times a second, and then as it is: a quarter that nothing follows is told of.
        if (count % 2 === 0 && count < names.length)
          await page.waitForSelector(`[role=status]:has-text("uploading: ${String(count)}")`)
      }
      await page.waitForSelector('[role=status]:has-text("done: 8 of 8 confirmed")')

      const heard = await page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard)
      const counts = heard.flatMap((words) => /^uploading: (\d+)/.exec(words)?.[1] ?? [])
      expect([...new Set(counts)]).toEqual(['0', '2', '4', '6'])
    })

    test('refuses what is no clip, and does not deliver twice what is delivered', async () => {
      const page = await open(example)
      await page.waitForSelector('[role=status]:has-text("Nothing uploaded yet")')
      const notes = { name: 'notes.pdf', mimeType: 'application/pdf', buffer: Buffer.from('notes') }
      const empty = { name: 'swing-00.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(0) }
      await page.setInputFiles('input[type=file]', [notes, empty])
      await page.waitForSelector('[role=alert]:has-text("notes.pdf, swing-00.mp4")')
      expect(await page.locator('li').count()).toBe(0)

      await page.setInputFiles('input[type=file]', paths())
      await page.locator('[role=alert]').waitFor({ state: 'detached' })
      await page.click('button:has-text("Upload 2 clips")')
      await page.waitForSelector('[role=status]:has-text("done: 2 of 2 confirmed")')
      expect(await page.locator('button:has-text("Upload 2 clips")').count()).toBe(0)
      expect(await page.getByRole('button', { name: 'Upload clips', exact: true }).isDisabled()).toBe(true)

      await page.setInputFiles('input[type=file]', { ...notes, name: 'swing-03.mp4' })
      await page.waitForSelector('button:has-text("Upload 1 clip")')
      expect(await page.locator('li').allTextContents()).toEqual(['swing-03.mp4'])
    })

    test('says in words that the key is refused', async () => {
      const page = await openPage(browser, example.url)
      await page.fill('[name=service]', service.url)
      await page.fill('[name=key]', 'wrong')
      await page.click('button:has-text("Connect")')
      await page.setInputFiles('input[type=file]', paths())
      await page.click('button:has-text("Upload 2 clips")')
      await page.waitForSelector('section [role=alert]')

      expect(await page.textContent('section [role=alert]')).toContain('credentials')
      expect(await page.textContent('[role=status]')).toMatch(/^failed/)
    })
  })

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

    test.each(['light', 'dark'] as const)('passes the accessibility check in every state, %s', async (colorScheme) => {
      const page = await openPage(browser, example.url)
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

    test('says who is not available, and goes on by itself', async () => {
      const page = await open(example)
      await page.locator('input.uppy-Dashboard-input').first().setInputFiles(paths().slice(1))
      await upload(page)
      await status(page, 'Complete')
      const isFarEnd = ({ origin }: URL): boolean => origin !== new URL(page.url()).origin
      await page.route(isFarEnd, (route) => route.abort('connectionrefused'))
      await page.click('.uppy-DashboardContent-addMore')
      await page.locator('input.uppy-Dashboard-input').first().setInputFiles(paths().slice(0, 1))
      await upload(page)
      await page
        .getByText(/^The service is not available\. The next try is at /)
        .first()
        .waitFor()

      await page.unroute(isFarEnd)

      await page.waitForFunction(() => document.querySelectorAll('.uppy-Dashboard-Item.is-complete').length === 2)
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
      const journal = (page: Page): Promise<string> =>
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

      test('heeds a pause', async () => {
        const page = await open(example)
        const { sent } = await clickMeanwhile(page, 'Pause')
        await expect.poll(() => journal(page)).toContain('session.begun')
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
      await page.locator('input.uppy-Dashboard-input').first().setInputFiles(paths().slice(0, 1))
      await upload(page)
      await status(page, 'Complete')

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
