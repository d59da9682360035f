// Ten thousand files of 20 KB as captures: what each file costs when its bytes cost almost nothing.

import { join } from 'node:path'
import { BARE, createField, OURS } from '../contestants/field.ts'
import { writeFolderToSend } from '../measure/files-to-send.ts'
import { prepareTools, runInterleaved, runOnce } from '../measure/interleaved.ts'
import type { BenchPart } from '../part.ts'
import { judge, ratiosByRound } from '../report/bars.ts'
import { valuesOf } from '../report/result.ts'
import { standardPlot } from '../report/standard-plot.ts'

const FIXED = 16
const nameAt = (name: string, connections: number): string => `${name}, ${connections} connections`

export const smallPart: BenchPart = {
  name: 'small',
  about: '10,000 files of 20 KB through the capture flow, against a bare loop that opens, stats, reads and closes them',

  async run(setting) {
    const [files, bytesEach] = [setting.isQuick ? 120 : 10_000, 20_000]
    const folder = await writeFolderToSend(join(setting.scratch, 'captures'), files, bytesEach)
    const field = createField(setting)
    const bytes = files * bytesEach
    const load = (concurrency?: number) => ({
      job: { folder, ...(concurrency === undefined ? {} : { concurrency }) },
      ...{ files, bytes },
    })
    // An unmeasured run shows how many connections the default settings open here, so that the floor gets as many.
    const trial = await runOnce(setting, await prepareTools(setting), field.uplink(load()), false)
    const reached = Math.max(1, trial['mostOpen'] ?? 1)
    const off = { job: { folder, verify: 'off' as const }, files, bytes }
    const contestants = [
      field.uplink(load()),
      field.bareSmall(load(reached), { name: nameAt(BARE, reached) }),
      ...(reached === FIXED ? [] : [field.bareSmall(load(FIXED), { name: nameAt(BARE, FIXED) })]),
      field.uplink(load(FIXED), { name: nameAt(OURS, FIXED) }),
      field.uplink(off, { name: `${OURS}, verify off` }),
    ]
    const { runs, shortfalls } = await runInterleaved(setting, { contestants, rounds: setting.rounds ?? 5 })

    const title = '10,000 files of 20 KB as captures'
    const panels = [
      { measure: 'filesPerSecond', title: 'Files a second, whole process (more is better)' },
      { measure: 'cpuMsPerFile', title: 'Processor time, ms per file (less is better)' },
      { measure: 'peakMib', title: 'Peak memory, MiB (less is better)' },
    ]
    const ratio = (ours: string, rival: string): number[] => ratiosByRound(runs, 'filesPerSecond', ours, rival)
    return {
      part: 'small',
      title,
      about: [
        'mocap-uplink creates a session, registers the names in batches and sends each file with its MD5 computed, at default settings; a service on this machine answers at once.',
        `The bare loop only opens, stats, reads, closes and PUTs each file, with ${reached} connections at once, which is what mocap-uplink opened by itself in a run before, and with ${FIXED} beside mocap-uplink at a fixed ${FIXED}.`,
      ],
      columns: [
        { measure: 'filesPerSecond', label: 'files/s' },
        { measure: 'cpuMsPerFile', label: 'CPU ms/file' },
        { measure: 'peakMib', label: 'peak MiB' },
        { measure: 'transferMs', label: 'ms inside' },
        { measure: 'bodies', label: 'bodies' },
        { measure: 'mostOpen', label: 'connections' },
      ],
      runs,
      bars: [
        judge(
          {
            name: `files a second, mocap-uplink ÷ bare loop with ${reached} connections`,
            rule: 'atLeast',
            limit: 0.7,
          },
          ratio(OURS, nameAt(BARE, reached)),
        ),
        judge(
          { name: `files a second, mocap-uplink ÷ bare loop, ${FIXED} connections each`, rule: 'atLeast', limit: 0.7 },
          ratio(nameAt(OURS, FIXED), nameAt(BARE, FIXED)),
        ),
        judge(
          { name: 'peak memory, mocap-uplink, any run', rule: 'atMost', limit: 200, unit: 'MiB', of: 'worst' },
          valuesOf(runs, OURS, 'peakMib'),
        ),
      ],
      plots: [{ name: '', svg: standardPlot({ title, runs, contestants, panels, machine: setting.machine }) }],
      shortfalls,
    }
  },
}
