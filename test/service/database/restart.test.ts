// A data folder over time: what survives a stop and a kill, and that one process at a time has it open.

import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'

import { request } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'

import { lockDataFolder } from '../../../src/service/database/data-lock.ts'
import { compileService } from '../compiled-service.ts'
import {
  API_KEY,
  openCaptureSession,
  openVideoSession,
  put,
  register,
  START,
  startUnderTest,
  type ServiceUnderTest,
} from '../service-under-test.ts'

let dataDir: string
const running: ServiceUnderTest[] = []
const children: ChildProcess[] = []

let compiled: string
// One folder for all: a database is made once and opened often.
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'service-restart-'))
  compiled = await compileService()
  await writeFile(
    join(compiled, 'lock.mjs'),
    `import { lockDataFolder } from './service/database/data-lock.js'
     try { await lockDataFolder(process.argv[2]); process.send('held'); setInterval(() => {}, 1000) }
     catch (error) { process.send(error.code + ' ' + error.message); process.disconnect() }`,
  )
  await writeFile(
    join(compiled, 'serve.mjs'),
    `import { startService } from './service/index.js'
     const [dataDir, apiKey] = process.argv.slice(2)
     try { process.send((await startService({ port: 0, dataDir, credentials: { apiKeys: [apiKey], accessTokens: [] } })).url) }
     catch (error) { process.send(error.code); process.disconnect() }`,
  )
})
afterEach(async () => {
  for (const service of running.splice(0)) await service.close()
  for (const child of children.splice(0)) {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
})
afterAll(async () => {
  await rm(dataDir, { recursive: true })
  await rm(compiled, { recursive: true })
})

async function start(options: Parameters<typeof startUnderTest>[0] = {}): Promise<ServiceUnderTest> {
  const service = await startUnderTest({ dataDir, ...options })
  running.push(service)
  return service
}

const HELLO = '5d41402abc4b2a76b9719d911017c592'

describe('a data folder', () => {
  it('holds sessions, bytes, addresses and due analyses over a restart', async () => {
    const first = await start({ publicUrl: 'http://127.0.0.1:1' })
    const pathOf = (address: string) => address.replace('http://127.0.0.1:1', '')
    const sessionId = await openCaptureSession(first)
    const capture = pathOf((await register(first, sessionId, ['a.action']))['a.action']!)
    const video = await openVideoSession(first, [{ bytes: 5, chunks: 1 }])
    await put(first.url + pathOf(video.files[0]!.urls[0]!), 'hello')
    const { json } = await first.call('POST', '/player_group_segments', { movement_type_id: 1, dom_hand: 'RHA' })
    const analysis = await first.call('POST', '/requested_analyses', {
      name: 'Report',
      primary_analysis_segment_id: (json as { analysis_segment_id: number }).analysis_segment_id,
      status: 'requested',
    })
    await first.close()
    await writeFile(join(dataDir, 'objects/incoming/left-by-a-crash'), 'x')
    await writeFile(join(dataDir, 'objects/stored/known-to-nobody'), 'x')

    const second = await start({ analysisCompletesAfterMs: 1000, now: () => START + 1000 })

    expect((await put(second.url + capture, 'bytes')).status).toBe(200)
    const confirmed = await second.call('PATCH', '/upload_videos', {
      upload_session_id: video.sessionId,
      affected_file_id: video.files[0]!.id,
      file_part_info: [{ etag: HELLO, part_number: 1 }],
      upload_successful: true,
    })
    expect(confirmed.status).toBe(200)
    const stored = (await second.call('GET', '/stored')).json as { items: { file_name: string; url: string }[] }
    const texts = await Promise.all(stored.items.map(async ({ url }) => (await fetch(url)).text()))
    expect(stored.items.map(({ file_name }) => file_name)).toEqual(['a.action', 'clip-1.mp4'])
    expect(texts).toEqual(['bytes', 'hello'])
    const { id } = analysis.json as { id: number }
    expect((await second.call('GET', `/requested_analyses/${id}`)).json).toMatchObject({ status: 'completed' })
    expect(await readdir(join(dataDir, 'objects/incoming'))).toEqual([])
    expect(await readdir(join(dataDir, 'objects/stored'))).not.toContain('known-to-nobody')
    expect((await readdir(join(dataDir, 'objects/stored'))).length).toBe(2)
  })

  it('that was restored stores nothing under an address that was handed out after the backup', async () => {
    const publicUrl = 'http://127.0.0.1:1'
    const backup = join(dataDir, 'backup')
    const first = await start({ publicUrl })
    const sessionId = await openCaptureSession(first)
    await first.close()
    await cp(join(dataDir, 'db'), backup, { recursive: true })
    const second = await start({ publicUrl })
    const address = (await register(second, sessionId, ['lost.action']))['lost.action']!
    await second.close()
    await rm(join(dataDir, 'db'), { recursive: true })
    await rename(backup, join(dataDir, 'db'))

    const restored = await start({ now: () => START + 60_000 })
    await register(restored, sessionId, ['next.action'])

    expect((await put(address.replace(publicUrl, restored.url), 'bytes of lost.action')).status).toBe(404)
    expect((await restored.call('GET', '/stored?limit=1000')).text).not.toContain('next.action')
  })

  it.skipIf(process.platform === 'win32')('is for its owner only', async () => {
    await start()

    const modes = await Promise.all(
      ['signing-key', 'objects', 'lock'].map(async (name) => (await stat(join(dataDir, name))).mode & 0o777),
    )
    expect(modes).toEqual([0o600, 0o700, 0o700])
  })

  it.skipIf(process.platform === 'win32')('is not needed: without one, nothing is left behind', async () => {
    const empty = join(dataDir, 'empty')
    await mkdir(empty)
    vi.stubEnv('TMPDIR', empty)
    try {
      const service = await startUnderTest()
      expect(await readdir(empty)).toEqual([expect.stringMatching(/^mocap-uplink-/)])

      await service.close()
      await service.close()

      expect(await readdir(empty)).toEqual([])
    } finally {
      vi.unstubAllEnvs()
    }
  })
})

describe('a service in a process of its own', () => {
  async function serve(): Promise<{ child: ChildProcess; said: string }> {
    const child = fork(join(compiled, 'serve.mjs'), [dataDir, API_KEY], { execArgv: [] })
    children.push(child)
    const [said] = (await once(child, 'message')) as [string]
    return { child, said }
  }

  it('loses nothing that it has answered when it is killed', async () => {
    const { child, said: url } = await serve()
    const call = async (path: string, body: object): Promise<unknown> => {
      const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' }
      return (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json()
    }
    const criteria = { org_id: 'o', mocap_type_id: 2, session_date: '2026-11-20', session_type_id: 1 }
    const { id } = (await call('/mocap_session', criteria)) as { id: string }
    const names = ['1.action', '2.action', '3.action']
    const addresses = (await call('/mocap_session_file', { session_id: id, filenames: names })) as Record<
      string,
      string
    >
    for (const name of names) expect((await put(addresses[name]!, `bytes of ${name}`)).status).toBe(200)

    child.kill('SIGKILL')
    await once(child, 'exit')

    const service = await start()
    const stored = await service.call('GET', '/stored?limit=1000')
    const { items } = stored.json as { items: { session_id: string; file_name: string; url: string }[] }
    const mine = items.filter((item) => item.session_id === id)
    expect(mine.map((item) => item.file_name)).toEqual(names)
    expect(await Promise.all(mine.map(async (item) => (await fetch(item.url)).text()))).toEqual([
      'bytes of 1.action',
      'bytes of 2.action',
      'bytes of 3.action',
    ])
  })

  it('does not start on a folder that another one has open', async () => {
    await start()

    expect((await serve()).said).toBe('ERR_SERVICE_DATA_IN_USE')
  })
})

describe('closing', () => {
  it('finishes the PUT that is in flight, and takes no new connection', async () => {
    const service = await start()
    const sessionId = await openCaptureSession(service)
    const address = (await register(service, sessionId, ['a.action']))['a.action']!
    let finish = () => {}
    const mayFinish = new Promise<void>((resolve) => (finish = resolve))
    async function* body() {
      yield new TextEncoder().encode('first half, ')
      await mayFinish
      yield new TextEncoder().encode('second half')
    }
    const answer = request(address, { method: 'PUT', body: Readable.from(body()), headers: { 'content-length': '23' } })
    while ((await readdir(join(dataDir, 'objects/incoming'))).length === 0) {
      await new Promise((resolve) => setImmediate(resolve))
    }

    const closed = service.close()
    finish()

    expect((await answer).statusCode).toBe(200)
    await closed
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow()
    const again = await start()
    const stored = await again.call('GET', '/stored')
    const { items } = stored.json as { items: { session_id: string; url: string }[] }
    const item = items.find((one) => one.session_id === sessionId)!
    expect(await (await fetch(item.url)).text()).toBe('first half, second half')
  })
})

describe('the lock', () => {
  /** A process of its own that takes the lock; what it says. */
  async function other(): Promise<{ child: ChildProcess; said: string }> {
    const child = fork(join(compiled, 'lock.mjs'), [dataDir], { execArgv: [] })
    children.push(child)
    const [said] = (await once(child, 'message')) as [string]
    return { child, said }
  }

  it('of a running service refuses a second process and a second service in the same one', async () => {
    await start()

    const { said } = await other()

    expect(said).toBe(
      `ERR_SERVICE_DATA_IN_USE The data folder ${dataDir} is in use by process ${process.pid}. ` +
        'Stop that service or choose another folder.',
    )
    await expect(startUnderTest({ dataDir })).rejects.toMatchObject({ code: 'ERR_SERVICE_DATA_IN_USE' })
  })

  it('of another process refuses the service until that process is gone, killed or not', async () => {
    const { child, said } = await other()
    expect(said).toBe('held')
    await expect(startUnderTest({ dataDir })).rejects.toMatchObject({
      code: 'ERR_SERVICE_DATA_IN_USE',
      pid: child.pid,
    })

    child.kill('SIGKILL')
    await once(child, 'exit')

    expect((await (await start()).call('GET', '/players')).status).toBe(200)
  })

  it.skipIf(process.platform !== 'linux')('left by an earlier process with the same id is taken over', async () => {
    await (await lockDataFolder(dataDir)).release()
    await writeFile(join(dataDir, 'lock', `${process.ppid}-00000000-1`), '')

    const lock = await lockDataFolder(dataDir)

    expect(await readdir(join(dataDir, 'lock'))).toHaveLength(1)
    await lock.release()
    expect(await readdir(join(dataDir, 'lock'))).toEqual([])
  })

  it.skipIf(process.platform !== 'linux')('of a dead process that nobody has asked after is taken over', async () => {
    await (await lockDataFolder(dataDir)).release()
    // The shell becomes a sleep, which asks after no child: the child that it has already ends and keeps its id.
    const parent = spawn('sh', ['-c', 'exec 3<&0; read _ <&3 & echo $!; exec sleep 60'], { stdio: 'pipe' })
    children.push(parent)
    const [said] = (await once(parent.stdout, 'data')) as [Buffer]
    const pid = Number(said.toString())
    const stat = (id = pid) => readFile(`/proc/${id}/stat`, 'utf8')
    await vi.waitFor(async () => expect(await stat(parent.pid)).toContain('(sleep)'), { timeout: 30_000 })
    parent.stdin.end()
    await vi.waitFor(async () => expect(await stat()).toContain(') Z '), { timeout: 30_000 })
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).slice(0, 8)
    const ticks = (await stat()).split(') ')[1]!.split(' ')[19]!
    await writeFile(join(dataDir, 'lock', `${pid}-${boot}-${ticks}`), '')

    const lock = await lockDataFolder(dataDir)

    expect(await readdir(join(dataDir, 'lock'))).toHaveLength(1)
    await lock.release()
  })

  // Seen from another container its id is nobody's, or that of a process which has nothing to do with it.
  it.skipIf(process.platform !== 'linux')(
    'of another container refuses the service until its process is gone',
    async () => {
      await (await lockDataFolder(dataDir)).release()
      const { child, said } = await other()
      expect(said).toBe('held')
      const [name = ''] = await readdir(join(dataDir, 'lock'))
      const elsewhere = name.replace(/^\d+/, '4194305').replace(/-\d+$/, '-1')
      for (const place of ['lock', 'beacons']) await rename(join(dataDir, place, name), join(dataDir, place, elsewhere))
      await expect(lockDataFolder(dataDir)).rejects.toMatchObject({ code: 'ERR_SERVICE_DATA_IN_USE', pid: 4_194_305 })

      child.kill('SIGKILL')
      await once(child, 'exit')

      await (await lockDataFolder(dataDir)).release()
      for (const place of ['lock', 'beacons']) expect(await readdir(join(dataDir, place))).toEqual([])
    },
  )

  it.skipIf(process.platform !== 'linux')('of another container without a beacon is not judged', async () => {
    const lock = await lockDataFolder(dataDir)
    const [name = ''] = await readdir(join(dataDir, 'lock'))
    await lock.release()
    const elsewhere = join(dataDir, 'lock', name.replace(/-\d+$/, '-1'))
    await writeFile(elsewhere, '')
    onTestFinished(() => rm(elsewhere, { force: true }))

    await expect(lockDataFolder(dataDir)).rejects.toMatchObject({ code: 'ERR_SERVICE_DATA_IN_USE' })

    expect(await readdir(join(dataDir, 'beacons'))).toEqual([])
  })

  it('is never held by two of several processes that find a dead one at once', async () => {
    await (await lockDataFolder(dataDir)).release()
    const dead = await other()
    dead.child.kill('SIGKILL')
    await once(dead.child, 'exit')

    const said = (await Promise.all([1, 2, 3, 4, 5].map(() => other()))).map((one) => one.said)

    expect(said.filter((one) => one === 'held').length).toBeLessThanOrEqual(1)
    expect(said.filter((one) => one.startsWith('ERR_SERVICE_DATA_IN_USE')).length).toBeGreaterThanOrEqual(4)
  })
})
