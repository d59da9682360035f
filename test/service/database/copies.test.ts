// Several copies of the service as processes of their own, on one PostgreSQL server and one data folder: any call may
// land at any copy, and calls that contradict each other have one outcome, which every copy then tells.

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest'

import { createObjectStore } from '../../../src/service/objects/object-store.ts'
import { newDatabase, queryOnce } from '../../helpers/postgres-server.ts'
import { compileService } from '../compiled-service.ts'
import {
  answerTo,
  API_KEY,
  openCaptureSession,
  openVideoSession,
  put,
  register,
  startUnderTest,
  type Answer,
} from '../service-under-test.ts'

const server = inject('postgres')
const COPIES = 3

describe.skipIf(server === undefined)('copies of the service on one PostgreSQL server', () => {
  let dataDir: string
  let compiled: string
  let databaseUrl: string
  const children: ChildProcess[] = []
  let urls: string[]
  let turn = 0

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'service-copies-'))
    compiled = await compileService()
    databaseUrl = await newDatabase(server!)
    await writeFile(
      join(compiled, 'copy.mjs'),
      `import { startService } from './service/index.js'
       const { dataDir, databaseUrl, apiKey } = JSON.parse(process.env.COPY)
       const credentials = { apiKeys: [apiKey], accessTokens: [] }
       try { process.send((await startService({ port: 0, dataDir, databaseUrl, credentials })).url) }
       catch (error) { process.send('failed: ' + error.message + ' ' + error.cause?.message); process.disconnect() }`,
    )
    // All at once, on an empty database and an empty folder.
    urls = await Promise.all(Array.from({ length: COPIES }, startCopy))
  })
  afterAll(async () => {
    for (const child of children) {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
    await rm(compiled, { recursive: true, force: true })
    await rm(dataDir, { recursive: true, force: true })
  })

  async function newFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'service-copies-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    return folder
  }

  async function startCopy(): Promise<string> {
    const child = fork(join(compiled, 'copy.mjs'), [], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      env: { ...process.env, COPY: JSON.stringify({ dataDir, databaseUrl, apiKey: API_KEY }) },
    })
    children.push(child)
    const [said] = (await once(child, 'message')) as [string]
    return said
  }

  /** A call that lands at the next copy, as behind a balancer. */
  function call(method: string, path: string, body?: unknown): Promise<Answer> {
    return answerTo(urls[turn++ % COPIES]! + path, {
      method,
      headers: { 'x-api-key': API_KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  /** The address as the next copy would have given it. */
  function elsewhere(address: string): string {
    const { pathname, search } = new URL(address)
    return urls[turn++ % COPIES]! + pathname + search
  }

  const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status).sort()

  async function openSession() {
    const { sessionId, files } = await openVideoSession({ call }, [{ name: 'swing.mp4', bytes: 2, chunks: 2 }])
    const [file] = files
    const confirm = (etags: readonly string[]) =>
      call('PATCH', '/upload_videos', {
        upload_session_id: sessionId,
        affected_file_id: file!.id,
        file_part_info: etags.map((etag, index) => ({ etag, part_number: index + 1 })),
        upload_successful: true,
      })
    return { sessionId, addresses: file!.urls, confirm }
  }

  /** Opens a session, and puts the parts at whatever copy. */
  async function openAndPut() {
    const session = await openSession()
    const parts = await Promise.all(session.addresses.map((address, index) => put(elsewhere(address), `${index}`)))
    return { ...session, etags: parts.map(({ headers }) => headers.get('etag')!) }
  }

  async function storedUrl(sessionId: string): Promise<string | undefined> {
    const { json } = await call('GET', '/stored?limit=1000')
    return (json as { items: { session_id: string; url: string }[] }).items.find(
      ({ session_id }) => session_id === sessionId,
    )?.url
  }

  it('start at once on an empty database: one migrates, all serve, with one secret', async () => {
    expect(urls).toEqual(urls.map(() => expect.stringMatching(/^http:/) as string))
    const done = await queryOnce(databaseUrl, 'select name from kysely_migration')
    expect(new Set(done.map(({ name }) => name)).size).toBe(done.length)
    expect(await queryOnce(databaseUrl, 'select id from database_identity')).toHaveLength(1)
    expect(await readdir(dataDir)).toEqual(['database-id', 'folder-id', 'objects', 'signing-key'])
  })

  it('take every step of an upload wherever it lands', async () => {
    const { sessionId, etags, confirm } = await openAndPut()

    expect((await confirm(etags)).status).toBe(200)

    for (let copy = 0; copy < COPIES; copy++) {
      expect(await (await fetch(elsewhere((await storedUrl(sessionId))!))).text()).toBe('01')
    }
  })

  it('confirm a file once, however many ask at once, and all are told so', async () => {
    for (let round = 0; round < 5; round++) {
      const { sessionId, etags, confirm } = await openAndPut()

      const answers = await Promise.all(Array.from({ length: 9 }, () => confirm(etags)))

      expect(statuses(answers)).toEqual(Array.from({ length: 9 }, () => 200))
      expect(await storedUrl(sessionId)).toBeDefined()
    }
  })

  it('never confirm a part that was replaced at the same moment', async () => {
    for (let round = 0; round < 10; round++) {
      const { sessionId, etags, addresses, confirm } = await openAndPut()

      const [confirmed, replaced] = await Promise.all([confirm(etags), put(elsewhere(addresses[0]!), 'X')])

      // Either the confirmation was first and the address is dead, or the part was and its old ETag is refused.
      expect([
        [200, 404],
        [409, 200],
      ]).toContainEqual([confirmed.status, replaced.status])
      const url = await storedUrl(sessionId)
      if (confirmed.status === 200) expect(await (await fetch(url!)).text()).toBe('01')
      else expect(url).toBeUndefined()
    }
  })

  it('either confirm or cancel first: nothing is left of a cancelled session, whoever came first', async () => {
    for (let round = 0; round < 10; round++) {
      const { sessionId, etags, confirm } = await openAndPut()
      const cancel = () => call('DELETE', `/upload_videos/${sessionId}`)

      const [confirmed, ...cancelled] = await Promise.all([confirm(etags), cancel(), cancel()])

      expect([200, 409]).toContain(confirmed.status)
      expect(statuses(cancelled)).toEqual([200, 200])
      expect(await storedUrl(sessionId)).toBeUndefined()
      expect((await confirm(etags)).status).toBe(409)
      expect(await queryOnce(databaseUrl, `select key from objects where key like '%${sessionId}%'`)).toEqual([])
    }
  })

  it('keep no bytes that no record speaks of', async () => {
    const blobs = await readdir(join(dataDir, 'objects/stored'))
    const known = await queryOnce(databaseUrl, 'select blob from objects')

    expect(blobs.sort()).toEqual(known.map(({ blob }) => blob).sort())
    expect(await readdir(join(dataDir, 'objects/incoming'))).toEqual([])
  })

  it('register a name once, however many register it at once', async () => {
    const session_id = await openCaptureSession({ call })
    const registrations = await Promise.all(
      Array.from({ length: 9 }, (_, index) =>
        call('POST', '/mocap_session_file', { session_id, filenames: [`${index}.action`, 'same.action'] }),
      ),
    )

    expect(statuses(registrations)).toEqual([200, ...Array.from({ length: 8 }, () => 409)])
    const names = await queryOnce(
      databaseUrl,
      `select name from mocap_session_files where session_id = '${session_id}'`,
    )
    expect(names).toHaveLength(2)
  })

  it('never let the segments of an analysis drift apart', async () => {
    for (let round = 0; round < 10; round++) {
      const segment = async () => {
        const { json } = await call('POST', '/player_group_segments', { movement_type_id: 1, dom_hand: 'RHA' })
        return (json as { analysis_segment_id: number }).analysis_segment_id
      }
      const [primary, comparison] = [await segment(), await segment()]

      const [made, changed] = await Promise.all([
        call('POST', '/requested_analyses', {
          ...{ name: 'n', primary_analysis_segment_id: primary, comparison_analysis_segment_id: comparison },
        }),
        call('PATCH', `/player_group_segments/${comparison}`, { dom_hand: 'LHA' }),
      ])

      expect([
        [200, 409],
        [422, 200],
      ]).toContainEqual([made.status, changed.status])
    }
  })

  it('leave alone what another copy is writing', async () => {
    const incoming = join(dataDir, 'objects/incoming')
    await writeFile(join(incoming, 'another-copy-writes-this'), 'x')

    const late = await startUnderTest({ dataDir, databaseUrl })
    await late.close()

    expect(await readdir(incoming)).toEqual(['another-copy-writes-this'])
    await rm(join(incoming, 'another-copy-writes-this'))
  })

  it('refuse a folder that belongs to another database, before anything in it is touched', async () => {
    const before = await readdir(join(dataDir, 'objects/stored'))

    const stranger = startUnderTest({ dataDir, databaseUrl: await newDatabase(server!) })

    await expect(stranger).rejects.toMatchObject({ code: 'ERR_SERVICE_DATA_FOREIGN' })
    await expect(startUnderTest({ dataDir })).rejects.toMatchObject({ code: 'ERR_SERVICE_DATA_FOREIGN' })
    expect(await readdir(join(dataDir, 'objects/stored'))).toEqual(before)
  })

  it('refuse a folder of their own, in which the others would not find its objects, and make nothing in it', async () => {
    const own = await newFolder()

    await expect(startUnderTest({ dataDir: own, databaseUrl })).rejects.toMatchObject({
      code: 'ERR_SERVICE_DATA_FOREIGN',
      message: expect.stringContaining('keeps its objects in another folder') as string,
    })
    expect(await readdir(own)).toEqual([])
  })

  it('of two that begin at once in folders of their own, let one begin', async () => {
    const options = { databaseUrl: await newDatabase(server!) }
    const folders = await Promise.all([newFolder(), newFolder()])
    const starts = await Promise.allSettled(folders.map((dataDir) => startUnderTest({ dataDir, ...options })))
    for (const start of starts) if (start.status === 'fulfilled') await start.value.close()

    expect(starts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(starts.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'ERR_SERVICE_DATA_FOREIGN' },
    })
  })

  it('accept a folder in the place of one that is lost, once it has the id that the refusal names', async () => {
    const options = { databaseUrl: await newDatabase(server!) }
    const [lost, next] = [await newFolder(), await newFolder()]
    await (await startUnderTest({ dataDir: lost, ...options })).close()
    const { message } = await startUnderTest({ dataDir: next, ...options }).then(
      () => new Error('It started.'),
      (error: unknown) => error as Error,
    )
    const [, id = ''] = /write (\S+) into its file folder-id/.exec(message) ?? []
    expect(id).toBe(await readFile(join(lost, 'folder-id'), 'utf8'))
    await writeFile(join(next, 'folder-id'), `${id}\n`)

    await (await startUnderTest({ dataDir: next, ...options })).close()
    expect(await readdir(next)).toContain('database-id')
  })

  it('accept no empty folder for a database of an earlier version that has objects, unless they are lost', async () => {
    const options = { databaseUrl: await newDatabase(server!) }
    const [theirs, empty] = [await newFolder(), await newFolder()]
    const first = await startUnderTest({ dataDir: theirs, ...options })
    const addresses = await register(first, await openCaptureSession(first), ['a.action'])
    await put(addresses['a.action']!, 'kept')
    await first.close()
    const untie = async (folder: string) => {
      await queryOnce(options.databaseUrl, 'update database_identity set folder_id = null')
      await rm(join(folder, 'folder-id'))
    }
    await untie(theirs)

    const { message } = await startUnderTest({ dataDir: empty, ...options }).then(
      () => new Error('It started.'),
      (error: unknown) => error as Error,
    )
    expect(message).toContain('keeps its objects in another folder')
    expect(await readdir(empty)).toEqual([])
    await (await startUnderTest({ dataDir: theirs, ...options })).close()

    await untie(theirs)
    await writeFile(join(empty, 'folder-id'), /write (\S+) into its file folder-id/.exec(message)![1]!)
    await (await startUnderTest({ dataDir: empty, ...options })).close()
    expect(await readdir(empty)).toContain('database-id')
  })

  it('go on when the server drops every connection, at the latest when asked again', async () => {
    const { sessionId, etags, confirm } = await openAndPut()

    // Those to this database alone: other files have services of theirs on the same server at that moment.
    await queryOnce(
      databaseUrl,
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'mocap-uplink' and datname = current_database()`,
    )

    // A copy that has not heard yet of its lost connection says so, and when to ask again: once for each copy at most.
    const answers = []
    for (let copy = 0; copy <= COPIES; copy += 1) {
      answers.push(await confirm(etags))
      if (answers.at(-1)!.status === 200) break
    }
    expect(answers.at(-1)!.status).toBe(200)
    for (const { status, headers } of answers.slice(0, -1)) {
      expect([status, headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/) as string])
    }
    expect(await storedUrl(sessionId)).toBeDefined()
  })
})

describe('the sweep of a folder', () => {
  it('removes what nothing knows, but not what changed so lately that another copy may be about to record it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'service-sweep-'))
    const store = await createObjectStore(folder)
    for (const name of ['incoming/half', 'stored/known', 'stored/unknown']) await writeFile(join(folder, name), 'x')
    const known = () => Promise.resolve(new Set(['known']))
    const left = async () => [...(await readdir(join(folder, 'incoming'))), ...(await readdir(join(folder, 'stored')))]

    // Of a copy whose clock is days ahead.
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 7 * 86_400_000)
    await store.sweep({ known, graceMs: 3_600_000 })
    expect(await left()).toEqual(['half', 'known', 'unknown'])
    // Where nobody else writes, also after the clock was set back.
    clock.mockReturnValue(Date.now() - 14 * 86_400_000)
    await store.sweep({ known, graceMs: 0 })
    expect(await left()).toEqual(['known'])

    await rm(folder, { recursive: true })
  })
})
