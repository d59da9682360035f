// The same file over TLS, where encryption dominates and everything around it still shows.

import { join } from 'node:path'
import { createField, OURS, TUS } from '../contestants/field.ts'
import { CompilerMissing } from '../measure/compiled.ts'
import { writeFileToSend } from '../measure/files-to-send.ts'
import { prepareTools, runInterleaved } from '../measure/interleaved.ts'
import type { BenchPart } from '../part.ts'
import { judge, ratiosByRound } from '../report/bars.ts'
import { SPEED_COLUMNS, SPEED_PANELS, standardPlot } from '../report/standard-plot.ts'

export const tlsPart: BenchPart = {
  name: 'tls',
  about: 'one 2 GiB file over TLS 1.3, verification off',

  async run(setting) {
    try {
      await prepareTools(setting, true)
    } catch (error) {
      if (!(error instanceof CompilerMissing)) throw error
      setting.say(`!! SKIPPED tls: the server needs OpenSSL to be built with TLS. ${error.message}`)
      return undefined
    }
    const bytes = setting.isQuick ? 16 << 20 : 2 * 2 ** 30
    const file = await writeFileToSend(join(setting.scratch, 'clip.mp4'), bytes)
    const field = createField(setting)
    const load = { job: { file, verify: 'off' as const }, files: 1, bytes }
    const contestants = [
      field.uplink(load),
      field.bareUndici(load),
      field.curl(load),
      field.tus(load),
      field.libStorage(load),
    ]
    const rounds = setting.rounds ?? 5
    const { runs, shortfalls } = await runInterleaved(setting, { contestants, rounds, isTls: true })

    const title = 'One file of 2 GiB over TLS, verification off'
    const ratios = (measure: string, rival: string): number[] => ratiosByRound(runs, measure, OURS, rival)
    return {
      part: 'tls',
      title,
      about: [
        'As in the part “upload”, over TLS. The server decrypts with OpenSSL, one thread for each connection, on the same cores as the contestants: its own cost stands in the last column, and a contestant with one connection gets one thread of it.',
        'The bare loop and curl are beside it as a measure of what encryption itself costs here.',
      ],
      columns: SPEED_COLUMNS,
      runs,
      bars: [
        judge(
          { name: 'throughput, mocap-uplink ÷ tus-js-client', rule: 'atLeast', limit: 1.1 },
          ratios('gigabytesPerSecond', TUS),
        ),
        judge(
          { name: 'CPU per GiB, mocap-uplink ÷ tus-js-client', rule: 'atMost', limit: 0.85 },
          ratios('cpuSecondsPerGib', TUS),
        ),
      ],
      plots: [
        { name: '', svg: standardPlot({ title, runs, contestants, panels: SPEED_PANELS, machine: setting.machine }) },
      ],
      shortfalls,
    }
  },
}
