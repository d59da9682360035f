// One run on a line: the far end, a ping beside it, one contestant, and what was seen of it all.

import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { join } from 'node:path'
import type { BenchSetting } from '../part.ts'
import { median } from '../report/statistics.ts'
import { createLine, type Line, type LineSettings } from './line.ts'

export interface LineContestant {
  readonly name: string
  /** Words of our own process (`video auto`), or another program with its words; `file` is what is sent. */
  command(site: { origin: string; setting: BenchSetting; files: readonly string[] }): readonly string[]
}

/** What is set up for every run of a case. */
export interface LineCase {
  readonly name: string
  readonly about: string
  readonly line: LineSettings
  /** What happens on the line meanwhile; ends by itself or with the line. */
  readonly meanwhile?: (line: Line, origin: string, files: readonly string[]) => void
  /** A contestant that takes longer is stopped and judged by what had arrived, ms. */
  readonly longestMs: number
}

/** As the far end counts. */
export interface FarCount {
  readonly bytes: number
  readonly puts: number
  readonly ms: number
  readonly mostAtOnce: number
  readonly tenths: readonly (number | null)[]
  readonly otherTenths: readonly (number | null)[]
}

export interface LineRun {
  readonly count: FarCount
  readonly isWhole: boolean
  /** Payload a second, of all that the line carries, percent. */
  readonly linePercent: number
  readonly pingMs: number
  /** Ours only: [ms, sent bytes, parts in flight, limit], ten times a second. */
  readonly samples: readonly (readonly [number, number, number, number])[]
  readonly cpuMs: number | undefined
}

const PORT = 8080
/** How our own process ends when it was stopped; what it says then counts. */
const STOPPED = 3

/** Runs one contestant on a fresh line. */
export async function runOnLine(
  setting: BenchSetting,
  lineCase: LineCase,
  contestant: LineContestant,
  files: readonly string[],
  seed: number,
): Promise<LineRun> {
  const line = await createLine(lineCase.line, seed)
  try {
    const origin = `http://${line.farAddress}:${String(PORT)}`
    const farEnd = join(setting.programs, 'line', 'far-end.js')
    const server = line.start('far', process.execPath, [farEnd, line.farAddress, String(PORT)], quiet)
    await new Promise((resolve) => server.stdout?.once('data', resolve))
    const ping = line.start('near', 'ping', ['-i', '0.2', line.farAddress], quiet)
    const pings = collect(ping)
    lineCase.meanwhile?.(line, origin, files)
    const [program = '', ...words] = contestant.command({ origin, setting, files })
    const child = line.start('near', program, words, quiet)
    const said = collect(child)
    const stop = setTimeout(() => child.kill('SIGTERM'), lineCase.longestMs)
    const ended = await said
    clearTimeout(stop)
    ping.kill('SIGINT')
    const times = [...(await pings).text.matchAll(/time=([\d.]+) ms/g)].map((match) => Number(match[1]))
    const count = JSON.parse(
      (await collect(line.start('far', 'curl', ['-s', `${origin}/count`], quiet))).text,
    ) as FarCount
    const own = ended.text.startsWith('{') ? (JSON.parse(ended.text) as Partial<LineRun>) : {}
    if (ended.code !== 0 && ended.code !== STOPPED && ended.code !== null)
      throw new Error(`${contestant.name} ended with ${String(ended.code)}`)
    const isWhole = ended.code === 0
    const ms = isWhole ? count.ms : lineCase.longestMs
    const linePercent = ((count.bytes * 8) / ms / 1000 / lineCase.line.megabitsPerSecond) * 100
    return { count, isWhole, linePercent, pingMs: median(times), samples: own.samples ?? [], cpuMs: own.cpuMs }
  } finally {
    await line.close()
  }
}

const quiet: SpawnOptions = { stdio: ['ignore', 'pipe', 'inherit'] }

/** What a process said until it ended; the code is null when it was killed. */
function collect(child: ChildProcess): Promise<{ text: string; code: number | null }> {
  let text = ''
  child.stdout?.on('data', (piece: Buffer) => (text += piece.toString()))
  return new Promise((resolve) => child.once('close', (code) => resolve({ text, code })))
}
