// The same file with and without verification: what it costs to hash every part, and to read the whole file a second time.

import { join } from 'node:path'
import { createField, TUS } from '../contestants/field.ts'
import { writeFileToSend } from '../measure/files-to-send.ts'
import { prepareTools, runInterleaved, runOnce } from '../measure/interleaved.ts'
import type { BenchPart } from '../part.ts'
import { judge, ratiosByRound } from '../report/bars.ts'
import { SPEED_COLUMNS, SPEED_PANELS, standardPlot } from '../report/standard-plot.ts'

const nameOf = (verify: string): string => `mocap-uplink, verify ${verify}`

export const verifyPart: BenchPart = {
  name: 'verify',
  about: 'the same file with verification off, md5 and full, against tus-js-client, which verifies nothing',

  async run(setting) {
    const bytes = setting.isQuick ? 16 << 20 : 2 * 2 ** 30
    const file = await writeFileToSend(join(setting.scratch, 'clip.mp4'), bytes)
    const field = createField(setting)
    const ours = (['md5', 'off', 'full'] as const).map((verify) =>
      field.uplink({ job: { file, verify }, files: 1, bytes }, { name: nameOf(verify) }),
    )
    const audited = field.uplink({ job: { file, verify: 'md5', isAudit: true }, files: 1, bytes })
    const audit = await runOnce(setting, await prepareTools(setting), audited, false)
    if (audit['hashedParts'] !== audit['parts'] || !audit['parts']) throw new Error('Not every part was hashed.')
    const contestants = [...ours, field.tus({ job: { file }, files: 1, bytes })]
    const { runs, shortfalls } = await runInterleaved(setting, { contestants, rounds: setting.rounds ?? 5 })

    const title = 'Verification: one file of 2 GiB over plain HTTP'
    return {
      part: 'verify',
      title,
      about: [
        'As in the part “upload”. With md5 every part is hashed while it is sent; full also reads the whole file again for its SHA-256 before it is confirmed.',
        'The discarding server gives ETags that are no MD5, so digests are computed and not compared; a run that was not timed has proved that every part was hashed.',
        'tus-js-client verifies nothing.',
      ],
      columns: SPEED_COLUMNS,
      runs,
      bars: [
        judge(
          { name: 'throughput, mocap-uplink with md5 ÷ tus-js-client', rule: 'atLeast', limit: 1 },
          ratiosByRound(runs, 'gigabytesPerSecond', nameOf('md5'), TUS),
        ),
      ],
      plots: [
        { name: '', svg: standardPlot({ title, runs, contestants, panels: SPEED_PANELS, machine: setting.machine }) },
      ],
      shortfalls,
    }
  },
}
