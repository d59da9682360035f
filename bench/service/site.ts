// A service to be measured: copies as processes of their own over one database, and the processor time that each side uses.

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { ServiceOptions } from '../../src/service/index.ts'
import type { CopyOrder } from './copy.ts'

export const API_KEY = 'bench'

export interface SitePlan {
  /** URL of a PostgreSQL database, empty or filled. Undefined means the embedded database. */
  readonly databaseUrl: string | undefined
  /** Its objects go here. A database keeps to the folder in which it began. */
  readonly dataDir: string
  readonly copies: number
  readonly program: string
  readonly dist: string
}

export interface Site {
  readonly urls: readonly string[]
  /** Processor time used so far by all copies together, ms. */
  copiesCpuMs(): Promise<number>
  close(): Promise<void>
}

/** Starts the copies, all with one data folder, without rate limits and with nothing to sweep. */
export async function openSite({ databaseUrl, dataDir, copies, program, dist }: SitePlan): Promise<Site> {
  const options: ServiceOptions = {
    ...{ port: 0, dataDir, endSessionsAfterMs: 0 },
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    credentials: { apiKeys: [API_KEY], accessTokens: [] },
    limits: { callsPerMinute: 0, openSessions: 0 },
  }
  const children: ChildProcess[] = []
  const close = async (): Promise<void> => {
    await Promise.all(children.map(end))
  }
  try {
    const urls: string[] = []
    for (let copy = 0; copy < copies; copy += 1) {
      const order: CopyOrder = { program: join(dist, 'service.js'), options }
      const child = fork(program, { env: { ...process.env, COPY: JSON.stringify(order) } })
      children.push(child)
      urls.push(await answerOf(child, 'url'))
    }
    const copiesCpuMs = async (): Promise<number> => {
      const used = children.map((child) => {
        child.send('cpu')
        return answerOf(child, 'cpuMs')
      })
      return (await Promise.all(used)).reduce((sum, ms) => sum + ms, 0)
    }
    return { urls, copiesCpuMs, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Processor time of a process and its running children, ms. Undefined if there is no /proc. */
export async function treeCpuMs(pid: number): Promise<number | undefined> {
  const names = await readdir('/proc').catch(() => undefined)
  if (names === undefined) return undefined
  let ticks = 0
  for (const name of names.filter((one) => /^\d+$/.test(one))) {
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    // The fields follow the name, which is in brackets and may contain anything: state, parent, …, user and system time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(name) === pid || Number(fields[1]) === pid) ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks * MS_PER_TICK
}

/** Linux reports these times to every process in hundredths of a second. */
const MS_PER_TICK = 10

function answerOf<K extends 'url' | 'cpuMs'>(child: ChildProcess, field: K): Promise<Answer[K]> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error('A copy of the service ended by itself.'))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      resolve((message as Answer)[field])
    })
  })
}

interface Answer {
  readonly url: string
  readonly cpuMs: number
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.disconnect()
  await ended
}
