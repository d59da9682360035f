// Where and with what a result was measured, so that nobody compares numbers of two machines unawares.

import { execFileSync } from 'node:child_process'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { readable } from './statistics.ts'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGib: number
  readonly kernel: string
  /** Of the runner and of every contestant that runs on Node. */
  readonly node: string
  /** Programs and packages that took part → version. */
  readonly versions: Readonly<Record<string, string>>
  /** What was measured; `+ changes` when the working tree was not clean. */
  readonly commit: string
  /** ISO time, UTC, at which the run began. */
  readonly measuredAt: string
  /** Load of the machine over the minute before: much above 0 means that others were at work. */
  readonly loadBefore: number
}

/** Looks at this machine. `versions` are those of the contestants, as they said themselves. */
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

/** A load above this means that others were at work while we measured. */
export const BUSY_LOAD = 0.5

/** The machine in one line for a plot's foot. */
export function machineLine(machine: Machine): string {
  const { cores, cpu, kernel, node, loadBefore } = machine
  const load = loadBefore > BUSY_LOAD ? `, busy with other work (load ${readable(loadBefore)})` : ''
  return `${cores} × ${cpu}, ${kernel}, Node ${node.replace(/^v/, '')}, commit ${machine.commit}, ${machine.measuredAt.slice(0, 10)}${load}`
}

function commit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()
  try {
    // Results are written while a run goes on; they do not change what is measured.
    const changes = git('status', '--porcelain', '--', '.', ':(exclude)bench/results')
    return git('rev-parse', '--short=10', 'HEAD') + (changes === '' ? '' : ' + changes')
  } catch {
    return 'unknown'
  }
}
