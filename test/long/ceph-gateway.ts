// A throw-away S3 store on this machine: a Ceph monitor, one object store in memory and a gateway, from the programs of
// the Debian packages. It installs nothing, writes to one temporary folder only, and ends what it started.

import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { accessSync, constants, rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { endProcess } from '../helpers/end-process.ts'
import { freePort } from '../helpers/free-port.ts'

export interface CephGateway {
  readonly endpoint: string
  readonly accessKey: string
  readonly secretKey: string
  /** Ends the processes and removes the folder. */
  stop(): Promise<void>
}

/** Program → the Debian package that has it. */
const PROGRAMS = {
  monmaptool: 'ceph-base',
  'ceph-mon': 'ceph-mon',
  'ceph-osd': 'ceph-osd',
  ceph: 'ceph-common',
  radosgw: 'radosgw',
  'radosgw-admin': 'radosgw',
} as const
const UP_WITHIN_MS = 120_000

/** Debian packages that must be installed before a gateway can be started; empty when all are there. */
export function missingCephPackages(): readonly string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const isThere = (program: string): boolean => folders.some((folder) => isExecutable(join(folder, program)))
  const missing = Object.entries(PROGRAMS).flatMap(([program, name]) => (isThere(program) ? [] : [name]))
  return [...new Set(missing)]
}

/** Starts it on free ports; takes half a minute. Rejects with the tail of the logs, and with nothing left running. */
export async function startCephGateway(): Promise<CephGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-ceph-'))
  const daemons: ChildProcess[] = []
  const onExit = (): void => {
    for (const daemon of daemons) daemon.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', onExit)
  const stop = async (): Promise<void> => {
    process.off('exit', onExit)
    for (const daemon of daemons.toReversed()) await endProcess(daemon)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    return { ...(await startIn(folder, daemons)), stop }
  } catch (error) {
    const log = await readFile(join(folder, 'ceph.log'), 'utf8').catch(() => '')
    await stop()
    throw new Error(`The Ceph gateway did not start. The end of its log: ${log.slice(-2_000)}`, { cause: error })
  }
}

async function startIn(folder: string, daemons: ChildProcess[]): Promise<Omit<CephGateway, 'stop'>> {
  const [monitorPort, gatewayPort, fsid] = [await freePort(), await freePort(), randomUUID()]
  const accessKey = randomBytes(10).toString('hex').toUpperCase()
  const secretKey = randomBytes(20).toString('hex')
  const monitor = `[v2:127.0.0.1:${String(monitorPort)}]`
  const endpoint = `http://127.0.0.1:${String(gatewayPort)}`
  const conf = join(folder, 'ceph.conf')
  const run = (program: keyof typeof PROGRAMS, ...args: readonly string[]): Promise<void> => runToEnd(program, args)
  const daemon = (program: keyof typeof PROGRAMS, ...args: readonly string[]): ChildProcess => {
    const child = spawn(program, ['-c', conf, ...args, '-f'], { stdio: 'ignore' })
    child.on('error', () => undefined)
    daemons.push(child)
    return child
  }
  for (const name of ['mon', 'osd', 'rgw', 'run']) await mkdir(join(folder, name))
  await writeFile(conf, confOf({ folder, fsid, monitor, gatewayPort }))

  await run('monmaptool', '--create', '--fsid', fsid, '--addv', 'a', monitor, join(folder, 'monmap'))
  await run('ceph-mon', '-c', conf, '-i', 'a', '--mkfs', '--monmap', join(folder, 'monmap'))
  daemon('ceph-mon', '-i', 'a')
  const osdId = randomUUID()
  // The command waits for the monitor by itself.
  await run('ceph', '-c', conf, '--connect-timeout', '60', 'osd', 'create', osdId)
  await run('ceph-osd', '-c', conf, '-i', '0', '--mkfs', '--osd-uuid', osdId)
  daemon('ceph-osd', '-i', '0')
  const keys = ['--access-key', accessKey, '--secret-key', secretKey]
  // Makes the pools as well, and so waits for the object store.
  await run('radosgw-admin', '-c', conf, 'user', 'create', '--uid', 'test', '--display-name', 'test', ...keys)
  await answers(endpoint, daemon('radosgw', '-n', 'client.rgw'))
  return { endpoint, accessKey, secretKey }
}

function confOf(at: { folder: string; fsid: string; monitor: string; gatewayPort: number }): string {
  const { folder, fsid, monitor, gatewayPort } = at
  return `[global]
fsid = ${fsid}
mon_host = ${monitor}
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
ms_mon_client_mode = crc
keyring = ${folder}/none
run_dir = ${folder}/run
crash_dir = ${folder}/run
log_file = ${folder}/ceph.log
mon_cluster_log_file = ${folder}/cluster.log
log_to_stderr = false
admin_socket =
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 4
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_max_pg_per_osd = 1000
mon_data_avail_crit = 1
rgw_rados_pool_pg_num_min = 4
[mon]
mon_data = ${folder}/mon
[osd]
osd_data = ${folder}/osd
osd_objectstore = memstore
memstore_device_bytes = ${String(2 * 1024 ** 3)}
[client]
rgw_data = ${folder}/rgw
rgw_frontends = beast endpoint=127.0.0.1:${String(gatewayPort)}
`
}

/** Runs a program to its end; rejects with what it complained about. */
function runToEnd(program: string, args: readonly string[]): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: UP_WITHIN_MS })
    let complaint = ''
    child.stderr.on('data', (text: Buffer) => (complaint = (complaint + text.toString()).slice(-2_000)))
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`${program} ended with ${String(code)}: ${complaint.trim()}`))
    })
  })
}

/** Nothing tells that the gateway is up but its answer. */
async function answers(endpoint: string, gateway: ChildProcess): Promise<void> {
  const beganAtMs = performance.now()
  for (;;) {
    const isUp = await fetch(endpoint).then(
      (reply) => reply.ok,
      () => false,
    )
    if (isUp) return
    if (gateway.exitCode !== null) throw new Error(`radosgw ended with ${String(gateway.exitCode)}`)
    if (performance.now() - beganAtMs > UP_WITHIN_MS) throw new Error('radosgw does not answer')
    await wait(100)
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
