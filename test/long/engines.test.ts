// Pages in the engines beside Chromium: the contract of a source over picked files, and a whole upload that a reload interrupts.

import { createHash } from 'node:crypto'
import { mkdtemp, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bundleScripts, servePages, type PageServer } from '../browser/rig/page-server.ts'
import { pattern } from '../../src/testing/transport/requests.ts'
import { API_KEY, startUnderTest, type ServiceUnderTest } from '../service/service-under-test.ts'
import { engines, type EnginePage, type RunningEngine } from './rig/engines.ts'

const MIB = 1024 * 1024

describe.each(engines)('in $name', ({ name, lack, launch }) => {
  const note = lack === undefined ? undefined : `Pages were not tried in ${name}. ${lack}`
  let engine: RunningEngine
  let pages: PageServer
  let service: ServiceUnderTest
  let folder: string

  beforeAll(async () => {
    if (note !== undefined) return void process.stderr.write(`SKIPPED: ${note}\n`)
    engine = await launch()
    process.stdout.write(`Pages are tried in ${engine.version}.\n`)
    pages = await servePages(await bundleScripts())
    service = await startUnderTest({ now: Date.now })
    folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-engines-'))
  })
  beforeEach(({ skip }) => skip(note !== undefined, note))
  afterAll(async () => {
    if (note !== undefined) return
    await engine.close()
    await Promise.all([pages.close(), service.close(), rm(folder, { recursive: true })])
  })

  test('keeps the contract of a source over picked files, and of memory', async () => {
    const own = await servePages(await bundleScripts('contracts-in-page.ts'))
    const page = await engine.openPage(own.url)
    const path = join(folder, 'take-7.mp4')
    own.onNext = async (asked) => {
      const { text, isAgain } = JSON.parse(asked) as { text: string; isAgain: boolean }
      await writeFile(path, Buffer.from(text, 'latin1'))
      // WebKit compares whole seconds.
      if (isAgain) await utimes(path, 1_000_000_000, 1_000_000_000)
      else await page.setInputFiles('#files', [path])
      return undefined
    }
    await page.evaluate(() => {
      const rigPick = (text: string, isAgain: boolean) =>
        fetch('/rig/next', { method: 'POST', body: JSON.stringify({ text, isAgain }) })
      Object.assign(globalThis, { rigPick })
    })
    const names = (await page.evaluate(() => contracts.names())).filter((each) => !each.startsWith('pageClock'))
    const failed: string[] = []
    for (const each of names) {
      // Firefox reads a file that has grown as it is now: docs/promises.md.
      if (name === 'Firefox' && each.includes('over a picked File') && each.includes('after each change')) continue
      await page
        .evaluate((of) => contracts.run(of), each)
        .catch((error: unknown) => failed.push(`${each}: ${String(error)}`))
    }
    await own.close()

    expect(failed).toEqual([])
    expect(names.length).toBeGreaterThan(45)
  })

  const pick = (page: EnginePage, names: readonly string[]) =>
    page.setInputFiles(
      '#files',
      names.map((each) => join(folder, each)),
    )
  const access = () => ({ baseUrl: service.url, apiKey: API_KEY })
  /** Begins an upload of what was picked, all but the first part of each file held back; gives its key. */
  const beginAndHold = (page: EnginePage) =>
    page.evaluate(async ({ baseUrl, apiKey }) => {
      const { open, send } = XMLHttpRequest.prototype
      const late = new WeakSet<XMLHttpRequest>()
      const held: (() => void)[] = []
      XMLHttpRequest.prototype.open = function (method: string, url: string | URL) {
        if (Number(new URL(url).searchParams.get('partNumber') ?? 1) > 1) late.add(this)
        open.call(this, method, url, true)
      }
      XMLHttpRequest.prototype.send = function (body) {
        if (late.has(this)) held.push(() => send.call(this, body as Blob))
        else send.call(this, body as Blob)
      }
      const letGo = (): void => {
        XMLHttpRequest.prototype.send = send
        for (const go of held.splice(0)) go()
      }
      const hashers = await rig.startHashers()
      const uplink = rig.createUplink({ baseUrl, credentials: { apiKey }, verify: 'full', ...hashers })
      const files = [...document.querySelector<HTMLInputElement>('#files')!.files!]
      const upload = uplink.uploadVideos({
        files: files.map((file) => ({ source: rig.blobSource(file), frameRate: 240 })),
        ...{ movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 },
      })
      Object.assign(globalThis, { upload, letGo })
      await new Promise<void>((resolve) => {
        upload.on('progress', ({ confirmedBytes }) => confirmedBytes >= files.length * 5 * 1024 * 1024 && resolve())
      })
      return upload.key
    }, access())
  const resume = (page: EnginePage, key: string) =>
    page.evaluate(
      async ({ baseUrl, apiKey, key: of }) => {
        const uplink = rig.createUplink({ baseUrl, credentials: { apiKey }, ...(await rig.startHashers()) })
        const files = [...document.querySelector<HTMLInputElement>('#files')!.files!]
        try {
          const upload = await uplink.resume(of, { files })
          const { confirmedBytes } = upload.progress()
          const report = await upload.done()
          return { confirmedBytes, status: report.status, verified: report.files.map((file) => file.verified) }
        } catch (error) {
          return { problem: String(error) }
        }
      },
      { ...access(), key },
    )

  test('goes on after a reload with the files picked again, verified, and lets no second tab do so', async () => {
    const contents = new Map([
      ['swing-01.mp4', pattern(11 * MIB + 3)],
      ['swing-02.mp4', pattern(6 * MIB)],
    ])
    for (const [each, bytes] of contents) await writeFile(join(folder, each), bytes)
    const names = [...contents.keys()]
    const page = await engine.openPage(pages.url)
    await pick(page, names)
    const key = await beginAndHold(page)
    const other = await engine.openPage(pages.url)
    await pick(other, names)

    expect(await resume(other, key)).toEqual({
      problem: expect.stringContaining('is being uploaded already, here or in another tab') as string,
    })
    await page.reload()
    await pick(page, names)
    expect(await resume(page, key)).toEqual({ confirmedBytes: 10 * MIB, status: 'confirmed', verified: [true, true] })

    const { items } = (await service.call('GET', '/stored')).json as { items: { file_name: string; url: string }[] }
    for (const [each, bytes] of contents) {
      const stored = await fetch(items.find((item) => item.file_name === each)!.url)
      expect(md5(new Uint8Array(await stored.arrayBuffer()))).toBe(md5(bytes))
    }
  })

  test.each([
    [
      'becomes shorter in the second in which it was written',
      async (path: string) => {
        const { atime, mtime } = await stat(path)
        await truncate(path, 7 * MIB)
        await utimes(path, atime, mtime)
      },
    ],
    ['is taken away', (path: string) => rm(path)],
    [
      'is overwritten',
      async (path: string) => {
        await writeFile(path, new Uint8Array(11 * MIB))
        // WebKit compares whole seconds.
        await utimes(path, 1_000_000_000, 1_000_000_000)
      },
    ],
  ])('fails a file that %s while it is sent', async (_how, change) => {
    const path = join(folder, 'changing.mp4')
    await writeFile(path, pattern(11 * MIB))
    const page = await engine.openPage(pages.url)
    await pick(page, ['changing.mp4'])
    await beginAndHold(page)
    await change(path)

    const code = await page.evaluate(async () => {
      const { letGo } = globalThis as unknown as { letGo(): void }
      letGo()
      return globalThis.upload.done().then(
        ({ status }) => status,
        (error: unknown) => (error as { code: string }).code,
      )
    })

    expect(code).toBe('ERR_UPLOAD_SOURCE_CHANGED')
  })
})

function md5(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex')
}
