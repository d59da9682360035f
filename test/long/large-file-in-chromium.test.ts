// 3 GiB from a page, hashed in its worker: the memory of the browser's processes does not grow with the file.

import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { chromiumPath, launchChromium, openPage } from '../browser/rig/chromium.ts'
import { bundleScripts, servePages } from '../browser/rig/page-server.ts'
import { API_KEY, startUnderTest } from '../service/service-under-test.ts'

const MIB = 1024 * 1024
const FILE_BYTES = 3 * 1024 * MIB

/** The most that each process has held in memory so far, bytes, together. */
async function peakBytes(pids: readonly number[]): Promise<number> {
  const peaks = pids.map(async (pid) => {
    const [, kib = '0'] = /VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${String(pid)}/status`, 'utf8')) ?? []
    return Number(kib) * 1024
  })
  return (await Promise.all(peaks)).reduce((sum, bytes) => sum + bytes, 0)
}

const lack =
  chromiumPath !== undefined && process.platform === 'linux'
    ? undefined
    : 'No large file was sent from a page: it needs Chromium, and Linux to measure its memory.'
if (lack !== undefined) process.stderr.write(`SKIPPED: ${lack}\n`)

describe('in Chromium', () => {
  beforeEach(({ skip }) => skip(lack !== undefined, lack))

  test('uploads 3 GiB, verified, without memory that grows with the file', { timeout: 1_200_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-large-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const path = join(folder, 'season.mp4')
    const sparse = await open(path, 'w')
    await sparse.truncate(FILE_BYTES)
    await sparse.close()
    const pages = await servePages(await bundleScripts())
    onTestFinished(() => pages.close())
    const service = await startUnderTest({ now: Date.now, analysisCompletesAfterMs: 1 })
    onTestFinished(() => service.close())
    const browser = await launchChromium()
    onTestFinished(() => browser.close())
    const page = await openPage(browser, pages.url)
    await page.setInputFiles('#files', path)
    const devTools = await browser.newBrowserCDPSession()
    const { processInfo } = await devTools.send('SystemInfo.getProcessInfo')
    const pids = processInfo.map((process) => process.id)
    const before = await peakBytes(pids)

    const report = await page.evaluate(
      async ({ baseUrl, apiKey }) => {
        const uplink = rig.createUplink({ baseUrl, credentials: { apiKey }, ...(await rig.startHashers()) })
        const [file] = document.querySelector<HTMLInputElement>('#files')!.files!
        const upload = uplink.uploadVideos({
          files: [{ source: rig.blobSource(file!), frameRate: 240 }],
          ...{ movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 },
        })
        const { status, files } = await upload.done()
        return { status, verified: files.map((each) => each.verified) }
      },
      { baseUrl: service.url, apiKey: API_KEY },
    )
    const grownBytes = (await peakBytes(pids)) - before
    const { usedSize } = await (await page.context().newCDPSession(page)).send('Runtime.getHeapUsage')
    process.stdout.write(
      `Memory of the browser's processes grew by ${String(Math.round(grownBytes / MIB))} MiB at most; JS heap ${String(Math.round(usedSize / MIB))} MiB.\n`,
    )

    expect(report).toEqual({ status: 'confirmed', verified: [true] })
    expect(grownBytes).toBeLessThan(512 * MIB)
    expect(usedSize).toBeLessThan(64 * MIB)
  })
})
