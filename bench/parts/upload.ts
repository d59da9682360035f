// One file of 2 GiB over plain HTTP, nothing hashed: what it costs to move bytes at all.

import { join } from 'node:path'
import { BARE, createField, CURL, LIB_STORAGE, OURS, TUS } from '../contestants/field.ts'
import { writeFileToSend } from '../measure/files-to-send.ts'
import { runInterleaved } from '../measure/interleaved.ts'
import type { BenchPart } from '../part.ts'
import { judge, ratiosByRound } from '../report/bars.ts'
import { SPEED_COLUMNS, SPEED_PANELS, standardPlot } from '../report/standard-plot.ts'

export const uploadPart: BenchPart = {
  name: 'upload',
  about: 'one 2 GiB file over plain HTTP, verification off, against curl, tus-js-client, lib-storage and a bare loop',

  async run(setting) {
    const bytes = setting.isQuick ? 16 << 20 : 2 * 2 ** 30
    const file = await writeFileToSend(join(setting.scratch, 'clip.mp4'), bytes)
    const field = createField(setting)
    const load = { job: { file, verify: 'off' as const }, files: 1, bytes }
    const contestants = [
      field.uplink(load),
      field.commandLine({ ...load, stateDir: join(setting.scratch, 'state') }),
      field.bareUndici(load),
      field.curl(load),
      field.tus(load),
      field.libStorage(load),
    ]
    const { runs, shortfalls } = await runInterleaved(setting, { contestants, rounds: setting.rounds ?? 5 })

    const throughput = (rival: string): number[] => ratiosByRound(runs, 'gigabytesPerSecond', OURS, rival)
    const cpu = (rival: string): number[] => ratiosByRound(runs, 'cpuSecondsPerGib', OURS, rival)
    const [faster, cheaper] = ['atLeast', 'atMost'] as const
    const title = 'One file of 2 GiB over plain HTTP, verification off'
    return {
      part: 'upload',
      title,
      about: [
        'Each contestant is a process of its own and sends the same file from the page cache to the same discarding server on this machine. All are at their default settings, except that mocap-uplink hashes nothing. Nor do the others, but lib-storage, whose defaults are a CRC32 and, over plain HTTP, a SHA-256 of every part.',
        'Time is that of the whole process, its start included; processor time is user and system of all its threads; the bare loop has four connections and parts of 16 MiB.',
        'After every run it was checked that every byte of the file had arrived, once: each body begins with a stamp that says where in the file it belongs. mocap-uplink reported its progress.',
      ],
      columns: SPEED_COLUMNS,
      runs,
      bars: [
        judge({ name: 'throughput, mocap-uplink ÷ curl -T', rule: faster, limit: 1 }, throughput(CURL)),
        judge({ name: 'throughput, mocap-uplink ÷ tus-js-client', rule: faster, limit: 2.5 }, throughput(TUS)),
        judge({ name: 'throughput, mocap-uplink ÷ lib-storage', rule: faster, limit: 5 }, throughput(LIB_STORAGE)),
        judge({ name: 'CPU per GiB, mocap-uplink ÷ curl -T', rule: cheaper, limit: 1.6 }, cpu(CURL)),
        judge({ name: 'CPU per GiB, mocap-uplink ÷ bare undici loop', rule: cheaper, limit: 1.25 }, cpu(BARE)),
      ],
      plots: [
        { name: '', svg: standardPlot({ title, runs, contestants, panels: SPEED_PANELS, machine: setting.machine }) },
      ],
      shortfalls,
    }
  },
}
