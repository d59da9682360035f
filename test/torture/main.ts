// `npm run torture -- --kills N [--seed S] [--megabytes M]`: prints the seed and the counts; exit 1 on any breach.

import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { runTorture } from './torture.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    /** Default: ten for each kill. */
    megabytes: { type: 'string' },
  },
})
const [kills, seed] = [whole(values.kills, '--kills'), whole(values.seed, '--seed')]
const megabytes = values.megabytes === undefined ? Math.max(60, kills * 10) : whole(values.megabytes, '--megabytes')

process.stdout.write(`${kills} kills over ${megabytes} MiB; replay with --seed ${seed}\n`)
const say = (line: string) => void process.stdout.write(`${line}\n`)
const report = await runTorture({ entry: resolve('dist/cli/cli.js'), kills, seed, megabytes, say })
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`)
process.exitCode = report.breaches.length > 0 || report.kills < kills ? 1 : 0

function whole(text: string, name: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw new Error(`${name} must be a whole number of at most ten digits.`)
}
