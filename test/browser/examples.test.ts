// The examples, built as their users build them and used as a coach would: drop, watch, pause, go on, fail, retry, cancel.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { violations } from './rig/accessibility.ts'
import { serveExample, type ServedExample } from './rig/built-example.ts'
import { chromiumPath, openPage } from './rig/chromium.ts'
import { useExamples } from './rig/examples.ts'

const PARTS = /X-Amz-Signature/i
const HASH_WORKER = /hash-worker/

describe.skipIf(chromiumPath === undefined)('the example', () => {
  const examples = useExamples()
  const { paths, open, connect, focused, drop, storedSizes, sizes } = examples

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
      const page = await openPage(examples.browser(), example.url)
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
      const page = await openPage(examples.browser(), example.url)
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

    test('begins a name where its row begins, also one that is written from right to left', async () => {
      const page = await open(example)
      const clip = { name: 'תנועה של שחקן.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(1000) }
      await page.setInputFiles('input[type=file]', clip)
      const start = () =>
        page.locator('li').evaluate((row) => {
          const text = document.createRange()
          text.selectNodeContents(row.querySelector('bdi')!)
          return text.getBoundingClientRect().left - row.getBoundingClientRect().left
        })
      expect(await start()).toBeLessThan(2)
      await page.click('button:has-text("Upload 1 clip")')
      await page.waitForSelector('li[data-state=confirmed]')
      expect(await start()).toBeLessThan(2)
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

    test('goes on with an earlier upload when its clips are dropped again, sends nothing of what is confirmed, and keeps what is new', async () => {
      const page = await open(example)
      await drop(page, 'section')
      await page.route(LATE, () => undefined)
      await page.click('button:has-text("Upload 2 clips")')
      await page.waitForSelector('li[data-state=confirmed]')
      await page.reload()
      await page.unroute(LATE)
      await connect(page)
      await earlier(page).waitFor({ state: 'attached' })
      const created: string[] = []
      const sent = new Set<string>()
      page.on('request', (request) => {
        if (request.method() === 'POST') created.push(request.url())
        if (request.method() === 'PUT') sent.add(new URL(request.url()).pathname)
      })

      await drop(page, 'section')
      await page.setInputFiles('section > .drop input', {
        ...{ name: 'swing-03.mp4', mimeType: 'video/mp4', buffer: Buffer.from('of today') },
      })
      await page.click('button:has-text("Upload 3 clips")')
      await page.waitForSelector('[role=status]:has-text("done: 2 of 2 confirmed")')

      expect([created.length, sent.size]).toEqual([0, 1])
      expect(await page.getByRole('group', { name: 'An earlier upload' }).count()).toBe(0)
      expect(await page.getByRole('listitem').last().innerText()).toBe('swing-03.mp4: for the next upload')
      await page.click('button:has-text("Upload 1 clip")')
      await page.waitForSelector('[role=status]:has-text("done: 1 of 1 confirmed")')
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

      // A file of another kind that is dropped by mistake takes nothing away.
      const notes = { name: 'notes.pdf', mimeType: 'application/pdf', buffer: Buffer.from('notes') }
      await page.setInputFiles('input[type=file]', notes)
      await page.waitForSelector('[role=alert]:has-text("notes.pdf")')

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

    test('says that it does not add a clip of another camera with the name of one that is here', async () => {
      const page = await open(example)
      const clip = { name: 'swing-01.mp4', mimeType: 'video/mp4', buffer: Buffer.from('of the first camera') }
      await page.setInputFiles('input[type=file]', clip)
      await page.waitForSelector('button:has-text("Upload 1 clip")')
      const notes = { name: 'notes.pdf', mimeType: 'application/pdf', buffer: Buffer.from('notes') }
      await page.setInputFiles('input[type=file]', [{ ...clip, buffer: Buffer.from('of the second') }, notes])

      await page.waitForSelector('[role=alert]:has-text("a clip of this name is here already: swing-01.mp4.")')
      await page.waitForSelector('[role=alert]:has-text("are taken: notes.pdf.")')
      expect(await page.locator('li').allTextContents()).toEqual(['swing-01.mp4'])
    })

    test('says in words that the key is refused', async () => {
      const page = await openPage(examples.browser(), example.url)
      await page.fill('[name=service]', examples.service().url)
      await page.fill('[name=key]', 'wrong')
      await page.click('button:has-text("Connect")')
      await page.setInputFiles('input[type=file]', paths())
      await page.click('button:has-text("Upload 2 clips")')
      await page.waitForSelector('section [role=alert]')

      expect(await page.textContent('section [role=alert]')).toContain('credentials')
      expect(await page.textContent('[role=status]')).toMatch(/^failed/)
    })
  })
})
