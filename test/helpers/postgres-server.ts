// A throw-away PostgreSQL server on loopback, from the programs of Debian's package: a temporary folder, a free port, a
// random password and an unprivileged user. It is ended by its process id.

import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

import { Client } from 'pg'

import { endProcess } from './end-process.ts'
import { refusingAddress } from '../../src/testing/refusing-address.ts'

export interface PostgresServer {
  /** URL of the server's own database, with its superuser. */
  readonly url: string
  /** Id of the parent process of the server's other processes. */
  readonly pid: number
  /** Ends the server and removes its folder. */
  stop(): Promise<void>
}

const run = promisify(execFile)
const UP_WITHIN_MS = 60_000

/** The folder of the newest installed version's programs; undefined if there is none. */
export const postgresPrograms = findPrograms()

/**
 * Starts a server. If that fails, rejects with the end of its log and leaves nothing running. With `isDurable` it waits
 * for the disk, as a production server does; default false, because the data of tests is thrown away.
 */
export async function startPostgres({ isDurable = false } = {}): Promise<PostgresServer> {
  if (postgresPrograms === undefined) throw new Error('PostgreSQL is not installed (apt-get install postgresql).')
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-postgres-'))
  // Nobody else gets the port while the folder is made, which takes seconds.
  const address = await refusingAddress()
  let server: ChildProcess | undefined
  const onExit = (): void => {
    server?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', onExit)
  const stop = async (): Promise<void> => {
    process.off('exit', onExit)
    // SIGINT ends it at once, even while clients are connected.
    await endProcess(server, 'SIGINT')
    await address.close()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const password = randomBytes(12).toString('hex')
    const user = await unprivileged()
    if (user !== undefined) await chown(folder, user.uid, user.gid)
    await initialize(folder, password, user)
    server = spawn(
      join(postgresPrograms, 'postgres'),
      ['-D', join(folder, 'data'), ...settings(folder, address.port, isDurable)],
      {
        ...user,
        cwd: folder,
        stdio: 'ignore',
      },
    )
    const url = `postgres://uplink:${password}@127.0.0.1:${String(address.port)}/postgres`
    await answers(url, server)
    return { url, pid: Number(server.pid), stop }
  } catch (error) {
    const log = await readFile(join(folder, 'log'), 'utf8').catch(() => '')
    await stop()
    throw new Error(`PostgreSQL did not start. The end of its log: ${log.slice(-2_000)}`, { cause: error })
  }
}

/** Creates an empty database with a new name on a server, and returns its URL. */
export async function newDatabase(serverUrl: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await queryOnce(serverUrl, `create database ${name}`)
  return serverUrl.replace(/postgres$/, name)
}

/** Runs one statement over a connection of its own, and returns the rows. */
export async function queryOnce(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows
  } finally {
    await client.end()
  }
}

interface User {
  readonly uid: number
  readonly gid: number
}

async function initialize(folder: string, password: string, user: User | undefined): Promise<void> {
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (user !== undefined) chownSync(passwordFile, user.uid, user.gid)
  const args = [
    '-D',
    join(folder, 'data'),
    '-U',
    'uplink',
    '--pwfile',
    passwordFile,
    '-A',
    'scram-sha-256',
    '-E',
    'UTF8',
  ]
  await run(join(String(postgresPrograms), 'initdb'), [...args, '--locale', 'C.UTF-8', '--no-sync'], {
    ...user,
    cwd: folder,
  })
}

function settings(folder: string, port: number, isDurable: boolean): string[] {
  const values = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 100,
    fsync: isDurable ? 'on' : 'off',
    logging_collector: 'on',
    log_directory: folder,
    log_filename: 'log',
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${String(value)}`])
}

/** PostgreSQL refuses to run as root. In that case it runs as the package's user, or as nobody. */
async function unprivileged(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const found = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody')
  if (found === undefined) throw new Error('PostgreSQL does not run as root, and there is no user to run it as.')
  return { uid: Number(found[2]), gid: Number(found[3]) }
}

async function answers(url: string, server: ChildProcess): Promise<void> {
  const beganAtMs = performance.now()
  for (;;) {
    const isUp = await queryOnce(url, 'select 1').then(
      () => true,
      () => false,
    )
    if (isUp) return
    if (server.exitCode !== null) throw new Error(`postgres ended with ${String(server.exitCode)}`)
    if (performance.now() - beganAtMs > UP_WITHIN_MS) throw new Error('postgres does not answer')
    await wait(50)
  }
}

function findPrograms(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [...versions.map((version) => join(debian, version, 'bin'))]
  const onPath = (process.env['PATH'] ?? '').split(delimiter)
  return [...folders, ...onPath].find(
    (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
  )
}
