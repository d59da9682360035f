// The demo's service: this program started once more, as a child process on a free port. It is ended whatever happens.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import type { Interruption } from '../signals.ts'

export interface ServiceProcess {
  readonly url: string
  readonly apiKey: string
  /** Resolves with how and why if it ends before it is asked to stop. */
  readonly lost: Promise<Error>
  /** Asks it to stop, and kills it if it has not stopped within 5 s. Idempotent. */
  stop(): Promise<void>
}

/** It opens its database first, a new one: a second or two on an idle machine, half a minute on a busy one. */
const START_WITHIN_MS = 120_000
const STOP_WITHIN_MS = 5_000

/** Starts the service with its data in `dataDir`. Rejects with what the child said if it does not listen in time. */
export async function startServiceProcess(
  dataDir: string,
  completeAfter: string,
  interruption: Pick<Interruption, 'atOnce'>,
): Promise<ServiceProcess> {
  const entry = process.argv[1]
  if (entry === undefined) throw new Error('The demo starts this program again, and its own file is not known.')
  const apiKey = randomBytes(24).toString('base64url')
  const args = ['serve', '--port', '0', '--data', dataDir, '--complete-after', completeAfter, '--json']
  const child = spawn(process.execPath, [...process.execArgv, entry, ...args], {
    // The key goes by the environment, which other users cannot see. The channel tells the child when we die.
    env: { ...withoutSettings(process.env), MOCAP_API_KEY: apiKey },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // In a process group of its own, so that Ctrl-C reaches only the demo, which then stops the child.
    detached: true,
  })
  let isStopped = false
  interruption.atOnce(() => {
    isStopped = true
    child.kill('SIGKILL')
  })
  const exited = new Promise<string>((resolve) => {
    // Once all that it said has been read.
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`))
    child.once('error', () => resolve('it cannot be run'))
  })
  const stop = async () => {
    isStopped = true
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS)
    await exited
    clearTimeout(timer)
  }
  let complaint = ''
  child.stderr?.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-2_000)))
  const lastWords = () => complaint.trim() || 'it said nothing'
  let failure: Failure | undefined
  const listening = listeningUrl(child.stdout, (error) => (failure = error))
  const lost = new Promise<Error>((resolve) => {
    void exited.then((how) => {
      const why = failure === undefined ? '.' : `: ${failure.message}`
      if (!isStopped) resolve(new Error(`The service has ended by itself (${how})${why}`))
    })
  })
  let timer: NodeJS.Timeout | undefined
  try {
    const url = await Promise.race([
      listening,
      exited.then((): never => {
        if (failure === undefined) throw new Error(`The service ended before it listened: ${lastWords()}`)
        // Its code says that it is no mistake of this program.
        throw Object.assign(new Error(failure.message), { code: failure.code })
      }),
      new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => {
          reject(new Error(`The service did not listen within two minutes: ${lastWords()}`))
        }, START_WITHIN_MS)
      }),
    ])
    return { url, apiKey, lost, stop }
  } catch (error) {
    await stop()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

interface Failure {
  readonly code: string
  readonly message: string
}

/** Resolves with the URL at which it listens. `onFailure` hears with what error it ends. */
function listeningUrl(stdout: NodeJS.ReadableStream | null, onFailure: (error: Failure) => void): Promise<string> {
  return new Promise((resolve) => {
    if (stdout === null) return
    // Read to its end, so that the child never blocks on a full pipe.
    createInterface({ input: stdout }).on('line', (line) => {
      const { event, url, error } = JSON.parse(line) as { event?: string; url?: string; error?: Failure }
      if (event === 'listening' && url !== undefined) resolve(url)
      if (event === 'result' && error !== undefined) onFailure(error)
    })
  })
}

/** The environment without what `serve` reads: samples have no place in the database or bucket of somebody's service. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(?:MOCAP_|S3_|DATABASE_URL$)/.test(name)))
}
