// `npm run torture -- --kills N [--seed S] [--megabytes M]`: prints the seed and the counts; exit 1 on any breach.

import { resolve } from 'node:path'
import { commandOptions, wholeNumberProblem } from '../../scripts/command-options.ts'
import { runTorture } from './torture.ts'

const USAGE = `npm run torture -- [--kills N] [--seed S] [--megabytes M]

  --kills N       how often the upload is killed; default 20
  --seed S        where and how; default: by chance, and printed
  --megabytes M   MiB to upload; default ten for each kill, at least 60
`

const { values } = commandOptions(
  USAGE,
  {
    options: {
      kills: { type: 'string', default: '20' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      megabytes: { type: 'string' },
    },
  },
  ({ values: { kills, seed, megabytes } }) =>
    wholeNumberProblem('--kills', kills) ??
    wholeNumberProblem('--seed', seed) ??
    wholeNumberProblem('--megabytes', megabytes, 1),
)
const [kills, seed] = [Number(values.kills), Number(values.seed)]
const megabytes = Number(values.megabytes ?? Math.max(60, kills * 10))

process.stdout.write(`${kills} kills over ${megabytes} MiB; replay with --seed ${seed}\n`)
const say = (line: string) => void process.stdout.write(`${line}\n`)
const report = await runTorture({ entry: resolve('dist/cli/cli.js'), kills, seed, megabytes, say })
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`)
process.exitCode = report.breaches.length > 0 || report.kills < kills ? 1 : 0
