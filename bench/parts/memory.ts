// A file of 64 GiB, then the same in 10,000 parts: memory and cost per byte must not depend on the size of a file.

import { createField, type Load } from '../contestants/field.ts'
import { runInterleaved } from '../measure/interleaved.ts'
import type { BenchPart } from '../part.ts'
import { judge, ratiosByRound } from '../report/bars.ts'
import { valuesOf } from '../report/result.ts'
import { SPEED_COLUMNS, SPEED_PANELS, standardPlot } from '../report/standard-plot.ts'

const GIB = 2 ** 30
const MOST_PARTS = 10_000

export const memoryPart: BenchPart = {
  name: 'memory',
  about: 'a 64 GiB file from a synthetic source, also in 10,000 parts: peak memory, and CPU per GiB against 2 GiB',

  async run(setting) {
    const [large, small] = setting.isQuick ? [64 << 20, 16 << 20] : [64 * GIB, 2 * GIB]
    const field = createField(setting)
    const load = (bytes: number, verify: 'md5' | 'off', partBytes?: number): Load => ({
      job: { syntheticBytes: bytes, verify, ...(partBytes === undefined ? {} : { partBytes }) },
      ...{ files: 1, bytes },
    })
    const partBytes = Math.max(Math.ceil(large / MOST_PARTS), 5 << 20)
    const contestants = (['off', 'md5'] as const).flatMap((verify) => [
      field.uplink(load(small, verify), { name: nameOf('2 GiB', verify) }),
      field.uplink(load(large, verify), { name: nameOf('64 GiB', verify) }),
      field.uplink(load(large, verify, partBytes), { name: nameOf('10,000 parts', verify) }),
    ])
    const { runs, shortfalls } = await runInterleaved(setting, { contestants, rounds: setting.rounds ?? 2 })

    const title = 'One file of 64 GiB from a synthetic source'
    return {
      part: 'memory',
      title,
      about: [
        'The bytes are copied from memory as they are asked for, so that no disk is needed and none is measured. At default settings but for verification; parts of 16 MiB, and once parts so small that there are 10,000 of them.',
        'Processor time per GiB is compared with that of 2 GiB from the same source, whose start of a process weighs 32 times as much per byte.',
      ],
      columns: SPEED_COLUMNS,
      runs,
      bars: (['off', 'md5'] as const).flatMap((verify) =>
        ['64 GiB', '10,000 parts'].flatMap((what) => [
          judge(
            {
              name: `peak memory, ${nameOf(what, verify)}, any run`,
              rule: 'atMost',
              limit: 180,
              unit: 'MiB',
              of: 'worst',
            },
            valuesOf(runs, nameOf(what, verify), 'peakMib'),
          ),
          judge(
            { name: `CPU per GiB, ${nameOf(what, verify)} ÷ 2 GiB`, rule: 'atMost', limit: 1.1 },
            ratiosByRound(runs, 'cpuSecondsPerGib', nameOf(what, verify), nameOf('2 GiB', verify)),
          ),
        ]),
      ),
      plots: [
        { name: '', svg: standardPlot({ title, runs, contestants, panels: SPEED_PANELS, machine: setting.machine }) },
      ],
      shortfalls,
    }
  },
}

function nameOf(what: string, verify: string): string {
  return `${what}, verify ${verify}`
}
