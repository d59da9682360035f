// A simulated wide-area line with real TCP: two network namespaces joined by the forwarder. Needs root, TUN, iproute2
// and a C compiler. `missingForLine` names what is missing, so that nobody mistakes a skipped run for a good one.

import { execFile, execFileSync, spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { compiled } from '../measure/compiled.ts'

const run = promisify(execFile)

/** The settings of a line, which are the same in both directions. */
export interface LineSettings {
  /** Round trip time with empty queues, ms. */
  readonly roundTripMs: number
  readonly megabitsPerSecond: number
  /** Random packet loss, percent. */
  readonly lossPercent: number
  /** How long a full queue takes to drain at this rate, ms. */
  readonly queueMs: number
}

/** `near` is where uploads start, `far` where they end. */
export type LineEnd = 'near' | 'far'

export interface Line {
  readonly farAddress: string
  /** Changes the line while it is in use. Packets in the queue leave at the new rate. */
  set(settings: LineSettings): Promise<void>
  /** Starts a process at one end. If it still runs when the line closes, it is killed. */
  start(end: LineEnd, command: string, words: readonly string[], options?: SpawnOptions): ChildProcess
  /** Ends everything that was started, the forwarder and the namespaces. Idempotent. */
  close(): Promise<void>
}

// RFC 2544 reserves this range for measuring networks, so nobody uses it.
const NEAR_ADDRESS = '198.18.0.1'
const FAR_ADDRESS = '198.18.0.2'
const FORWARDER_SOURCE = 'bench/line/forwarder.c'
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const CACHE = 'node_modules/.cache/line'

/** What this machine lacks for a line, each with a remedy. Empty if nothing is missing. */
export async function missingForLine(): Promise<readonly string[]> {
  const missing: string[] = []
  if (process.platform !== 'linux') return ['Linux: network namespaces and TUN are its own']
  if (process.getuid?.() !== 0) missing.push('root: namespaces and TUN devices are made (run it with sudo)')
  try {
    accessSync('/dev/net/tun', constants.R_OK | constants.W_OK)
  } catch {
    missing.push('/dev/net/tun (modprobe tun; in a container also --device /dev/net/tun --cap-add NET_ADMIN,SYS_ADMIN)')
  }
  for (const [command, flag, packageName] of [
    ['ip', '-V', 'iproute2'],
    ['ping', '-V', 'iputils-ping'],
    ['curl', '-V', 'curl'],
    ['cc', '--version', 'gcc or clang'],
  ] as const) {
    await run(command, [flag]).catch(() => missing.push(`${command} (install ${packageName})`))
  }
  return missing
}

/** Creates a line. The same seed loses the same packets, as far as they come in the same order. */
export async function createLine(settings: LineSettings, seed: number): Promise<Line> {
  const forwarderPath = await compiled(FORWARDER_SOURCE, CACHE)
  const namespaces = { near: `mu-near-${String(process.pid)}`, far: `mu-far-${String(process.pid)}` }
  const children = new Set<ChildProcess>()
  let isClosed = false
  const removeNamespaces = async (): Promise<void> => {
    for (const name of Object.values(namespaces)) await run('ip', ['netns', 'del', name]).catch(() => undefined)
  }
  await removeNamespaces()
  for (const name of Object.values(namespaces)) await run('ip', ['netns', 'add', name])
  const forwarder = spawn(forwarderPath, [namespaces.near, namespaces.far, String(seed)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // A run that is stopped by a signal leaves nothing behind. There is no time to wait for anything.
  const onSignal = (): void => {
    for (const child of children) child.kill('SIGKILL')
    forwarder.kill('SIGKILL')
    for (const name of Object.values(namespaces)) execFileSync('ip', ['netns', 'del', name])
    process.exit(1)
  }
  for (const signal of SIGNALS) process.once(signal, onSignal)
  const answers = createInterface({ input: forwarder.stdout })[Symbol.asyncIterator]()
  const nextAnswer = async (): Promise<string> => {
    const step = (await answers.next()) as IteratorResult<string, undefined>
    if (step.done) throw new Error('The forwarder of the line has ended: see its words above')
    return step.value
  }
  // One command at a time, so that every answer belongs to its question.
  let turn: Promise<unknown> = nextAnswer()
  const ask = (command: string): Promise<string> => {
    const answer = turn.then(() => {
      forwarder.stdin.write(`${command}\n`)
      return nextAnswer()
    })
    turn = answer
    return answer
  }
  const line: Line = {
    farAddress: FAR_ADDRESS,
    async set(next) {
      const answer = await ask(commandFor(next))
      if (answer !== 'ok') throw new Error(`The forwarder did not take the line: ${answer}`)
    },
    start(end, command, words, options = {}) {
      const child = spawn('ip', ['netns', 'exec', namespaces[end], command, ...words], options)
      children.add(child)
      child.once('close', () => children.delete(child))
      return child
    },
    async close() {
      if (isClosed) return
      isClosed = true
      const ending = [...children].map((child) => new Promise((resolve) => child.once('close', resolve)))
      for (const child of children) child.kill('SIGKILL')
      await Promise.all(ending)
      const ended = new Promise((resolve) => forwarder.once('close', resolve))
      forwarder.stdin.end()
      await ended
      await removeNamespaces()
      for (const signal of SIGNALS) process.off(signal, onSignal)
    },
  }
  try {
    await turn
    await setUp(namespaces.near, NEAR_ADDRESS)
    await setUp(namespaces.far, FAR_ADDRESS)
    await line.set(settings)
    return line
  } catch (error) {
    await line.close()
    throw error
  }
}

function commandFor({ roundTripMs, megabitsPerSecond, lossPercent, queueMs }: LineSettings): string {
  const bitsPerSecond = megabitsPerSecond * 1e6
  const queueBytes = (bitsPerSecond / 8) * (queueMs / 1000)
  return ['line', (roundTripMs / 2) * 1000, bitsPerSecond, lossPercent * 10_000, queueBytes]
    .map((word) => (typeof word === 'number' ? String(Math.round(word)) : word))
    .join(' ')
}

/** Sets up one end. Every run uses cubic, whatever the machine's default is; everything else is as in the kernel. */
async function setUp(namespace: string, address: string): Promise<void> {
  const inside = (...words: string[]) => run('ip', ['netns', 'exec', namespace, ...words])
  await inside('ip', 'address', 'add', `${address}/24`, 'dev', 'line')
  // The device's own queue must never drop packets.
  await inside('ip', 'link', 'set', 'line', 'up', 'txqueuelen', '10000')
  await inside('ip', 'link', 'set', 'lo', 'up')
  await withCubicAllowed(() => inside('sh', '-c', 'echo cubic > /proc/sys/net/ipv4/tcp_congestion_control'))
  // Without this a run would start with what the previous one learnt about the line.
  await inside('sh', '-c', 'echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save')
}

/** A namespace may choose only what the machine allows, so that list is widened for the moment of choosing. */
async function withCubicAllowed(choose: () => Promise<unknown>): Promise<void> {
  const path = '/proc/sys/net/ipv4/tcp_allowed_congestion_control'
  const allowed = readFileSync(path, 'utf8').trim()
  const isAllowed = allowed.split(' ').includes('cubic')
  if (!isAllowed) writeFileSync(path, `${allowed} cubic`)
  try {
    await choose()
  } finally {
    if (!isAllowed) writeFileSync(path, allowed)
  }
}
