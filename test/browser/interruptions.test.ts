// What happens to tabs and lines in real life, in a real Chromium: a tab that is killed, handles that outlive a reload, a
// slow line, and two tabs that share the connections to a host.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { pattern } from '../../src/testing/transport/requests.ts'
import { API_KEY, startUnderTest, type ServiceUnderTest } from '../service/service-under-test.ts'
import { chromiumPath, launchChromium } from './rig/chromium.ts'
import { bundleScripts, servePages, type PageServer } from './rig/page-server.ts'
import { openContext, openTab } from './rig/tabs.ts'

const MIB = 1024 * 1024

describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
  let browser: Browser
  let pages: PageServer
  let service: ServiceUnderTest
  let folder: string
  let path: string

  beforeAll(async () => {
    pages = await servePages(await bundleScripts())
    browser = await launchChromium()
    service = await startUnderTest({ now: Date.now, analysisCompletesAfterMs: 1 })
    folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-interruptions-'))
    path = join(folder, 'swing.mp4')
    await writeFile(path, pattern(11 * MIB))
  })
  afterAll(async () => {
    await browser.close()
    await Promise.all([pages.close(), service.close(), rm(folder, { recursive: true })])
  })

  const access = () => ({ baseUrl: service.url, apiKey: API_KEY })
  const begin = (page: Page, kind: 'picked' | 'handle', journalName?: string) =>
    page.evaluate(
      async ({ baseUrl, apiKey, kind: of, name }) => {
        const journal = name === undefined ? {} : { journal: rig.indexedDbJournal({ name }) }
        const uplink = rig.createUplink({ baseUrl, credentials: { apiKey }, ...journal })
        const file = document.querySelector<HTMLInputElement>('#files')!.files![0]!
        let source = rig.blobSource(file)
        if (of === 'handle') {
          // A handle of the origin's own files stands for one that a person picked.
          const handle = await (await navigator.storage.getDirectory()).getFileHandle('swing.mp4', { create: true })
          const writable = await handle.createWritable()
          await writable.write(file)
          await writable.close()
          source = await rig.fileFromHandle(handle)
        }
        globalThis.upload = uplink.uploadVideos({
          files: [{ source, frameRate: 240 }],
          ...{ movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 },
        })
        return globalThis.upload.key
      },
      { ...access(), kind, name: journalName },
    )
  /** Resumes with what was picked, or with what the browser remembers. Rejects while another tab has the session. */
  const resume = (page: Page, key: string) =>
    page.evaluate(
      async ({ baseUrl, apiKey, key: of }) => {
        const uplink = rig.createUplink({ baseUrl, credentials: { apiKey } })
        const files = [...document.querySelector<HTMLInputElement>('#files')!.files!]
        globalThis.upload = await uplink.resume(of, { files })
      },
      { ...access(), key },
    )
  const status = (page: Page) => page.evaluate(async () => (await globalThis.upload.done()).status)
  const isLatePart = (url: URL): boolean => Number(url.searchParams.get('partNumber') ?? 1) > 1
  /** Until the first part is confirmed, with the others held. */
  async function beginAndHold(page: Page, kind: 'picked' | 'handle', journalName?: string): Promise<string> {
    await page.setInputFiles('#files', path)
    await page.route(isLatePart, () => undefined)
    const key = await begin(page, kind, journalName)
    await page.waitForFunction((of) => globalThis.upload.progress().confirmedBytes === of, 5 * MIB)
    return key
  }
  /** How many handles each database of the page holds. */
  const countHandles = (page: Page) =>
    page.evaluate(async () => {
      const asked = <T>(request: IDBRequest<T>) =>
        new Promise<T>((resolve) => (request.onsuccess = () => resolve(request.result)))
      const counts: Record<string, number> = {}
      for (const { name = '' } of await indexedDB.databases()) {
        const database = await asked(indexedDB.open(name))
        counts[name] = await asked(database.transaction('handles').objectStore('handles').count())
        database.close()
      }
      return counts
    })
  function countPuts(page: Page): { count: number } {
    const puts = { count: 0 }
    page.on('request', (request) => (puts.count += request.method() === 'PUT' ? 1 : 0))
    return puts
  }

  test('another tab goes on where a killed one was, and sends no confirmed part again', async () => {
    const context = await openContext(browser)
    const tab = await openTab(context, pages.url)
    const key = await beginAndHold(tab, 'picked')
    const crashed = tab.waitForEvent('crash')
    await Promise.all([crashed, tab.goto('chrome://crash').catch(() => undefined)])

    const next = await openTab(context, pages.url)
    await next.setInputFiles('#files', path)
    const puts = countPuts(next)
    // The browser gives the lease of the dead in its own time.
    await vi.waitFor(() => resume(next, key), 30_000)

    expect(await status(next)).toBe('confirmed')
    expect(puts.count).toBe(2)
  })

  test('a reload needs no picking where the browser has kept the handles', async () => {
    const tab = await openTab(await openContext(browser), pages.url)
    const key = await beginAndHold(tab, 'handle')
    await tab.reload()
    await tab.unroute(isLatePart)
    const missing = await tab.evaluate(
      async ({ baseUrl, apiKey, key: of }) => {
        const uplink = rig.createUplink({ baseUrl, credentials: { apiKey } })
        return [await uplink.missingFiles(of), await uplink.allowFiles(of)]
      },
      { ...access(), key },
    )
    expect(missing).toEqual([[], []])

    await resume(tab, key)

    expect(await status(tab)).toBe('confirmed')
  })

  test.each([undefined, 'uploads of Ann'])(
    'a later life that discards a session leaves no handle of it: journal %s',
    async (name) => {
      const tab = await openTab(await openContext(browser), pages.url)
      const key = await beginAndHold(tab, 'handle', name)
      const kept = { [name ?? 'mocap-uplink']: 1 }
      expect(await countHandles(tab)).toEqual(kept)
      await tab.reload()
      await tab.evaluate(
        async ({ baseUrl, apiKey, name: of, key }) => {
          const journal = of === undefined ? {} : { journal: rig.indexedDbJournal({ name: of }) }
          await rig.createUplink({ baseUrl, credentials: { apiKey }, ...journal }).discardSession(key)
        },
        { ...access(), name, key },
      )

      await expect.poll(() => countHandles(tab)).toEqual({ [name ?? 'mocap-uplink']: 0 })
    },
  )

  test('many handles are kept a hundred at a time, so that the page gets its turn in between', async () => {
    const tab = await openTab(await openContext(browser), pages.url)
    const most = await tab.evaluate(async ({ baseUrl, apiKey }) => {
      const handle = await (await navigator.storage.getDirectory()).getFileHandle('swing.mp4', { create: true })
      const writable = await handle.createWritable()
      await writable.write('swing')
      await writable.close()
      const puts = new Map<unknown, number>()
      const put = Reflect.get(IDBObjectStore.prototype, 'put')
      IDBObjectStore.prototype.put = function (...given) {
        if (this.name === 'handles') puts.set(this.transaction, (puts.get(this.transaction) ?? 0) + 1)
        return put.apply(this, given)
      }
      const uplink = rig.createUplink({ baseUrl, credentials: { apiKey } })
      const files = await Promise.all(
        Array.from({ length: 250 }, async () => ({ source: await rig.fileFromHandle(handle), frameRate: 240 })),
      )
      const session = { movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 }
      uplink.uploadVideos({ files, ...session }).pause()
      const kept = (): number => [...puts.values()].reduce((sum, each) => sum + each, 0)
      while (kept() < 250) await new Promise((resolve) => setTimeout(resolve))
      return Math.max(...puts.values())
    }, access())

    expect(most).toBe(100)
  })

  test('files without handles cost no transactions beyond the one that opens the database', async () => {
    const tab = await openTab(await openContext(browser), pages.url)
    const opened = await tab.evaluate(async ({ baseUrl, apiKey }) => {
      let opened = 0
      const transaction = Reflect.get(IDBDatabase.prototype, 'transaction')
      IDBDatabase.prototype.transaction = function (stores, ...given) {
        if (stores === 'handles') opened += 1
        return transaction.call(this, stores, ...given)
      }
      const forgotten = new Promise((resolve) => {
        const remove = Reflect.get(IDBObjectStore.prototype, 'delete')
        IDBObjectStore.prototype.delete = function (...given) {
          if (this.name === 'handles') resolve(undefined)
          return remove.apply(this, given)
        }
      })
      const uplink = rig.createUplink({ baseUrl, credentials: { apiKey } })
      const files = Array.from({ length: 101 }, (_, index) => ({
        ...{ source: rig.blobSource(new File(['swing'], `swing-${index}.mp4`)), frameRate: 240 },
      }))
      const session = { movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 }
      uplink.uploadVideos({ files, ...session })
      await forgotten
      return opened
    }, access())

    // The one that opens the database, and the one that forgets what was kept.
    expect(opened).toBe(2)
  })

  test('a slow line is shown as it goes, and is no failure', async () => {
    const tab = await openTab(await openContext(browser), pages.url)
    await tab.setInputFiles('#files', path)
    const puts = countPuts(tab)
    const devTools = await tab.context().newCDPSession(tab)
    const run = (bytesPerSecond: number) =>
      devTools.send('Network.emulateNetworkConditions', {
        ...{ offline: false, latency: 40, downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond },
      })
    // So slowly that it is still on its way when enough of it was shown, however seldom a busy machine shows anything.
    await run(MIB / 4)
    await begin(tab, 'picked')
    await tab.waitForFunction((partBytes) => {
      const seen = ((globalThis as { seen?: Set<number> }).seen ??= new Set())
      const { sentBytes } = globalThis.upload.progress()
      if (sentBytes % partBytes !== 0) seen.add(sentBytes)
      return seen.size > 3
    }, 5 * MIB)
    await run(-1)

    expect(await status(tab)).toBe('confirmed')
    expect(puts.count).toBe(3)
  })

  test('a page that is taken out of the freezer hears of it, until it stops listening', async () => {
    const page = await openTab(await openContext(browser), pages.url)

    const heard = await page.evaluate(() => {
      let count = 0
      const uplink = { probeNow: () => void (count += 1) }
      const stop = rig.listenForNetwork(uplink)
      // A page that is seen is never frozen. By the standard this one is told to the document, and does not bubble.
      const thaw = (): number => (document.dispatchEvent(new Event('resume')), count)
      const before = thaw()
      stop()
      return [before, thaw()]
    })

    expect(heard).toEqual([1, 1])
  })

  test('two tabs share five places to a host, and leave the sixth connection to the page', async () => {
    const waiting: ServerResponse[] = []
    const seen = { most: 0, total: 0 }
    const server = createServer((request, response) => {
      response.setHeader('access-control-allow-origin', '*')
      response.setHeader('access-control-allow-methods', 'PUT')
      request.resume()
      if (request.method !== 'PUT') return void response.writeHead(204).end()
      seen.most = Math.max(seen.most, waiting.push(response))
      seen.total += 1
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
    const context = await openContext(browser)
    const tabs = [await openTab(context, pages.url), await openTab(context, pages.url)]
    const sent = tabs.map((tab) =>
      tab.evaluate(async (of) => {
        const uplink = rig.createUplink({ baseUrl: of, credentials: { apiKey: 'not used' }, concurrency: 10 })
        const units = { minBytes: 0, maxBytes: 3, maxCount: 10, multipleOfBytes: 1 }
        const upload = uplink.upload({
          files: [{ source: rig.blobSource('a', new Blob(['abc'.repeat(10)])) }],
          partSizeBytes: 3,
          protocol: {
            traits: { units, order: 'any', addressing: 'session', batchSize: 1 },
            create: ([file]) => {
              const addresses = Array.from({ length: file!.partCount }, (_, at) => `${of}/${String(at)}`)
              return Promise.resolve({ sessionId: 's', files: [{ fileIndex: 0, addresses }] })
            },
            request: () => ({ method: 'PUT', headers: {} }),
            judge: (_reply, unit) => ({ kind: 'received', acceptedEnd: unit.end }),
          },
        })
        return (await upload.done()).status
      }, origin),
    )
    await vi.waitUntil(() => waiting.length === 5, 30_000)

    // A call of the page itself gets through while all places are taken.
    expect(await tabs[0]!.evaluate(async (of) => (await fetch(of, { method: 'GET' })).status, origin)).toBe(204)
    const answering = vi.waitUntil(() => {
      for (const response of waiting.splice(0)) response.writeHead(200).end()
      return seen.total === 20
    }, 30_000)

    await answering
    for (const response of waiting.splice(0)) response.writeHead(200).end()
    expect(await Promise.all(sent)).toEqual(['confirmed', 'confirmed'])
    expect(seen).toEqual({ most: 5, total: 20 })
  })
})
