// Where and with what a result was measured, so that nobody compares the numbers of two machines unawares.

import { execFileSync } from 'node:child_process'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { readable } from './statistics.ts'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGib: number
  readonly kernel: string
  /** Version of Node, for the runner and for every contestant that runs on Node. */
  readonly node: string
  /** Programs and packages that took part → version. */
  readonly versions: Readonly<Record<string, string>>
  /** The commit that was measured, with `+ changes` if the working tree was not clean. */
  readonly commit: string
  /** ISO time, UTC, at which the run began. */
  readonly measuredAt: string
  /** Load average over the minute before. Much above 0 means that others were using the machine. */
  readonly loadBefore: number
}

/** Describes this machine. `versions` are those of the contestants, as they report them. */
export function describeMachine(versions: Readonly<Record<string, string>>, now: Date): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release()}`,
    node: process.version,
    versions,
    commit: commit(),
    measuredAt: now.toISOString(),
    loadBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  }
}

/** A load above this means that others were using the machine while we measured. */
export const BUSY_LOAD = 0.5

/** The machine as one line for the foot of a plot. */
export function machineLine(machine: Machine): string {
  const { cores, cpu, kernel, node, loadBefore } = machine
  const load = loadBefore > BUSY_LOAD ? `, busy with other work (load ${readable(loadBefore)})` : ''
  return `${cores} × ${cpu}, ${kernel}, Node ${node.replace(/^v/, '')}, commit ${machine.commit}, ${machine.measuredAt.slice(0, 10)}${load}`
}

function commit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()
  try {
    // Results are written during a run and do not change what is measured.
    const changes = git('status', '--porcelain', '--', '.', ':(exclude)bench/results')
    return git('rev-parse', '--short=10', 'HEAD') + (changes === '' ? '' : ' + changes')
  } catch {
    return 'unknown'
  }
}
