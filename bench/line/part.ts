// The part `line`: uploads over wide-area lines with real TCP, where connections matter and the processor does not.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stampAll } from '../measure/stamps.ts'
import type { BenchPart, BenchSetting } from '../part.ts'
import { judge, ratiosByRound, ratiosToBestByRound } from '../report/bars.ts'
import type { Machine } from '../report/machine.ts'
import { valuesOf, type Bar, type PartResult, type Run } from '../report/result.ts'
import * as cases from './cases.ts'
import { missingForLine } from './line.ts'
import { fairness, latePercent, settledSeconds } from './reading.ts'
import { sharePlot } from './share-plot.ts'
import { runOnLine, type FarCount, type LineCase, type LineContestant } from './site.ts'

const OURS = 'mocap-uplink'
const BACKGROUND = 'mocap-uplink, background'
const MIB = 1024 ** 2
/** The contestants as people run them. The fixed numbers are only there for comparison. */
const isOurs = (contestant: string): boolean => contestant === OURS || contestant === BACKGROUND

type Size = 'large' | 'middle' | 'small'

/** One line of a round: its contestants, in order, and those that run only in the first round. */
interface Stage {
  readonly on: LineCase
  readonly sends: Size
  readonly each: readonly LineContestant[]
  readonly once?: readonly LineContestant[]
}

const us = cases.ours(OURS, 'video', 'auto')
const fixedName = (number: number): string => `${OURS}, ${String(number)} fixed`
const fixed = (number: number): LineContestant => cases.ours(fixedName(number), 'video', String(number))

/**
 * A round takes seven minutes, and the first one four more. Rivals far from a bar, and fixed numbers far from the best
 * one, are measured only once.
 */
const program: readonly Stage[] = [
  {
    on: cases.lossy,
    sends: 'large',
    each: [us],
    once: [cases.curl, cases.rival('tus-js-client', 'tus'), cases.rival('lib-storage', 'lib-storage')],
  },
  { on: cases.veryLossy, sends: 'large', each: [us, fixed(64)], once: [fixed(16), fixed(32)] },
  {
    on: cases.narrow,
    sends: 'middle',
    each: [us, cases.curl, cases.ours(BACKGROUND, 'video', 'background')],
  },
  { on: cases.far, sends: 'small', each: [cases.ours(OURS, 'capture', 'auto')] },
  { on: cases.changing, sends: 'large', each: [us] },
  { on: cases.shared, sends: 'large', each: [us] },
  { on: cases.sharedLate, sends: 'large', each: [], once: [us] },
]

export const linePart: BenchPart = {
  name: 'line',
  about: 'wide-area lines of real TCP, simulated: far, lossy, narrow, changing, shared (Linux, root)',
  async run(setting) {
    const missing = await missingForLine()
    if (missing.length > 0) {
      setting.say(`!! SKIPPED: no line was measured. This machine lacks ${missing.join('; ')}.`)
      return undefined
    }
    const files = await makeFiles(setting)
    const runs: Run[] = []
    const shortfalls: string[] = []
    for (let round = 1; round <= (setting.rounds ?? 3); round += 1) {
      for (const { on, sends, each, once = [] } of program) {
        for (const contestant of round === 1 ? [...each, ...once] : each) {
          try {
            runs.push(await measure(setting, on, contestant, files[sends], round))
          } catch (error) {
            shortfalls.push(`${on.name}, ${contestant.name}, round ${round}: ${String(error)}`)
          }
          const last = `The run was stopped after ${on.name}, ${contestant.name}, round ${String(round)}.`
          await setting.keep(result(runs, [...shortfalls, last], setting.machine))
        }
      }
    }
    return result(runs, shortfalls, setting.machine)
  },
}

async function makeFiles(setting: BenchSetting): Promise<Record<Size, readonly string[]>> {
  const scale = setting.isQuick ? 1 / 32 : 1
  const make = async (name: string, bytes: number, file = 0): Promise<string> => {
    const path = join(setting.scratch, name)
    const content = Buffer.alloc(Math.round(bytes), name)
    stampAll(content, file)
    await writeFile(path, content)
    return path
  }
  await mkdir(setting.scratch, { recursive: true })
  const names = Array.from({ length: Math.ceil(300 * scale) }, (_, index) => `${String(index)}.action`)
  return {
    large: [await make('large.mp4', 512 * MIB * scale)],
    middle: [await make('middle.mp4', 56 * MIB * scale)],
    small: await Promise.all(names.map((name, file) => make(name, 1.2e6, file))),
  }
}

async function measure(
  setting: BenchSetting,
  lineCase: LineCase,
  contestant: LineContestant,
  files: readonly string[],
  round: number,
): Promise<Run> {
  const run = await runOnLine(setting, lineCase, contestant, files, round)
  const { linePercent, pingMs, count, cpuMs, samples } = run
  const late = latePercent(samples)
  setting.say(
    `  ${lineCase.name}, ${contestant.name}: ${linePercent.toFixed(1)} % of the line, ping ${pingMs.toFixed(0)} ms, ` +
      `at most ${String(count.mostAtOnce)} at once${late > 0 ? `, ${late.toFixed(0)} % of the samples late` : ''}${run.isWhole ? '' : ' (stopped before its end)'}`,
  )
  const isShared = lineCase === cases.shared || lineCase === cases.sharedLate
  const share = fairness(count, samples)
  const settled = lineCase === cases.changing ? settledSeconds(count.tenths, changesOf(count)) : NaN
  return {
    contestant: contestant.name,
    round,
    setting: { line: lineCase.name },
    measures: {
      ...{ linePercent, pingMs, mostAtOnce: count.mostAtOnce },
      ...(cpuMs === undefined ? {} : { cpuMs }),
      ...(Number.isFinite(late) ? { latePercent: late } : {}),
      ...(Number.isFinite(settled) ? { settledSeconds: settled } : {}),
      // If both hardly ran at the same time, nothing was measured.
      ...(isShared && Number.isFinite(share) ? { fairness: share } : {}),
    },
  }
}

/** The changes, on the clock of the far end's counts. */
function changesOf({ bodyAfterMs }: FarCount): { atMs: number; megabitsPerSecond: number }[] {
  return cases.CHANGES.map((change) => ({ ...change, atMs: change.atMs + (bodyAfterMs ?? 0) }))
}

function result(runs: readonly Run[], shortfalls: readonly string[], machine: Machine): PartResult {
  const title = 'Wide-area lines (simulated, real TCP)'
  return {
    part: 'line',
    title,
    about: [
      'Two network namespaces, joined in user space with a rate, a drop-tail queue, a delay and random loss each way; cubic.',
      'Time runs at the far end from the first connection to the last answer; percent of the line is payload, of which 96.5 fit.',
      'Samples of our own process that came more than 20 ms late say that it waited for the processor: then not the line alone decided.',
      'Who takes too long is stopped and judged by what had arrived. Everyone at its defaults, but for what is named.',
      ...program.map(({ on: { name, about } }) => `${name}: ${about}`),
    ],
    columns: [
      { measure: 'linePercent', label: '% of the line' },
      { measure: 'pingMs', label: 'ping, ms' },
      { measure: 'mostAtOnce', label: 'at once' },
      { measure: 'latePercent', label: 'samples late, %' },
      { measure: 'settledSeconds', label: 'settled, s' },
      { measure: 'fairness', label: '÷ a curl' },
    ],
    runs,
    bars: bars(runs),
    plots: runs.length === 0 ? [] : [{ name: '', svg: sharePlot({ title, runs, machine, isOurs }) }],
    shortfalls,
  }
}

function bars(runs: readonly Run[]): Bar[] {
  const of = (lineCase: LineCase, measure: string, contestant = OURS): number[] =>
    valuesOf(runs, contestant, measure, { line: lineCase.name })
  const least = (lineCase: LineCase, limit: number, contestant = OURS): Bar =>
    judge(
      { name: `% of the line, ${lineCase.name}, ${contestant}`, rule: 'atLeast', limit, unit: '%' },
      of(lineCase, 'linePercent', contestant),
    )
  const most = (name: string, limit: number, unit: string, values: readonly number[]): Bar =>
    judge({ name, rule: 'atMost', limit, unit }, values)
  const { veryLossy, narrow, shared, sharedLate, changing } = cases
  const numbers = [16, 32, 64].map(fixedName)
  const toBest = ratiosToBestByRound(runs, 'linePercent', OURS, numbers, { line: veryLossy.name })
  const pings = ratiosByRound(runs, 'pingMs', OURS, 'curl -T', { line: narrow.name })
  return [
    least(cases.lossy, 80),
    judge({ name: `to the best fixed number, ${veryLossy.name}`, rule: 'atLeast', limit: 0.9 }, toBest),
    least(narrow, 95),
    most(`parts at once, ${narrow.name}`, 4, 'parts', of(narrow, 'mostAtOnce')),
    most(`median ping beside us ÷ beside curl, ${narrow.name}`, 1.1, '×', pings),
    most(
      `median ping, ${narrow.name}, background`,
      narrow.line.roundTripMs + 60,
      'ms',
      of(narrow, 'pingMs', BACKGROUND),
    ),
    least(narrow, 70, BACKGROUND),
    least(cases.far, 80),
    most(`settled after a change, ${changing.name}`, 20, 's', of(changing, 'settledSeconds')),
    ...[shared, sharedLate].flatMap((lineCase) => {
      const name = `our connection ÷ a curl's, ${lineCase.name}`
      const shares = of(lineCase, 'fairness')
      return [judge({ name, rule: 'atLeast', limit: 0.8 }, shares), most(name, 2, '×', shares)]
    }),
  ]
}
