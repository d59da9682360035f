// The CLI as it is shipped: built by the project's own configuration, in a folder of its own, run as a real process.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { inject } from 'vitest'

import { SIGNAL_EXIT } from '../../src/cli/exit-codes.ts'

/** What a video and a capture upload must be told. */
export const VIDEO = ['--movement-type', '1', '--player', 'p-17', '--date', '2026-11-20', '--session-type', '2']
export const CAPTURE = ['--org', 'o', '--mocap-type', '2', '--session-type', '1', '--date', '2026-11-20']

/** One line of `--json`. */
export type JsonLine = Readonly<Record<string, unknown>> & { readonly event: string; readonly at: string }

export interface CliEnd {
  /** As a shell sees it: a process may end with 130, or by SIGINT. Null for other signals. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CliProcess {
  readonly process: ChildProcess
  /** Settles when stdout so far matches; rejects when the process ends without it. */
  seen(pattern: RegExp): Promise<void>
  /** Rejects when the process cannot be started. */
  readonly ended: Promise<CliEnd>
}

export interface CliUnderTest {
  /** The built program. */
  readonly entry: string
  /** A folder for files of the tests. */
  readonly folder: string
  /** Where sessions are kept unless a test says otherwise. */
  readonly stateDir: string
  start(args: readonly string[], env?: Readonly<Record<string, string>>): CliProcess
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<CliEnd>
  remove(): Promise<void>
}

/** Puts what was built for the run into a new folder. */
export async function installCli(): Promise<CliUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-cli-test-'))
  await symlink(resolve('node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await cp(inject('builtCli'), join(folder, 'dist'), { recursive: true })
  await mkdir(join(folder, 'files'))
  const entry = join(folder, 'dist', 'cli.js')
  const stateDir = join(folder, 'state')

  function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): CliProcess {
    const child = spawn(process.execPath, [entry, ...args], {
      cwd: join(folder, 'files'),
      // Nothing of the machine's own settings: no proxy, no key, no colour, no sessions of its user.
      env: { PATH: '', MOCAP_STATE_DIR: stateDir, ...env },
    })
    let [stdout, stderr] = ['', '']
    let look = () => {}
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      look()
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    const ended = new Promise<CliEnd>((settle, reject) => {
      child.once('close', (code, signal) => settle({ code: code ?? asShell(signal), stdout, stderr }))
      child.once('error', reject)
    })
    return {
      process: child,
      ended,
      seen: (pattern) =>
        new Promise((settle, reject) => {
          look = () => {
            if (pattern.test(stdout)) settle()
          }
          look()
          ended.then((end) => reject(new Error(`ended without ${String(pattern)}: ${JSON.stringify(end)}`)), reject)
        }),
    }
  }

  return {
    entry,
    folder: join(folder, 'files'),
    stateDir,
    start,
    run: (args, env) => start(args, env).ended,
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

function asShell(signal: NodeJS.Signals | null): number | null {
  const codes: Partial<Record<string, number>> = SIGNAL_EXIT
  return codes[signal ?? ''] ?? null
}

/** The lines of `--json`; throws where the end of a line is missing, and where one is anything else than an event with its time. */
export function jsonLines(stdout: string): JsonLine[] {
  const lines = stdout.split('\n')
  if (lines.pop() !== '') throw new Error(`stdout does not end with a line: ${stdout.slice(-80)}`)
  return lines.map((line) => {
    if (!/^\{"event":"[\w.]+","at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/.test(line))
      throw new Error(`no event: ${line}`)
    return JSON.parse(line) as JsonLine
  })
}

/** The last line of `--json`; throws where it is neither a result nor the plan of a dry run. */
export function lastLine(stdout: string): JsonLine {
  const line = jsonLines(stdout).at(-1)
  if (line?.event !== 'result' && line?.event !== 'plan')
    throw new Error(`The last line is no result: ${stdout.slice(-80)}`)
  return line
}
