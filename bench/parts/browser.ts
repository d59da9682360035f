// In a real Chromium: one file of 1 GiB, and 300 files of 1.2 MB, against Uppy, tus-js-client and bare requests.

import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { chromiumPath } from '../../test/browser/rig/launch-chromium.ts'
import { startPageRunner, type PageContestant } from '../browser/page-run.ts'
import { bundlePages } from '../browser/scripts.ts'
import { OURS, TUS, UPPY, UPPY_5 } from '../contestants/field.ts'
import { stamp, STAMP_BYTES, STAMP_EVERY_BYTES } from '../measure/stamps.ts'
import { prepareTools, takeTurns } from '../measure/interleaved.ts'
import type { BenchPart } from '../part.ts'
import { judge, ratiosByRound } from '../report/bars.ts'
import { valuesOf, type Bar, type Run } from '../report/result.ts'
import { standardPlot } from '../report/standard-plot.ts'
import { summarize } from '../report/statistics.ts'

const BARE_XHR = 'bare XMLHttpRequest'
/**
 * The floor for an upload that can be resumed, which needs parts: the same loop, sending slices of at most 16 MiB as we do, five at once.
 */
const BARE_SLICES = 'bare XMLHttpRequest, slices'

/** The contestants with their scripts and the packages that they need. */
const FIELD = [
  { name: OURS, isOurs: true, script: 'uplink' },
  { name: BARE_XHR, isOurs: false, script: 'xhr' },
  { name: BARE_SLICES, isOurs: false, script: 'slices' },
  { name: TUS, isOurs: false, script: 'tus', rival: TUS },
  { name: UPPY, isOurs: false, script: 'uppy', rival: UPPY },
  { name: UPPY_5, isOurs: false, script: 'uppy5', rival: UPPY_5 },
] as const

export const browserPart: BenchPart = {
  name: 'browser',
  about: 'Chromium: one file of 1 GiB, and 300 files of 1.2 MB, against Uppy, tus-js-client and bare XMLHttpRequest',

  async run(setting) {
    if (chromiumPath === undefined) {
      setting.say('!! SKIPPED browser: there is no Chromium on this machine; CHROMIUM_PATH says where one is.')
      return undefined
    }
    const loads = [
      { files: 1, bytesEach: setting.isQuick ? 16 << 20 : 2 ** 30, flow: 'video' as const },
      { files: setting.isQuick ? 12 : 300, bytesEach: 1_200_000, flow: 'capture' as const },
    ]
    const contestants: PageContestant[] = []
    for (const { files: count, bytesEach, flow } of loads) {
      const files = await emptyFiles(join(setting.scratch, flow), count, bytesEach, flow === 'video' ? 'mp4' : 'action')
      const load = { files: count, bytes: count * bytesEach, flow }
      for (const one of FIELD) contestants.push({ ...one, files, load, setting: { files: count } })
    }
    const tools = await prepareTools(setting)
    const runner = await startPageRunner(await bundlePages(setting.root, setting.dist), tools)
    const { runs, shortfalls } = await takeTurns(setting, contestants, setting.rounds ?? 5, runner.run).finally(
      runner.close,
    )
    const title = 'In Chromium: one file of 1 GiB, 300 files of 1.2 MB'
    return {
      part: 'browser',
      title,
      about: [
        'Each run is a page of its own in a fresh profile of a headless Chromium; the files are picked as a person picks them, and go to another origin, so that the browser asks first for every address.',
        'Time is from the first call of the library until its last promise, with session, registration and confirmation for mocap-uplink, whose sessions are kept in IndexedDB. Everybody is at default settings; the bare loop and tus-js-client, which have no queue, send up to 6 files at once.',
        'A File that goes out whole is read by Chromium’s network process itself; a slice passes through two processes more, which costs two and a half times the processor time. What is cut into parts, so that it can be taken up again, is slices: the bare loop of slices, 5 of at most 16 MiB at once, says what they cost without an engine: it is a floor with a bar of its own, and no rival. A file of less than 16 MiB goes out whole there, as with mocap-uplink. The other rivals open six connections, mocap-uplink and the floor five: one is left to the page. Rivals are the two Uppys, tus-js-client and the bare loop of whole files.',
        'The files are sparse but for a stamp in each MiB: their bytes cost a copy and no disk. After every run it was checked, by the stamps, that every byte of every file had arrived, once. A long task is one that held the main thread for more than 50 ms, by the clock.',
      ],
      columns: [
        { measure: 'gigabytesPerSecond', label: 'GB/s' },
        { measure: 'filesPerSecond', label: 'files/s' },
        { measure: 'wallMs', label: 'ms' },
        { measure: 'longTasks', label: 'long tasks' },
        { measure: 'longestTaskMs', label: 'longest, ms' },
        { measure: 'requests', label: 'requests' },
        { measure: 'mostOpen', label: 'connections' },
      ],
      runs,
      bars: loads.flatMap(({ files }) => barsOf(runs, files)),
      plots: loads.map(({ files, flow }) => ({
        name: flow,
        svg: standardPlot({
          title: files === 1 ? 'In Chromium: one file of 1 GiB' : `In Chromium: ${files} files of 1.2 MB`,
          runs: runs.filter((run) => run.setting?.['files'] === files),
          contestants: FIELD,
          panels: [{ measure: 'gigabytesPerSecond', title: 'Throughput, GB/s (more is better)' }],
          machine: setting.machine,
        }),
      })),
      shortfalls,
    }
  },
}

/** Bars against the best rival by median, against the floor, and for the longest task, which a person must not feel. */
function barsOf(runs: readonly Run[], files: number): Bar[] {
  const setting = { files }
  const median = (name: string): number => {
    const values = valuesOf(runs, name, 'gigabytesPerSecond', setting)
    return values.length === 0 ? 0 : summarize(values).median
  }
  // The loop of slices is not a rival but a floor: it sends in the same way without an engine.
  const [best = BARE_XHR] = FIELD.filter(({ isOurs, name }) => !isOurs && name !== BARE_SLICES)
    .map(({ name }) => name)
    .toSorted((one, other) => median(other) - median(one))
  const what = files === 1 ? 'one large file' : `${files} files`
  return [
    judge(
      { name: `throughput, ${what}, mocap-uplink ÷ ${best}, the best rival`, rule: 'atLeast', limit: 1 },
      ratiosByRound(runs, 'gigabytesPerSecond', OURS, best, setting),
    ),
    judge(
      { name: `throughput, ${what}, mocap-uplink ÷ ${BARE_SLICES}, the floor`, rule: 'atLeast', limit: 0.95 },
      ratiosByRound(runs, 'gigabytesPerSecond', OURS, BARE_SLICES, setting),
    ),
    judge(
      { name: `longest task, ${what}, mocap-uplink, any run`, rule: 'atMost', limit: 50, unit: 'ms', of: 'worst' },
      valuesOf(runs, OURS, 'longestTaskMs', setting),
    ),
  ]
}

/** Sparse files, which have no blocks on the disk but those of their stamps. */
async function emptyFiles(folder: string, count: number, bytesEach: number, kind: string): Promise<string[]> {
  await mkdir(folder)
  const paths = Array.from({ length: count }, (_, index) =>
    join(folder, `swing-${String(index).padStart(3, '0')}.${kind}`),
  )
  const mark = new Uint8Array(STAMP_BYTES)
  for (const [index, path] of paths.entries()) {
    const file = await open(path, 'w')
    await file.truncate(bytesEach)
    for (let at = 0; at < bytesEach; at += STAMP_EVERY_BYTES) {
      stamp(mark, index, at)
      await file.write(mark, 0, STAMP_BYTES, at)
    }
    await file.close()
  }
  return paths
}
