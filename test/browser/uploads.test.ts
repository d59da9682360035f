// Whole uploads in a real Chromium against the service on another origin: the three flows, a reload in the middle, two
// tabs, no network, a cancel, and the answers that a browser hides.

import { createHash } from 'node:crypto'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { pattern } from '../../src/testing/transport/requests.ts'
import { API_KEY, startUnderTest, type ServiceUnderTest } from '../service/service-under-test.ts'
import { chromiumPath, launchChromium } from './rig/chromium.ts'
import { bundleScripts, servePages, type PageServer } from './rig/page-server.ts'
import { openContext, openTab } from './rig/tabs.ts'

const MIB = 1024 * 1024

declare global {
  var upload: ReturnType<ReturnType<typeof rig.createUplink>['uploadVideos']>
}

describe.skipIf(chromiumPath === undefined)('in Chromium, across origins', () => {
  let browser: Browser
  let pages: PageServer
  let service: ServiceUnderTest
  let folder: string
  const contents = new Map<string, Uint8Array>()

  beforeAll(async () => {
    pages = await servePages(await bundleScripts())
    browser = await launchChromium()
    service = await startUnderTest({ now: Date.now, analysisCompletesAfterMs: 1 })
    folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-browser-'))
    for (const [name, bytes] of [
      ['swing-01.mp4', pattern(11 * MIB + 3)],
      ['swing-02.mp4', pattern(6 * MIB)],
    ] as const) {
      contents.set(name, bytes)
      await writeFile(join(folder, name), bytes)
    }
  })
  afterAll(async () => {
    await browser.close()
    await Promise.all([pages.close(), service.close(), rm(folder, { recursive: true })])
  })

  const pick = (page: Page) =>
    page.setInputFiles(
      '#files',
      [...contents.keys()].map((name) => join(folder, name)),
    )
  /** A browser looks at what was picked in its own time; what changes before it has looked is the file that was picked. */
  const haveBeenLookedAt = (page: Page) =>
    page.evaluate(async () => {
      await Promise.all(
        Array.from(document.querySelector<HTMLInputElement>('#files')!.files!, (file) => file.arrayBuffer()),
      )
    })
  /** Begins an upload of the picked files; gives its key. */
  const begin = (page: Page) =>
    page.evaluate(
      ({ baseUrl, apiKey }) => {
        const uplink = rig.createUplink({ baseUrl, credentials: { apiKey } })
        const files = [...document.querySelector<HTMLInputElement>('#files')!.files!]
        globalThis.upload = uplink.uploadVideos({
          files: files.map((file) => ({ source: rig.blobSource(file), frameRate: 240 })),
          ...{ movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 },
        })
        return globalThis.upload.key
      },
      { baseUrl: service.url, apiKey: API_KEY },
    )
  const outcome = (page: Page) =>
    page.evaluate(() =>
      globalThis.upload.done().then(
        ({ status, files }) => ({ status, message: '', files: files.map((file) => file.status) }),
        (error: unknown) => ({ status: (error as { code: string }).code, message: String(error), files: [] }),
      ),
    )
  async function expectStored(): Promise<void> {
    const { items } = (await service.call('GET', '/stored')).json as {
      items: { file_name: string; url: string; kind: string }[]
    }
    for (const [name, bytes] of contents) {
      const item = items.findLast((each) => each.file_name === name)
      const stored = new Uint8Array(await (await fetch(item!.url)).arrayBuffer())
      expect(createHash('md5').update(stored).digest('hex')).toBe(createHash('md5').update(bytes).digest('hex'))
    }
  }
  /** The second part and those behind it are kept from leaving, until `let go` is called. */
  async function holdParts(page: Page): Promise<() => Promise<void>> {
    const isLatePart = (url: URL): boolean => Number(url.searchParams.get('partNumber') ?? 1) > 1
    await page.route(isLatePart, () => undefined)
    return () => page.unroute(isLatePart)
  }

  test('uploads videos', async () => {
    const page = await openTab(await openContext(browser), pages.url)
    await pick(page)
    await begin(page)

    expect(await outcome(page)).toEqual({ status: 'confirmed', message: '', files: ['confirmed', 'confirmed'] })
    await expectStored()
  })

  test('uploads captures, and requests an analysis', async () => {
    const page = await openTab(await openContext(browser), pages.url)
    await pick(page)
    const found = await page.evaluate(
      async ({ baseUrl, apiKey }) => {
        const uplink = rig.createUplink({ baseUrl, credentials: { apiKey } })
        const files = [...document.querySelector<HTMLInputElement>('#files')!.files!]
        const capture = await uplink
          .uploadCaptures({
            files: files.map((file) => ({ source: rig.blobSource(file) })),
            ...{ orgId: 'org-1', mocapTypeId: 67, sessionTypeId: 1, sessionDate: '2026-11-19', frameRate: 240 },
          })
          .done()
        const primary = { movementTypeId: 1, domHand: 'RHA' } as const
        const analysis = await uplink.requestAnalysis({ name: 'From a page', primary }).done()
        return { capture: capture.status, analysis: analysis.status }
      },
      { baseUrl: service.url, apiKey: API_KEY },
    )

    expect(found).toEqual({ capture: 'confirmed', analysis: 'completed' })
  })

  test('goes on after a reload with the files picked again, and sends no confirmed part again', async () => {
    const context = await openContext(browser)
    const page = await openTab(context, pages.url)
    await pick(page)
    const letGo = await holdParts(page)
    const key = await begin(page)
    // The first part of each file; the others are held.
    await page.waitForFunction(() => globalThis.upload.progress().confirmedBytes === 10 * 1024 * 1024)
    await page.reload()
    await letGo()

    const missing = await page.evaluate(
      async ({ baseUrl, apiKey, key: of }) => {
        const uplink = rig.createUplink({ baseUrl, credentials: { apiKey } })
        const code = await uplink.resume(of).catch((error: unknown) => (error as { code: string }).code)
        return { code, missing: await uplink.missingFiles(of) }
      },
      { baseUrl: service.url, apiKey: API_KEY, key },
    )
    expect(missing.code).toBe('ERR_UPLOAD_SOURCE_READ')
    expect(missing.missing.map(({ name, how }) => [name, how])).toEqual([
      ['swing-01.mp4', 'pick'],
      ['swing-02.mp4', 'pick'],
    ])

    await pick(page)
    const puts: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'PUT') puts.push(request.url())
    })
    const resumed = await page.evaluate(
      async ({ baseUrl, apiKey, key: of }) => {
        const uplink = rig.createUplink({ baseUrl, credentials: { apiKey } })
        const files = [...document.querySelector<HTMLInputElement>('#files')!.files!]
        globalThis.upload = await uplink.resume(of, { files })
        return globalThis.upload.progress().confirmedBytes
      },
      { baseUrl: service.url, apiKey: API_KEY, key },
    )

    expect(resumed).toBe(10 * MIB)
    expect(await outcome(page)).toMatchObject({ status: 'confirmed' })
    const parts = Math.ceil((11 * MIB + 3) / (5 * MIB)) + Math.ceil((6 * MIB) / (5 * MIB))
    expect(puts.length).toBe(parts - 2)
    await expectStored()
  })

  test('fails a file alone that was written to or taken away before the upload began, or written to while it goes out whole', async () => {
    const page = await openTab(await openContext(browser), pages.url)
    const names = ['one.action', 'two.action', 'three.action', 'four.action']
    for (const name of names) await writeFile(join(folder, name), pattern(2000))
    await page.setInputFiles(
      '#files',
      names.map((name) => join(folder, name)),
    )
    await haveBeenLookedAt(page)
    await writeFile(join(folder, 'three.action'), pattern(2001))
    await rm(join(folder, 'four.action'))
    // After it was planned and before it is sent.
    await page.route('**/mocap_session_file', async (route) => {
      if (route.request().method() === 'POST') await writeFile(join(folder, 'two.action'), pattern(2001))
      await route.continue()
    })
    const files = await page.evaluate(
      async ({ baseUrl, apiKey }) => {
        const uplink = rig.createUplink({ baseUrl, credentials: { apiKey } })
        const picked = [...document.querySelector<HTMLInputElement>('#files')!.files!]
        const report = await uplink
          .uploadCaptures({
            files: picked.map((file) => ({ source: rig.blobSource(file) })),
            ...{ orgId: 'org-1', mocapTypeId: 2, sessionTypeId: 1, sessionDate: '2026-11-19' },
          })
          .done()
        return report.files.map(({ name, status, error }) => [name, status, error?.code, error?.message ?? ''])
      },
      { baseUrl: service.url, apiKey: API_KEY },
    )

    const changed = ['failed', 'ERR_UPLOAD_SOURCE_CHANGED', expect.stringContaining('choose it again') as string]
    expect(files).toEqual([
      ['one.action', 'confirmed', undefined, ''],
      ['two.action', ...changed],
      ['three.action', ...changed],
      ['four.action', ...changed],
    ])
  })

  test('tells which of several files was written to, although they are looked at together', async () => {
    const page = await openTab(await openContext(browser), pages.url)
    const paths = ['a', 'b', 'c', 'd'].map((name) => join(folder, `${name}.action`))
    // More than comes with one read: what is found out is found out before the first byte.
    for (const path of paths) await writeFile(path, pattern(900_000))
    await page.setInputFiles('#files', paths)
    await haveBeenLookedAt(page)
    await page.exposeFunction('rigTouch', (index: number) => utimes(paths[index]!, 1_000_000_000, 1_000_000_000))

    const found = await page.evaluate(async () => {
      const touch = (globalThis as unknown as { rigTouch(index: number): Promise<void> }).rigTouch
      const codes = async (looks: readonly Promise<unknown>[]) =>
        (await Promise.allSettled(looks)).map((look) =>
          look.status === 'fulfilled' ? 'same' : (look.reason as { code: string }).code,
        )
      const sources = [...document.querySelector<HTMLInputElement>('#files')!.files!].map((file) =>
        rig.blobSource(file),
      )
      const all = await Promise.all(sources.map(async (source) => source.open(await source.describe())))
      for (const reader of all) reader.blob!(0, 900_000)
      await touch(1)
      const before = await codes(all.map(async (reader) => reader.verify()))
      const readers = all.filter((_, index) => index !== 1)
      const untouched = await codes(readers.map(async (reader) => reader.verify()))
      await touch(3)
      const after = await codes(readers.map(async (reader) => reader.verify()))
      return [before, untouched, after, await codes(readers.slice(0, 2).map(async (reader) => reader.verify()))]
    })

    const changed = 'ERR_UPLOAD_SOURCE_CHANGED'
    expect(found).toEqual([
      ['same', changed, 'same', 'same'],
      ['same', 'same', 'same'],
      ['same', 'same', changed],
      ['same', 'same'],
    ])
  })

  test.each(['a worker with XMLHttpRequest', 'a worker with fetch alone'])('uploads in %s', async (where) => {
    const page = await openTab(await openContext(browser), pages.url)
    const report = await page.evaluate(
      ({ baseUrl, apiKey, isBare }) => {
        const code = `
          onmessage = async ({ data: { url, baseUrl, apiKey, isBare } }) => {
            if (isBare) self.XMLHttpRequest = undefined
            await import(url)
            const uplink = rig.createUplink({ baseUrl, credentials: { apiKey } })
            const files = ['a', 'b'].map((name) => ({ source: rig.blobSource(name + '.action', new Blob([name.repeat(70000)])) }))
            const input = { orgId: 'org-1', mocapTypeId: 2, sessionTypeId: 1, sessionDate: '2026-11-19', files }
            uplink.uploadCaptures(input).done().then(({ status }) => postMessage(status), (error) => postMessage(String(error)))
          }`
        const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })), {
          type: 'module',
        })
        return new Promise((resolve) => {
          worker.onmessage = ({ data }) => resolve(data)
          worker.onerror = ({ message }) => resolve(message)
          worker.postMessage({ url: new URL('/page.js', location.href).href, baseUrl, apiKey, isBare })
        })
      },
      { baseUrl: service.url, apiKey: API_KEY, isBare: where.endsWith('alone') },
    )

    expect(report).toBe('confirmed')
  })

  test('cancels when a file is confirmed already: the service is told, and nothing is left to resume', async () => {
    const page = await openTab(await openContext(browser), pages.url)
    await pick(page)
    // The small file's parts leave; the second part of the other is kept.
    await page.route(
      (url) => Number(url.searchParams.get('partNumber') ?? 1) > 2,
      () => undefined,
    )
    await begin(page)
    await page.waitForFunction(() => globalThis.upload.progress().filesConfirmed === 1)
    const told = page.waitForRequest((request) => request.method() === 'DELETE')

    const report = await page.evaluate(async () => {
      const { status, isServiceTold, files } = await globalThis.upload.cancel()
      return { status, isServiceTold, files: files.map((file) => file.status) }
    })

    await told
    expect(report).toMatchObject({ status: 'cancelled', isServiceTold: true })
    expect(report.files).toContain('confirmed')
    expect(await outcome(page)).toMatchObject({ status: 'ERR_UPLOAD_CANCELLED' })
    const sessions = await page.evaluate(
      async ({ baseUrl, apiKey }) => {
        const uplink = rig.createUplink({ baseUrl, credentials: { apiKey } })
        return (await uplink.sessions()).map(({ status }) => status)
      },
      { baseUrl: service.url, apiKey: API_KEY },
    )
    expect(sessions).toEqual(['cancelled'])
  })

  test('lets no second tab drive a session', async () => {
    const context = await openContext(browser)
    const page = await openTab(context, pages.url)
    const other = await openTab(context, pages.url)
    await pick(page)
    const letGo = await holdParts(page)
    const key = await begin(page)
    await page.waitForFunction(() => globalThis.upload.state === 'uploading')
    await pick(other)

    const refused = await other.evaluate(
      async ({ baseUrl, apiKey, key: of }) => {
        const uplink = rig.createUplink({ baseUrl, credentials: { apiKey } })
        const files = [...document.querySelector<HTMLInputElement>('#files')!.files!]
        return uplink.resume(of, { files }).then(
          () => 'driven twice',
          (error: unknown) => String(error),
        )
      },
      { baseUrl: service.url, apiKey: API_KEY, key },
    )

    expect(refused).toContain('is being uploaded already, here or in another tab')
    await letGo()
    expect((await page.evaluate(() => globalThis.upload.cancel())).isServiceTold).toBe(true)
  })

  test('says which rule hides the ETag of a stored part, and sends the part no second time', async () => {
    const page = await openTab(await openContext(browser), pages.url)
    const puts: string[] = []
    const isPart = (url: URL): boolean => url.searchParams.has('partNumber')
    // What a bucket answers whose CORS rule allows the page and exposes nothing to it.
    const headers = { 'access-control-allow-origin': '*', etag: '"0cc175b9c0f1b6a831c399e269772661"' }
    await page.route(isPart, (route) => {
      puts.push(route.request().url())
      return route.fulfill({ status: 200, headers })
    })
    await page.setInputFiles('#files', join(folder, 'swing-02.mp4'))
    await begin(page)

    const { status, message } = await outcome(page)

    expect(status).toBe('ERR_UPLOAD_ETAG_MISSING')
    expect(message).toMatch(/swing-02\.mp4: .* Add ETag to ExposeHeaders of the CORS rule of the bucket, then resume\./)
    expect(new Set(puts).size).toBe(puts.length)
  })

  test('does not believe the browser that there is no network: it is asked', async () => {
    const context = await openContext(browser)
    await context.addInitScript(() => Object.defineProperty(navigator, 'onLine', { get: () => false }))
    const page = await openTab(context, pages.url)
    await pick(page)
    await begin(page)

    expect(await page.evaluate(() => navigator.onLine)).toBe(false)
    expect(await outcome(page)).toMatchObject({ status: 'confirmed', files: ['confirmed', 'confirmed'] })
  })

  test('waits without a network, and goes on as soon as the browser says that it is back', async () => {
    const context = await openContext(browser)
    const page = await openTab(context, pages.url)
    await pick(page)
    const letGo = await holdParts(page)
    // No probe goes by itself: what is due after half a second or more waits for as long as the upload does.
    await page.evaluate(() => {
      const { setTimeout: setReal } = window
      window.setTimeout = ((callback: () => void, delayMs = 0) => {
        const goOn = (): unknown => (globalThis.upload.state === 'waiting' ? setReal(goOn, 50) : callback())
        return setReal(delayMs < 500 ? callback : goOn, delayMs)
      }) as typeof setReal
    })
    await begin(page)
    await page.waitForFunction(() => globalThis.upload.progress().confirmedBytes > 0)
    await context.setOffline(true)
    await letGo()
    await page.evaluate(() => {
      globalThis.upload.pause()
      globalThis.upload.resume()
    })
    await page.waitForFunction(() => globalThis.upload.state === 'waiting')

    await context.setOffline(false)

    expect(await outcome(page)).toMatchObject({ status: 'confirmed' })
    await expectStored()
  })

  describe('a storage whose answers the browser hides', () => {
    async function storage(answer: RequestListener): Promise<string> {
      const server = createServer((request, response) => {
        request.resume()
        request.on('end', () => answer(request, response))
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => {
        server.closeAllConnections()
        server.close()
      })
      return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
    }
    async function send(origin: string): Promise<{ code: string; message: string; hidesHeaders?: boolean }> {
      const page = await openTab(await openContext(browser), pages.url)
      return page.evaluate(async (of) => {
        const transport = rig.tellingHiddenAnswers(rig.xhrTransport())
        const body = { kind: 'blob', lengthBytes: 3, blob: new Blob(['abc']) } as const
        const { signal } = new AbortController()
        try {
          const reply = await transport.send({
            method: 'PUT',
            url: `${of}/a?X-Amz-Signature=hush`,
            headers: {},
            body,
            signal,
          })
          return {
            code: String(reply.status),
            message: String(reply.headers['etag']),
            hidesHeaders: reply.hidesHeaders!,
          }
        } catch (error) {
          const { code, message } = error as { code: string; message: string }
          return { code, message }
        }
      }, origin)
    }
    const allowed = { 'access-control-allow-origin': '*', 'access-control-allow-methods': 'PUT' }

    test('is told from a network that is gone', async () => {
      const silent = await send(await storage((_request, response) => response.writeHead(200, { etag: '"e"' }).end()))
      const gone = await send('http://127.0.0.1:9')

      expect(silent.code).toBe('ERR_UPLOAD_ANSWER_HIDDEN')
      expect(silent.message).toContain('Its CORS rule must allow the origin http://127.0.0.1:')
      expect(silent.message).not.toContain('hush')
      expect(gone.code).toBe('ERR_UPLOAD_NETWORK')
    })

    test('gives a reply that says that headers may be hidden', async () => {
      const reply = await send(
        await storage((_request, response) => response.writeHead(200, { ...allowed, etag: '"e"' }).end()),
      )

      expect(reply).toEqual({ code: '200', message: 'undefined', hidesHeaders: true })
    })

    test('that redirects is refused, though the browser follows', async () => {
      const other = await storage((_request, response) => response.writeHead(200, allowed).end())
      const reply = await send(
        await storage((request, response) =>
          request.method === 'PUT'
            ? response.writeHead(307, { ...allowed, location: `${other}/b` }).end()
            : response.writeHead(204, allowed).end(),
        ),
      )

      expect(reply.code).toBe('ERR_UPLOAD_REDIRECT_REFUSED')
    })
  })
})
