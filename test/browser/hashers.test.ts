// MD5 and SHA-256 in a worker of a real page: the suite of all hashers, Blobs read in the worker, the policy of the page,
// and what they are for: parts that are verified, and another file under the same name that is noticed.

import { createHash } from 'node:crypto'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { hasherContract } from '../../src/testing/hasher-contract.ts'
import { pattern } from '../../src/testing/transport/requests.ts'
import { API_KEY, startUnderTest, type ServiceUnderTest } from '../service/service-under-test.ts'
import { chromiumPath, launchChromium, openPage } from './rig/chromium.ts'
import { hasherInPage } from './rig/hasher-proxy.ts'
import { bundleScripts, servePages, type PageServer } from './rig/page-server.ts'

const MIB = 1024 * 1024

describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
  let browser: Browser
  let scripts: ReadonlyMap<string, Uint8Array>
  let pages: PageServer
  let page: Page

  beforeAll(async () => {
    scripts = await bundleScripts()
    pages = await servePages(scripts)
    browser = await launchChromium()
    page = await browser.newPage()
    await page.goto(pages.url)
  })
  afterAll(async () => {
    await browser.close()
    await pages.close()
  })

  hasherContract('the MD5 of startHashers', () => ({ hasher: hasherInPage(() => page) }))

  test('reads Blobs in the worker, many at once, for MD5 and for SHA-256', async () => {
    const found = await page.evaluate(async (size) => {
      const { hasher, contentHasher } = await rig.startHashers()
      const blob = new Blob([new Uint8Array(size).fill(7)])
      const { signal } = new AbortController()
      const slices = Array.from({ length: 8 }, (_, at) => blob.slice(at * 1000, size - at))
      const md5 = await Promise.all(slices.map((slice) => hasher!.digestBlob(slice, signal)))
      return { md5, sha256: await contentHasher!.digestBlob(blob, signal) }
    }, 3 * MIB)

    const bytes = new Uint8Array(3 * MIB).fill(7)
    const slices = Array.from({ length: 8 }, (_, at) => bytes.subarray(at * 1000, bytes.byteLength - at))
    expect(found.md5).toEqual(slices.map((slice) => createHash('md5').update(slice).digest('hex')))
    expect(found.sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
  })

  test('stops at an abort with its reason, and what it used is clean for the next', async () => {
    const found = await page.evaluate(async (size) => {
      const { hasher } = await rig.startHashers()
      const blob = new Blob([new Uint8Array(size)])
      const endings: string[] = []
      for (let round = 0; round < 4; round += 1) {
        const controller = new AbortController()
        const running = hasher!.digestBlob(blob, controller.signal)
        controller.abort(new Error(`reason ${String(round)}`))
        endings.push(await running.catch((error: unknown) => (error as Error).message))
      }
      return { endings, after: await hasher!.digestBlob(new Blob(['abc']), new AbortController().signal) }
    }, 64 * MIB)

    expect(found).toEqual({
      endings: ['reason 0', 'reason 1', 'reason 2', 'reason 3'],
      after: '900150983cd24fb0d6963f7d28e17f72',
    })
  })

  test('says so of a Blob that cannot be read any more', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-hashers-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'swing.mp4'), pattern(MIB))
    await page.setInputFiles('#files', join(folder, 'swing.mp4'))
    await page.evaluate(() => document.querySelector<HTMLInputElement>('#files')!.files![0]!.slice(0, 1).arrayBuffer())
    await writeFile(join(folder, 'swing.mp4'), pattern(MIB + 1))

    const found = await page.evaluate(async () => {
      const { hasher } = await rig.startHashers()
      const file = document.querySelector<HTMLInputElement>('#files')!.files![0]!
      return hasher!
        .digestBlob(file, new AbortController().signal)
        .catch((error: unknown) => ({ ...(error as object) }))
    })

    expect(found).toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ', isRetryable: false })
  })

  test('runs under a strict policy, and where the policy forbids it there is none, reported', async () => {
    const policy = "default-src 'none'; img-src data:; connect-src 'self'; worker-src 'self'; script-src 'self'"
    const outcomes = []
    for (const granted of [
      `${policy} 'wasm-unsafe-eval'`,
      policy,
      policy.replace("worker-src 'self'", "worker-src 'none'"),
    ]) {
      const strict = await servePages(scripts, { 'content-security-policy': granted })
      onTestFinished(() => strict.close())
      const tab = await openPage(browser, strict.url)
      const reported: string[] = []
      tab.on('pageerror', (error) => reported.push(error.message))
      const names = await tab.evaluate(async () => Object.keys(await rig.startHashers()))
      const words = "worker-src 'self' and script-src 'wasm-unsafe-eval'"
      if (names.length === 0 && reported.length === 0) await tab.waitForEvent('pageerror')
      outcomes.push([names, reported.map((text) => text.includes(words))])
    }

    expect(outcomes).toEqual([
      [['hasher', 'contentHasher'], []],
      [[], [true]],
      [[], [true]],
    ])
  })

  describe('an upload with hashers', () => {
    let service: ServiceUnderTest
    let folder: string

    beforeAll(async () => {
      service = await startUnderTest({ now: Date.now, analysisCompletesAfterMs: 1 })
      folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-hashers-'))
    })
    afterAll(async () => {
      await Promise.all([service.close(), rm(folder, { recursive: true })])
    })
    const access = () => ({ baseUrl: service.url, apiKey: API_KEY })
    const begin = (tab: Page, verify: 'md5' | 'full') =>
      tab.evaluate(
        async ({ baseUrl, apiKey, verify: depth }) => {
          const hashers = await rig.startHashers()
          const uplink = rig.createUplink({ baseUrl, credentials: { apiKey }, verify: depth, ...hashers })
          const files = [...document.querySelector<HTMLInputElement>('#files')!.files!]
          globalThis.upload = uplink.uploadVideos({
            files: files.map((file) => ({ source: rig.blobSource(file), frameRate: 240 })),
            ...{ movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 },
          })
          return globalThis.upload.key
        },
        { ...access(), verify },
      )

    test('verifies every part, and with verify: full gives the SHA-256 of the file', async () => {
      const bytes = pattern(11 * MIB + 3)
      await writeFile(join(folder, 'whole.mp4'), bytes)
      const tab = await openPage(browser, pages.url)
      await tab.setInputFiles('#files', join(folder, 'whole.mp4'))
      const key = await begin(tab, 'full')

      const { status, files } = await tab.evaluate(() => globalThis.upload.done())
      const kept = await tab.evaluate(
        ({ baseUrl, apiKey, of }) => rig.createUplink({ baseUrl, credentials: { apiKey } }).receipt(of),
        { ...access(), of: key },
      )

      expect([status, files.map((file) => file.verified)]).toEqual(['confirmed', [true]])
      expect(kept.files).toMatchObject([{ sha256: createHash('sha256').update(bytes).digest('hex') }])
    })

    test('does not go on with another file of the same name, size and time', async () => {
      const path = join(folder, 'same.mp4')
      const pickedAt = new Date('2026-11-20T10:00:00Z')
      await writeFile(path, pattern(11 * MIB))
      await utimes(path, pickedAt, pickedAt)
      const tab = await openPage(browser, pages.url)
      await tab.setInputFiles('#files', path)
      const isLatePart = (url: URL): boolean => Number(url.searchParams.get('partNumber') ?? 1) > 1
      await tab.route(isLatePart, () => undefined)
      const key = await begin(tab, 'md5')
      await tab.waitForFunction((of) => globalThis.upload.progress().confirmedBytes === of, 5 * MIB)
      await tab.reload()
      await tab.unroute(isLatePart)
      await writeFile(path, pattern(11 * MIB).fill(1, 100, 200))
      await utimes(path, pickedAt, pickedAt)
      await tab.setInputFiles('#files', path)

      const found = await tab.evaluate(
        async ({ baseUrl, apiKey, key: of }) => {
          const uplink = rig.createUplink({ baseUrl, credentials: { apiKey }, ...(await rig.startHashers()) })
          const files = [...document.querySelector<HTMLInputElement>('#files')!.files!]
          try {
            return JSON.stringify(await (await uplink.resume(of, { files })).done())
          } catch (error) {
            return JSON.stringify({ ...(error as object), message: String(error) })
          }
        },
        { ...access(), key },
      )

      expect(found).toContain('is no longer what was sent')
    })
  })
})
