// The demo: samples, a service of its own, all three flows, and every stored object compared with its source. It leaves
// nothing behind unless asked to.

import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { formatBytes } from '../../core/plan.ts'
import type { LimitRate } from '../../core/line/timetable.ts'
import type { Upload } from '../../flows/upload.ts'
import { createUplink } from '../../node.ts'
import type { Environment } from '../options/credentials-from-options.ts'
import { fullLine, withAdvice } from '../views/error-line.ts'
import { EXIT, SIGNAL_EXIT } from '../exit-codes.ts'
import { openInBrowser } from '../open-in-browser.ts'
import type { Output } from '../views/output.ts'
import { followAnalysis } from '../run-analysis.ts'
import { followUpload, type RunningUpload } from '../run-upload.ts'
import type { Interruption } from '../signals.ts'
import type { UploadResult } from '../upload-result.ts'
import { countOf, formatDuration } from '../views/wording.ts'
import { requestAnalysis, sourcesOf, uploadCaptures, uploadVideos } from './flows.ts'
import { compareStored, storedSessions } from './read-back.ts'
import { isGood, printReport, type DemoReport } from './report.ts'
import { checkRoom } from './room.ts'
import { makeSamples } from './samples.ts'
import { startServiceProcess } from './service-process.ts'

export interface DemoOptions {
  readonly output: Output
  readonly interruption: Interruption
  /** A folder that is there, to keep samples and stored objects in. Default: a temporary one, removed at the end. */
  readonly keep?: string
  readonly env: Environment
  /** Opens the service's page, and stays until it is interrupted. */
  readonly isShown: boolean
}

/** One clip is over 100 MB. A demo ends well within a minute on two slow cores. */
const SAMPLE_SIZE = { trackingFiles: 40, clipBytes: [400_000, 3_000_000, 12_000_000, 30_000_000, 110_000_000] }
/** What is on the disk at most: samples, which are then stored once more, and a new database with what its service keeps free for it. */
const NEEDED_BYTES =
  2 * SAMPLE_SIZE.clipBytes.reduce((sum, bytes) => sum + bytes, SAMPLE_SIZE.trackingFiles * 1_200_000) + 128 * 1024 ** 2
const COMPLETE_AFTER = '2s'
/** The rate limit while the page is open. Without it, everything would be over before the browser is there. */
const WATCHED_RATE = '20MB'
/** Nothing brings a service of this machine back that has not answered for so long, ms. */
const GIVE_UP_AFTER_MS = 60_000

/** Tried again, because a service that has just been killed may still be writing. */
const REMOVAL = { recursive: true, force: true, maxRetries: 5 } as const

/** Runs the demo and resolves with the exit code: 0 only if everything is completed and identical. */
export async function runDemo({ output, interruption, keep, env, isShown }: DemoOptions): Promise<number> {
  await checkRoom(keep ?? tmpdir(), NEEDED_BYTES)
  const folder = keep ?? (await mkdtemp(join(tmpdir(), 'mocap-uplink-demo-')))
  const undo: (() => Promise<void>)[] = []
  if (keep === undefined) {
    undo.push(() => rm(folder, REMOVAL))
    interruption.atOnce(() => rmSync(folder, REMOVAL))
  }
  try {
    const played = await play(output, interruption, {
      folder,
      undo,
      limitRate: isShown ? WATCHED_RATE : 'off',
      show: (url) => (isShown ? show(output, url, env) : Promise.resolve()),
    })
    if (played === undefined) {
      const { reason = 'SIGINT' } = interruption
      output.complain(
        `Interrupted by ${reason}. ${keep === undefined ? 'Nothing is kept.' : `What there is stays in ${folder}`}`,
      )
      output.event('result', { flow: 'demo', status: 'interrupted' })
      return SIGNAL_EXIT[reason]
    }
    const { report, lost } = played
    printReport(output, report)
    if (keep !== undefined) output.say(`Samples and stored objects are in ${folder}`)
    if (isShown) {
      output.say('The page stays until Ctrl-C.')
      const ended = await Promise.race([interruption.happened, lost])
      if (ended instanceof Error) throw ended
    }
    return isGood(report) ? EXIT.done : EXIT.failed
  } finally {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step()
  }
}

interface Stage {
  readonly folder: string
  readonly undo: (() => Promise<void>)[]
  /** The limit of the uploads. */
  readonly limitRate: LimitRate
  /** Shows the page at this address. */
  readonly show: (url: string) => Promise<void>
}

/** Plays the whole demo. Resolves with undefined if it was interrupted. */
async function play(
  output: Output,
  interruption: Interruption,
  { folder, undo, limitRate, show: showPage }: Stage,
): Promise<{ readonly report: DemoReport; readonly lost: Promise<Error> } | undefined> {
  const beganAtMs = performance.now()
  const isStopped = () => interruption.reason !== undefined
  // The service starts first: if its packages are missing, nothing else is worth beginning.
  output.say('Starting the service …')
  const starting = startServiceProcess(join(folder, 'service'), COMPLETE_AFTER, interruption)
  const first = await Promise.race([starting, interruption.happened])
  if (typeof first === 'string') output.say('Stopping, once the service has started …')
  const service = await starting
  undo.push(() => service.stop())
  output.event('listening', { url: service.url })
  output.say(`The service listens on ${service.url}`)
  if (isStopped()) return undefined
  output.say('Making sample captures and videos …')
  const madeFromMs = performance.now()
  const samples = await makeSamples(join(folder, 'samples'), SAMPLE_SIZE)
  output.event('samples', {
    captures: samples.captures.length,
    videos: samples.videos.length,
    bytes: samples.totalBytes,
  })
  output.say(
    `${countOf(samples.captures.length, 'tracking file')} and ${countOf(samples.videos.length, 'video')}, ` +
      `${formatBytes(samples.totalBytes)}, in ${formatDuration(performance.now() - madeFromMs)}`,
  )
  if (isStopped()) return undefined
  // The key was made up for this demo and dies with it. The page removes it from the address bar at once.
  await showPage(`${service.url}/#key=${service.apiKey}`)
  const uplink = createUplink({
    baseUrl: service.url,
    credentials: { apiKey: service.apiKey },
    limitRate,
    // The service is on this machine, whatever the environment says about proxies.
    proxy: null,
    giveUpAfterMs: GIVE_UP_AFTER_MS,
  })
  let lost: Error | undefined
  void service.lost.then((error) => {
    lost = error
    void uplink.close()
  })
  const requireService = (): void => {
    if (lost !== undefined) throw lost
  }

  const running = { output, interruption, uplink, requireService, stopWords: 'Stopping the demo.' }
  const before = await storedSessions(uplink, interruption.signal).finally(requireService)
  const uploads: UploadResult[] = []
  for (const begin of [uploadCaptures, uploadVideos]) {
    if (isStopped()) return undefined
    uploads.push(await follow(begin(uplink, samples), running))
  }
  if (isStopped()) return undefined
  const analysis = await followAnalysis(requestAnalysis(uplink), running)
  requireService()
  if (isStopped()) return undefined
  output.say('Reading every stored object back …')
  const comparison = await compareStored(uplink, sourcesOf(samples), before, interruption.signal).finally(
    requireService,
  )
  const report = { uploads, analysis, comparison, durationMs: performance.now() - beganAtMs }
  return { report, lost: service.lost }
}

async function show(output: Output, url: string, env: Environment): Promise<void> {
  if (await openInBrowser(url, env))
    output.say(`Its page is open in your browser. Uploads take at most ${WATCHED_RATE} a second, to be watched.`)
  else {
    output.event('page', { url })
    output.say(`No browser could be opened. The page is at ${url}`)
  }
}

interface RunningDemo extends RunningUpload {
  /** Throws once the service has ended by itself: what became of the upload is then of no interest. */
  requireService(): void
}

async function follow(upload: Upload, running: RunningDemo): Promise<UploadResult> {
  const { output } = running
  output.say(upload.flow === 'capture' ? 'Uploading captures …' : 'Uploading videos …')
  output.event('start', { flow: upload.flow, key: upload.key })
  const result = await followUpload(upload, running).result
  running.requireService()
  output.event('flow', { ...result })
  for (const file of result.files) {
    if (file.error !== undefined) output.complain(`failed: ${file.name}: ${withAdvice(file.error)}`)
  }
  if (result.error !== undefined) output.complain(`error: ${fullLine(result.error)}`)
  return result
}
