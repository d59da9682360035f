// The two programs of a torture: the service, and the command line in one life after another.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export interface ServiceChild {
  readonly port: number
  stop(): Promise<void>
}

export interface Life {
  /** Ends it with SIGKILL; false when it had ended. */
  kill(): boolean
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>
}

/** Starts `serve --data` on a free port. Rejects when it ends before it listens. */
export async function startServiceChild(entry: string, dataDir: string, apiKey: string): Promise<ServiceChild> {
  const args = [entry, 'serve', '--port', '0', '--data', dataDir, '--json']
  const child = spawn(process.execPath, args, { env: { PATH: '', MOCAP_API_KEY: apiKey } })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let complaint = ''
  child.stderr.on('data', (text: Buffer) => (complaint = (complaint + text.toString()).slice(-2_000)))
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const event = JSON.parse(line) as { event: string; port?: number }
      if (event.event === 'listening') resolve(Number(event.port))
    })
    void exited.then(() => reject(new Error(`The service ended: ${complaint}`)))
  })
  return {
    port,
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** Starts the command line once. What it prints on stdout is thrown away. */
export function startLife(entry: string, args: readonly string[], env: Readonly<Record<string, string>>): Life {
  const child = spawn(process.execPath, [entry, ...args], {
    env: { PATH: '', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (text: Buffer) => (stderr = (stderr + text.toString()).slice(-4_000)))
  return {
    kill: () => child.exitCode === null && child.kill('SIGKILL'),
    ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, stderr }))),
  }
}
