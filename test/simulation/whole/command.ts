// `npm run simulate -- --runs N --seed S` simulates N nights, from seed S on. It stops at the first night in which a
// promise is broken and prints its log and seed. `--runs 1 --seed S` repeats that night, to the last byte.

import { commandOptions, wholeNumberProblem } from '../../../scripts/command-options.ts'
import { runNight } from './run-night.ts'

const USAGE = `npm run simulate -- [--runs N] [--seed S] [--log]

  --runs N   nights; default 1000
  --seed S   the first night's seed; default: by chance, and printed
  --log      prints what happens in each night
`

const { values } = commandOptions(
  USAGE,
  { options: { runs: { type: 'string', default: '1000' }, seed: { type: 'string' }, log: { type: 'boolean' } } },
  ({ values: { runs, seed } }) => wholeNumberProblem('--runs', runs, 1) ?? wholeNumberProblem('--seed', seed),
)
const runs = Number(values.runs)
const firstSeed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed)

const totals = { files: 0, parts: 0, steps: 0, lives: 0, deaths: 0, closes: 0, faults: 0, sessions: 0, hours: 0 }
const ends = new Map<string, number>()
const beganAt = process.cpuUsage()
for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
  const outcome = await runNight(seed)
  totals.files += outcome.fileCount
  totals.parts += outcome.partCount
  totals.steps += outcome.stepCount
  totals.lives += outcome.lifeCount
  totals.deaths += outcome.deathCount
  totals.closes += outcome.closeCount
  totals.faults += outcome.faultCount
  totals.sessions += outcome.sessionCount
  totals.hours += outcome.simulatedMs / 3_600_000
  ends.set(String(outcome.status), (ends.get(String(outcome.status)) ?? 0) + 1)
  const isBroken = outcome.violations.length > 0
  if (!isBroken && values.log !== true) continue
  const { log, violations } = await runNight(seed, { isLogged: true })
  process.stdout.write(`${log.join('\n')}\n`)
  if (!isBroken) continue
  process.stdout.write(`\nA promise is broken:\n${violations.map((line) => `  ${line}\n`).join('')}`)
  process.stdout.write(`Replay with: npm run simulate -- --runs 1 --seed ${String(seed)}\n`)
  process.exit(1)
}
const { user, system } = process.cpuUsage(beganAt)
const cpuSeconds = (user + system) / 1e6
/** Per second of processor time of all threads, including V8's compiler and collector. Loading the modules is not included. */
const perSecond = (count: number): string => (count / cpuSeconds).toFixed(0)
const mean = (sum: number): string => (sum / runs).toFixed(1)
process.stdout.write(
  `${String(runs)} nights from seed ${String(firstSeed)}: every promise held. ${perSecond(runs)} a second of processor time, ${perSecond(totals.sessions)} sessions.\n` +
    `A mean of ${mean(totals.files)} files, ${mean(totals.parts)} parts, ${mean(totals.steps)} clock steps, ${mean(totals.lives)} lives, ` +
    `${mean(totals.faults)} faults; ${String(totals.deaths)} deaths, ${String(totals.closes)} closes, ${String(totals.sessions)} sessions, ${totals.hours.toFixed(0)} simulated hours.\n` +
    `Ends: ${[...ends].map(([status, count]) => `${status} ${String(count)}`).join(', ')}.\n`,
)
