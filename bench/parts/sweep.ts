// Two sweeps, over part sizes and over numbers of connections. Ours and the bare loop run at the same setting.

import { join } from 'node:path'
import { BARE, createField, OURS, type Field, type Load, type Contestant } from '../contestants/field.ts'
import { writeFileToSend } from '../measure/files-to-send.ts'
import { runInterleaved } from '../measure/interleaved.ts'
import type { BenchPart } from '../part.ts'
import { linePlot, type LineSeries } from '../report/line-plot.ts'
import { machineLine } from '../report/machine.ts'
import { valuesOf, type Run } from '../report/result.ts'
import { SPEED_COLUMNS } from '../report/standard-plot.ts'
import { summarize } from '../report/statistics.ts'

interface Sweep {
  readonly name: string
  readonly about: string
  readonly title: string
  /** Name of the swept setting, with its unit. */
  readonly axis: string
  readonly values: readonly number[]
  readonly quickValues: readonly number[]
  jobAt(value: number): { readonly partBytes?: number; readonly concurrency?: number }
  readonly sentences: readonly string[]
}

/** The part that runs a sweep. */
function sweepPart(sweep: Sweep): BenchPart {
  return {
    name: sweep.name,
    about: sweep.about,

    async run(setting) {
      const bytes = setting.isQuick ? 16 << 20 : 2 * 2 ** 30
      const file = await writeFileToSend(join(setting.scratch, 'clip.mp4'), bytes)
      const field = createField(setting)
      const contestants = (setting.isQuick ? sweep.quickValues : sweep.values).flatMap((value) => {
        const load = { job: { file, verify: 'off' as const, ...sweep.jobAt(value) }, files: 1, bytes }
        return pair(field, load, { [sweep.axis]: value })
      })
      const { runs, shortfalls } = await runInterleaved(setting, { contestants, rounds: setting.rounds ?? 3 })
      const plot = (name: string, measure: string, yTitle: string) => ({
        name,
        svg: linePlot({
          ...{ title: sweep.title, xTitle: sweep.axis, yTitle },
          series: [OURS, BARE].map((contestant) => series(runs, contestant, sweep.axis, measure)),
          foot: machineLine(setting.machine),
        }),
      })
      return {
        ...{ part: sweep.name, title: sweep.title, about: sweep.sentences, columns: SPEED_COLUMNS },
        ...{ runs, bars: [], shortfalls },
        plots:
          runs.length === 0
            ? []
            : [
                plot('throughput', 'gigabytesPerSecond', 'Throughput, GB/s'),
                plot('cpu', 'cpuSecondsPerGib', 'Processor time, s/GiB'),
                plot('memory', 'peakMib', 'Peak memory, MiB'),
              ],
      }
    },
  }
}

export const partsPart = sweepPart({
  name: 'parts',
  about: 'parts of 5 to 64 MiB, ours and the bare loop',
  title: 'Sizes of parts: one file of 2 GiB, verification off',
  axis: 'part MiB',
  values: [5, 8, 16, 32, 64],
  quickValues: [5, 8],
  jobAt: (value) => ({ partBytes: value << 20 }),
  sentences: [
    'mocap-uplink with its own choice of connections, the bare loop with four, each with the same size of parts.',
  ],
})

export const concurrencyPart = sweepPart({
  name: 'concurrency',
  about: 'connections from 1 to 64, ours and the bare loop',
  title: 'Connections at once: one file of 2 GiB, verification off',
  axis: 'connections',
  values: [1, 2, 4, 8, 16, 32, 64],
  quickValues: [1, 4],
  jobAt: (value) => ({ concurrency: value }),
  sentences: [
    'A fixed number of connections instead of the adaptive default; parts of 16 MiB. On one machine there is no delay to hide, so more connections than cores only cost; what they are for shows on a real line.',
  ],
})

function pair(field: Field, load: Load, setting: Readonly<Record<string, number>>): Contestant[] {
  return [field.uplink(load, { setting }), field.bareUndici(load, { setting })]
}

function series(runs: readonly Run[], name: string, axis: string, measure: string): LineSeries {
  const xs = [...new Set(runs.map((run) => Number(run.setting?.[axis])))].toSorted((one, other) => one - other)
  const points = xs.flatMap((x) => {
    const values = valuesOf(runs, name, measure, { [axis]: x })
    if (values.length === 0) return []
    const { median: y, min, max } = summarize(values)
    return [{ x, y, min, max }]
  })
  return { name, points }
}
