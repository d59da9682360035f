// The line of a night, as the kernel makes it: the command in a network of its own, whose names are not found at first,
// and whose address is taken away in the middle of the upload. Root on Linux.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { startService, type RunningService } from '../../src/service/index.ts'
import { installCli, jsonLines, lastLine, VIDEO, type CliUnderTest } from '../cli/cli-under-test.ts'
import { canMount } from '../helpers/can-mount.ts'
import { freePort } from '../helpers/free-port.ts'

const MIB = 1024 * 1024
const SITE = `mu-night-${process.pid}`
const [HERE, THERE] = [`mn${process.pid}a`, `mn${process.pid}b`]
const SUBNET = `10.${100 + (process.pid % 100)}.77`
const NAME = 'night.service.test'

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' })
const inSite = (...args: string[]) => ip('netns', 'exec', SITE, ...args)

/** Whether this user may make networks and mounts. */
function canMakeSite(): boolean {
  try {
    if (!canMount()) return false
    ip('netns', 'add', SITE)
    return true
  } catch {
    return false
  }
}

const lack = canMakeSite() ? undefined : 'The line of a night was not tried: it needs root, `ip netns` and mounts.'
let cli: CliUnderTest
let service: RunningService
let env: Record<string, string>

describe('an upload over a line of its own', () => {
  beforeAll(async () => {
    if (lack !== undefined) return void process.stderr.write(`SKIPPED: ${lack}\n`)
    ip('link', 'add', HERE, 'type', 'veth', 'peer', 'name', THERE)
    ip('link', 'set', THERE, 'netns', SITE)
    ip('addr', 'add', `${SUBNET}.1/24`, 'dev', HERE)
    ip('link', 'set', HERE, 'up')
    inSite('ip', 'addr', 'add', `${SUBNET}.2/24`, 'dev', THERE)
    inSite('ip', 'link', 'set', THERE, 'up')
    inSite('ip', 'link', 'set', 'lo', 'up')
    cli = await installCli()
    await writeFile(join(cli.folder, 'clip.mp4'), randomBytes(12 * MIB))
    await writeFile(join(cli.folder, 'hosts'), '')
    // Nobody answers there.
    await writeFile(join(cli.folder, 'resolv.conf'), `nameserver ${SUBNET}.99\noptions timeout:1 attempts:1\n`)
    const port = await freePort()
    service = await startService({
      ...{ port, host: `${SUBNET}.1`, publicUrl: `http://${NAME}:${port}` },
      credentials: { apiKeys: ['key-of-this-night'], accessTokens: [] },
    })
    env = { MOCAP_BASE_URL: `http://${NAME}:${port}`, MOCAP_API_KEY: 'key-of-this-night' }
  })
  beforeEach(({ skip }) => skip(lack !== undefined, lack))
  afterAll(async () => {
    if (lack !== undefined) return
    ip('netns', 'del', SITE)
    await service.close()
    await cli.remove()
  })

  /** Runs the command in that network, with names of its own. */
  function startThere(...args: string[]) {
    const names = ['hosts', 'resolv.conf'].map((file) => `mount --bind '${join(cli.folder, file)}' /etc/${file}`)
    const words = ['netns', 'exec', SITE, 'unshare', '-m', 'sh', '-c', `${names.join(' && ')} && exec "$@"`, 'sh']
    const child = spawn('ip', [...words, process.execPath, cli.entry, ...args, '--json', '--allow-http'], {
      cwd: cli.folder,
      env: { PATH: process.env['PATH'], MOCAP_STATE_DIR: cli.stateDir, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout }))
    const seen = (pattern: RegExp) => expect.poll(() => stdout, { timeout: 120_000, interval: 100 }).toMatch(pattern)
    return { ended, seen }
  }

  it('waits while the service’s name is not found, and goes on when it is', async () => {
    await writeFile(join(cli.folder, 'hosts'), '')
    const upload = startThere('video', 'clip.mp4', ...VIDEO, '--give-up-after', '1h')
    await upload.seen(/"event":"waiting"[^\n]*"reason":"its name was not found"/)
    await appendFile(join(cli.folder, 'hosts'), `${SUBNET}.1 ${NAME}\n`)

    const { code, stdout } = await upload.ended

    expect(code).toBe(0)
    expect(lastLine(stdout)).toMatchObject({ status: 'confirmed', files: [{ name: 'clip.mp4', verified: true }] })
  })

  it('waits while the machine has no address, and goes on with what has arrived when it has one', async () => {
    await writeFile(join(cli.folder, 'hosts'), `${SUBNET}.1 ${NAME}\n`)
    const upload = startThere('video', 'clip.mp4', ...VIDEO, '--limit-rate', '1MiB')
    await upload.seen(/"event":"progress"[^\n]*"confirmedBytes":[1-9]/)
    inSite('ip', 'addr', 'flush', 'dev', THERE)
    await upload.seen(/"event":"waiting"/)
    inSite('ip', 'addr', 'add', `${SUBNET}.2/24`, 'dev', THERE)

    const { code, stdout } = await upload.ended

    expect(code).toBe(0)
    expect(lastLine(stdout)).toMatchObject({ status: 'confirmed', files: [{ name: 'clip.mp4', verified: true }] })
    expect(jsonLines(stdout).filter(({ event }) => event === 'session.replaced')).toEqual([])
  })
})
