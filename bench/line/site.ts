// One run on a line: the far end, a ping beside it, one contestant, and everything that was observed.

import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { distinct, type Range } from '../measure/arrival.ts'
import type { BenchSetting } from '../part.ts'
import { median } from '../report/statistics.ts'
import { createLine, type Line, type LineSettings } from './line.ts'
import { isWholeRun, untilStopped } from './reading.ts'

export interface LineContestant {
  readonly name: string
  /** The command that sends `files`, program first. */
  command(site: { origin: string; setting: BenchSetting; files: readonly string[] }): readonly string[]
}

export interface LineSite {
  readonly line: Line
  readonly origin: string
  readonly files: readonly string[]
}

/** A line and what happens on it, the same for every run of the case. */
export interface LineCase {
  readonly name: string
  readonly about: string
  readonly line: LineSettings
  /** Happens before the contestant starts. Ends by itself or with the line. */
  readonly before?: (site: LineSite) => void
  /** The same, but begins when the contestant's first body begins to arrive. */
  readonly meanwhile?: (site: LineSite) => void
  /** A contestant that takes longer is stopped and judged by what has arrived, ms. */
  readonly longestMs: number
}

/** The far end's counts; see far-end.ts. */
export interface FarCount {
  readonly bytes: number
  /** Bodies that came to their end. */
  readonly ranges: readonly Range[]
  readonly puts: number
  readonly ms: number
  readonly beganAtMs: number
  readonly untilMs: number
  readonly bodyAfterMs: number | null
  readonly mostAtOnce: number
  readonly tenths: readonly (number | null)[]
  readonly otherTenths: readonly (number | null)[]
}

export interface LineRun {
  readonly count: FarCount
  readonly isWhole: boolean
  /** Payload rate as a share of the line's rate, percent. */
  readonly linePercent: number
  readonly pingMs: number
  /** Only of our own process, ten times a second: [ms on the far end's clock, sent bytes, parts in flight, limit of parts in flight]. */
  readonly samples: readonly (readonly [number, number, number, number])[]
  readonly cpuMs: number | undefined
}

const PORT = 8080

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
    const heard = listenTo(server)
    await heard('listening')
    const ping = line.start('near', 'ping', ['-i', '0.2', line.farAddress], quiet)
    const pings = collect(ping)
    lineCase.before?.({ line, origin, files })
    void heard('body').then(() => lineCase.meanwhile?.({ line, origin, files }))
    const [program = '', ...words] = contestant.command({ origin, setting, files })
    const child = line.start('near', program, words, quiet)
    const said = collect(child)
    let isStopped = false
    const stop = setTimeout(() => (isStopped = child.kill('SIGTERM')), lineCase.longestMs)
    const ended = await said
    clearTimeout(stop)
    ping.kill('SIGINT')
    const times = [...(await pings).text.matchAll(/time=([\d.]+) ms/g)].map((match) => Number(match[1]))
    const counted = JSON.parse(
      (await collect(line.start('far', 'curl', ['-s', `${origin}/count`], quiet))).text,
    ) as FarCount
    const own = ended.text.startsWith('{') ? (JSON.parse(ended.text) as OwnWords) : undefined
    const wantedBytes = files.reduce((sum, path) => sum + statSync(path).size, 0)
    const arrivedBytes = distinct(counted.ranges).bytes
    const isWhole = isWholeRun({ code: ended.code, isStopped, status: own?.status, arrivedBytes, wantedBytes })
    const count = isWhole ? counted : untilStopped(counted)
    const ms = isWhole ? count.ms : lineCase.longestMs
    // Bytes that were sent twice were of no use. For a contestant that was stopped, all that arrived counts, whole or not.
    const usefulBytes = isWhole ? wantedBytes : count.bytes
    const linePercent = ((usefulBytes * 8) / ms / 1000 / lineCase.line.megabitsPerSecond) * 100
    const shiftMs = (own?.beganAtMs ?? 0) - count.beganAtMs
    const samples = (own?.samples ?? []).map(([ms, ...rest]) => [ms + shiftMs, ...rest] as const)
    return { count, isWhole, linePercent, pingMs: median(times), samples, cpuMs: own?.cpuMs }
  } finally {
    await line.close()
  }
}

/** The output of our own process. */
interface OwnWords {
  readonly status: string
  /** When it began, ms since 1970. Times of samples are relative to this. */
  readonly beganAtMs: number
  readonly cpuMs: number
  readonly samples: LineRun['samples']
}

const quiet: SpawnOptions = { stdio: ['ignore', 'pipe', 'inherit'] }

/** Returns a function whose promise settles once the process has printed a word, even if it did so before the call. */
function listenTo(child: ChildProcess): (word: string) => Promise<void> {
  let text = ''
  const waiting = new Map<string, () => void>()
  child.stdout?.on('data', (piece: Buffer) => {
    text += piece.toString()
    for (const [word, resolve] of waiting) if (text.includes(word)) resolve()
  })
  return (word) =>
    new Promise((resolve) => {
      waiting.set(word, resolve)
      if (text.includes(word)) resolve()
    })
}

/** The output of a process until it ended, and its exit code, which is null if it was killed. */
function collect(child: ChildProcess): Promise<{ text: string; code: number | null }> {
  let text = ''
  child.stdout?.on('data', (piece: Buffer) => (text += piece.toString()))
  return new Promise((resolve) => child.once('close', (code) => resolve({ text, code })))
}
