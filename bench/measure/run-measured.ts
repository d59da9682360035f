// Runs one contestant as a process of its own and reports what it cost: time, processor, memory.

import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  /** In addition to PATH and HOME, which are all that a contestant inherits. */
  readonly env?: Readonly<Record<string, string>>
}

export interface Cost {
  /** From before the program is started until it has ended. */
  readonly wallMs: number
  /** User and system time of all its threads and of the children that it waited for. */
  readonly cpuMs: number
  readonly peakBytes: number
  readonly stdout: string
}

const LONGEST_OUTPUT = 1_000_000

/** `measured` is the program compiled from measured.c. Rejects with the end of stderr when the program fails. */
export async function runMeasured(measured: string, command: Command): Promise<Cost> {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(measured, ['3', command.program, ...command.args], {
    env: { PATH, HOME, ...command.env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const outputs = [child.stdout, child.stderr, child.stdio[3]].map((stream) => collect(stream as Readable))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const [stdout = '', stderr = '', costs = ''] = outputs.map((text) => text())
  if (code !== 0) throw new Error(`${command.program} ended with ${String(code)}: ${stderr.slice(-2_000)}`)
  const { wallMs, userMs, systemMs, peakBytes } = JSON.parse(costs) as Record<string, number>
  if (wallMs === undefined || userMs === undefined || systemMs === undefined || peakBytes === undefined) {
    throw new Error(`What ${command.program} cost was not told.`)
  }
  return { wallMs, cpuMs: userMs + systemMs, peakBytes, stdout }
}

function collect(stream: Readable): () => string {
  let text = ''
  stream.setEncoding('utf8').on('data', (piece: string) => (text = (text + piece).slice(-LONGEST_OUTPUT)))
  return () => text
}
