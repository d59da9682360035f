// `npm run bench -- [PART…] [--rounds N] [--quick] [--results DIR] [--list]`: measures, prints and keeps the results.

import { execFileSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { commandOptions, wholeNumberProblem } from '../scripts/command-options.ts'
import { INSTALLED, isInstalled, versionsOf } from './contestants/field.ts'
import { CompilerMissing } from './measure/compiled.ts'
import type { BenchPart } from './part.ts'
import { allParts } from './parts/all.ts'
import { BUSY_LOAD, describeMachine, machineLine } from './report/machine.ts'
import type { PartResult } from './report/result.ts'
import { resultText, writeResult } from './report/write-result.ts'

const USAGE = `npm run bench -- [PART…] [--rounds N] [--quick] [--results DIR] [--list]

Parts, all of them when none is named:
${allParts.map(({ name, about }) => `  ${name.padEnd(13)}${about}`).join('\n')}

  --rounds N      runs of each contestant; default: each part's own
  --quick         tiny sizes, one round: shows that everything works; the numbers mean nothing, bars are not judged
  --results DIR   where results are kept; default bench/results, with --quick nowhere
`

const { values, positionals } = commandOptions(
  USAGE,
  {
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      results: { type: 'string' },
      list: { type: 'boolean', default: false },
    },
  },
  (parsed) => {
    const unknown = parsed.positionals.filter((name) => !allParts.some((part) => part.name === name))
    if (unknown.length > 0) return `There is no part named ${unknown.join(', ')}.`
    return wholeNumberProblem('--rounds', parsed.values.rounds, 1)
  },
)
const say = (line: string): void => void process.stderr.write(`${line}\n`)
const root = process.cwd()

if (values.list) process.stdout.write(USAGE)
else {
  process.exitCode = await runParts(
    allParts.filter(({ name }) => positionals.length === 0 || positionals.includes(name)),
  )
}

/** Returns the exit code: 0 if everything that could be measured was, 1 if a part or a contestant failed. A missed bar is a result. */
async function runParts(parts: readonly BenchPart[]): Promise<number> {
  installRivals()
  const folder = values.results ?? (values.quick ? undefined : join('bench', 'results'))
  const machine = describeMachine(versionsOf(root), new Date())
  say(`${machineLine(machine)}; ${JSON.stringify(machine.versions)}`)
  if (machine.loadBefore > BUSY_LOAD)
    say('!! This machine is busy: ratios inside a round still mean something, absolute numbers less.')
  let [missed, isWhole] = [0, true]
  const unmeasured: string[] = []
  const scratches: string[] = []
  // Whoever stops a run is not to be left with gigabytes. What a part has started is ended by its own listeners, which come first.
  process.once('exit', () => scratches.forEach((path) => rmSync(path, { recursive: true, force: true })))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => setImmediate(() => process.exit(1)))
  for (const part of parts) {
    say(`\n${part.name}: ${part.about}`)
    const scratch = await mkdtemp(join(tmpdir(), 'mocap-uplink-bench-'))
    scratches.push(scratch)
    try {
      const rounds = values.rounds === undefined ? (values.quick ? 1 : undefined) : Number(values.rounds)
      const dist = join(root, 'dist')
      const programs = join(root, 'node_modules', '.cache', 'bench')
      const measured = await part.run({
        ...{ root, dist, programs, scratch, rounds, isQuick: values.quick, machine, say, keep },
      })
      if (measured === undefined) {
        unmeasured.push(part.name)
        continue
      }
      const result: PartResult = values.quick
        ? { ...measured, title: `${measured.title} (QUICK: tiny sizes, numbers mean nothing)`, bars: [] }
        : measured
      process.stdout.write(`\n${resultText(result)}\n`)
      missed += result.bars.filter(({ status }) => status !== 'met').length
      isWhole &&= result.shortfalls.length === 0
      await keep(result)
    } catch (error) {
      isWhole = false
      unmeasured.push(part.name)
      say(
        error instanceof CompilerMissing
          ? `!! SKIPPED ${part.name}: ${error.message}`
          : `!! FAILED ${part.name}: ${String(error)}`,
      )
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  }
  if (values.quick) say('Quick: no bar was judged.')
  else say(missed === 0 ? 'No bar was missed.' : `${missed} bars were MISSED or could not be measured; see above.`)
  if (unmeasured.length > 0) say(`!! NOT MEASURED, for the reasons above: ${unmeasured.join(', ')}.`)
  return isWhole ? 0 : 1

  async function keep(result: PartResult): Promise<void> {
    if (folder === undefined) return
    await mkdir(folder, { recursive: true })
    await writeResult(resolve(folder), result, machine)
  }
}

/** The rivals are not dependencies of the product. They are installed into bench/ when the benchmark first runs. */
function installRivals(): void {
  if (INSTALLED.every((name) => isInstalled(root, name))) return
  if (!existsSync(join(root, 'bench', 'package-lock.json'))) throw new Error('Run this in the root of the project.')
  for (const folder of ['bench', join('bench', 'uppy-5')]) {
    say(`Installing the other uploaders into ${folder}/node_modules …`)
    try {
      execFileSync('npm', ['ci', '--no-audit', '--no-fund'], {
        cwd: join(root, folder),
        stdio: ['ignore', 'ignore', 'pipe'],
      })
    } catch {
      say(`!! They could not be installed (npm ci in ${folder}/): the comparison goes on WITHOUT THEM.`)
    }
  }
}
