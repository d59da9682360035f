// The heart of a fair comparison: contestants take turns, round after round, each against a fresh server that knows
// what arrived. A run in which not every byte arrived is not a result.

import { join } from 'node:path'

import type { Contestant } from '../contestants/field.ts'
import { isInstalled } from '../contestants/field.ts'
import type { BenchSetting } from '../part.ts'
import type { Run } from '../report/result.ts'
import { readable } from '../report/statistics.ts'
import { startBenchService } from '../server/service.ts'
import { startSink, type SinkCounts } from '../server/sink.ts'
import { checkArrival } from './arrival.ts'
import { compiled } from './compiled.ts'
import { runMeasured, type Cost } from './run-measured.ts'

export interface Tools {
  readonly sink: string
  readonly measured: string
}

export interface Measured {
  readonly runs: readonly Run[]
  readonly shortfalls: readonly string[]
}

const MIB = 2 ** 20
const GIB = 2 ** 30

/** Compiles what a measurement needs. With TLS the compiler must find OpenSSL. Throws CompilerMissing. */
export async function prepareTools({ root, programs }: BenchSetting, isTls = false): Promise<Tools> {
  const tlsFlags = isTls ? ['-DWITH_TLS', '-lssl', '-lcrypto'] : []
  return {
    sink: await compiled(join(root, 'bench', 'server', 'sink.c'), programs, tlsFlags),
    measured: await compiled(join(root, 'bench', 'measure', 'measured.c'), programs),
  }
}

/** Someone who takes turns. */
type Turn = Pick<Contestant, 'name' | 'setting' | 'rival'>

/** Runs every contestant once in each round, as a process of its own; see takeTurns. */
export async function runInterleaved(
  setting: BenchSetting,
  { contestants, rounds, isTls = false }: { contestants: readonly Contestant[]; rounds: number; isTls?: boolean },
): Promise<Measured> {
  const tools = await prepareTools(setting, isTls)
  return takeTurns(setting, contestants, rounds, (contestant) => runOnce(setting, tools, contestant, isTls))
}

/** The order of a round, the first being 1: each begins with another contestant. */
export function inOrderOf<One>(round: number, contestants: readonly One[]): readonly One[] {
  const first = (round - 1) % contestants.length
  return [...contestants.slice(first), ...contestants.slice(0, first)]
}

/**
 * Runs every contestant once in each round, in the round's order. A contestant that fails, or whose bytes did not all
 * arrive, is out and is named in the shortfalls.
 */
export async function takeTurns<One extends Turn>(
  setting: BenchSetting,
  contestants: readonly One[],
  rounds: number,
  measure: (contestant: One) => Promise<Record<string, number>>,
): Promise<Measured> {
  const runs: Run[] = []
  const out = new Map<One, string>()
  for (const contestant of contestants) {
    const { rival } = contestant
    if (rival !== undefined && !isInstalled(setting.root, rival)) out.set(contestant, 'is not installed in bench/')
  }
  for (let round = 1; round <= rounds; round += 1) {
    for (const contestant of inOrderOf(round, contestants)) {
      if (out.has(contestant)) continue
      try {
        const measures = await measure(contestant)
        runs.push({ contestant: contestant.name, round, measures, ...settingOf(contestant) })
        setting.say(`  ${round}/${rounds} ${describe(contestant).padEnd(44)} ${glance(measures)}`)
      } catch (error) {
        out.set(contestant, `is out in round ${round}: ${String(error)}`)
        setting.say(`  !! ${describe(contestant)} ${out.get(contestant) ?? ''}`)
      }
    }
  }
  // In the order in which they were given, whoever began.
  const order = (run: Run): number => contestants.findIndex((one) => isRunOf(run, one))
  return {
    runs: runs.toSorted((one, other) => order(one) - order(other) || one.round - other.round),
    shortfalls: [...out].map(([contestant, why]) => `${describe(contestant)} ${why}`),
  }
}

/** One run against a fresh server and a fresh service. Rejects unless exactly what was to be sent arrived. */
export async function runOnce(
  setting: BenchSetting,
  tools: Tools,
  contestant: Contestant,
  isTls: boolean,
): Promise<Record<string, number>> {
  const sink = await startSink({ program: tools.sink, ...(isTls ? { tls: { folder: setting.scratch } } : {}) })
  const service = await startBenchService(sink.origin)
  let cost: Cost
  let counts: SinkCounts
  try {
    const { certificateFile } = sink
    const site = { storageOrigin: sink.origin, serviceOrigin: service.origin }
    cost = await runMeasured(
      tools.measured,
      contestant.command({ ...site, ...(certificateFile === undefined ? {} : { certificateFile }) }),
    )
  } finally {
    await service.close()
    counts = await sink.counts()
  }
  checkArrival(contestant, counts, service.counts())
  return measuresOf(contestant, cost, counts)
}

function measuresOf({ load }: Contestant, cost: Cost, counts: SinkCounts): Record<string, number> {
  const { transferMs, transferSeconds, durationMs, status, ...findings } = lastLine(cost.stdout)
  if (status !== undefined && status !== 'confirmed') throw new Error(`the upload ended ${JSON.stringify(status)}`)
  const insideMs =
    transferMs ?? durationMs ?? (transferSeconds === undefined ? undefined : Number(transferSeconds) * 1e3)
  const found = Object.entries(findings).filter((pair): pair is [string, number] => typeof pair[1] === 'number')
  return {
    wallMs: cost.wallMs,
    ...(insideMs === undefined ? {} : { transferMs: Number(insideMs) }),
    cpuMs: cost.cpuMs,
    gigabytesPerSecond: load.bytes / 1e6 / cost.wallMs,
    filesPerSecond: (load.files * 1e3) / cost.wallMs,
    cpuSecondsPerGib: cost.cpuMs / 1e3 / (load.bytes / GIB),
    cpuMsPerFile: cost.cpuMs / load.files,
    peakMib: cost.peakBytes / MIB,
    serverCpuSecondsPerGib: counts.cpuMs / 1e3 / (load.bytes / GIB),
    ...{ bodies: counts.bodies, requests: counts.requests },
    ...{ connections: counts.connections, mostOpen: counts.mostOpen },
    ...Object.fromEntries(found),
  }
}

function lastLine(stdout: string): Record<string, unknown> {
  const line = stdout.trim().split('\n').at(-1) ?? ''
  return line === '' ? {} : (JSON.parse(line) as Record<string, unknown>)
}

function isRunOf(run: Run, contestant: Turn): boolean {
  return run.contestant === contestant.name && JSON.stringify(run.setting) === JSON.stringify(contestant.setting)
}

function settingOf({ setting }: Turn): Pick<Run, 'setting'> {
  return setting === undefined ? {} : { setting }
}

function describe({ name, setting = {} }: Turn): string {
  return [name, ...Object.entries(setting).map(([key, value]) => `${key} ${value}`)].join(', ')
}

function glance(measures: Readonly<Record<string, number>>): string {
  const { wallMs = 0, gigabytesPerSecond, cpuSecondsPerGib, peakMib, longestTaskMs } = measures
  const shown = [
    [wallMs / 1e3, 's'],
    [gigabytesPerSecond, 'GB/s'],
    [cpuSecondsPerGib, 'CPU s/GiB'],
    [peakMib, 'MiB'],
    [longestTaskMs, 'ms longest task'],
  ] as const
  return shown.flatMap(([value, unit]) => (value === undefined ? [] : [`${readable(value)} ${unit}`])).join('  ')
}
