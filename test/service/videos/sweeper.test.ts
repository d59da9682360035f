// Sessions that nobody finished are ended: what is confirmed stays, the rest goes, and no call comes too late unheard.

import { randomUUID } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, inject, it, onTestFinished } from 'vitest'

import { diskStorage } from '../../../src/service/objects/disk-storage.ts'
import type { VideoObject } from '../../../src/service/objects/object-storage.ts'
import { openContext, type Undo } from '../../../src/service/open-context.ts'
import type { ServiceOptions } from '../../../src/service/options.ts'
import { resolveOptions } from '../../../src/service/settings.ts'
import { sweepSessions } from '../../../src/service/videos/session-sweeper.ts'
import { withKeptDatabases } from '../../helpers/kept-database.ts'
import { newDatabase } from '../../helpers/postgres-server.ts'
import { startWithSweep } from '../../helpers/sweep-on-demand.ts'
import { openVideoSession, put, START, startUnderTest, startWithObjectsIn } from '../service-under-test.ts'

const DAY_MS = 24 * 3_600_000

it('ends old sessions alone, and keeps what is confirmed', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-sweeper-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const before = await startWithObjectsIn(dataDir)
  const old = await openVideoSession(before, [
    { bytes: 4, chunks: 1 },
    { bytes: 4, chunks: 2 },
    { bytes: 4, chunks: 1 },
  ])
  const etag = (await put(old.files[0]!.urls[0]!, 'kept')).headers.get('etag')
  await put(old.files[1]!.urls[0]!, 'go')
  const confirm = (fileId: number, etags: readonly unknown[]) => ({
    ...{ upload_session_id: old.sessionId, affected_file_id: fileId, upload_successful: true },
    file_part_info: etags.map((one, index) => ({ etag: one, part_number: index + 1 })),
  })
  expect((await before.call('PATCH', '/upload_videos', confirm(old.files[0]!.id, [etag]))).status).toBe(200)
  const failed = { ...confirm(old.files[2]!.id, []), upload_successful: false }
  expect((await before.call('PATCH', '/upload_videos', failed)).status).toBe(200)
  before.advance(6 * DAY_MS)
  const young = await openVideoSession(before, [{ bytes: 4, chunks: 1 }])
  await put(young.files[0]!.urls[0]!, 'more')
  await before.close()
  expect(await readdir(join(dataDir, 'objects', 'stored'))).toHaveLength(3)

  let now = START + 8 * DAY_MS
  const lines: string[] = []
  let heard = (): void => undefined
  const swept = new Promise<void>((resolve) => (heard = resolve))
  const log = {
    write(line: string) {
      lines.push(line)
      if (line.includes('unfinished sessions')) heard()
    },
  }
  const { service: after, sweep } = await startWithSweep(() =>
    startWithObjectsIn(dataDir, { log, now: () => now, limits: { openSessions: 2 } }),
  )
  onTestFinished(() => after.close())
  // A clock that jumps makes no session older: the young one stays.
  now += 30 * DAY_MS
  sweep()
  await swept

  expect(lines.join('')).toContain('"settled":1,"failed":0')
  expect(await readdir(join(dataDir, 'objects', 'stored'))).toHaveLength(2)
  for (const [which, etags] of [
    [1, ['a', 'b']],
    [2, ['a']],
  ] as const) {
    const late = await after.call('PATCH', '/upload_videos', confirm(old.files[which]!.id, etags))
    expect(late.json).toMatchObject({ error: { code: 'session_expired' } })
  }
  expect((await after.call('PATCH', '/upload_videos', confirm(old.files[0]!.id, [etag]))).status).toBe(200)
  // Only the young one is open, so that there is room for another.
  await expect(openVideoSession(after, [{ bytes: 4, chunks: 1 }])).resolves.toBeDefined()
  await expect(openVideoSession(after, [{ bytes: 4, chunks: 1 }])).rejects.toThrow()
})

it('says why the storage of a session could not be cleared', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-sweeper-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const before = await startWithObjectsIn(dataDir)
  const { files } = await openVideoSession(before, [{ bytes: 4, chunks: 1 }])
  await put(files[0]!.urls[0]!, 'left')
  await before.close()
  const [blob] = await readdir(join(dataDir, 'objects', 'stored'))
  // What cannot be removed as a file.
  await rm(join(dataDir, 'objects', 'stored', blob!))
  await mkdir(join(dataDir, 'objects', 'stored', blob!))

  const why = await new Promise<string>((resolve, reject) => {
    const write = (line: string) => {
      if (line.includes('could not be ended')) resolve(line)
    }
    const after = startWithSweep(() => startWithObjectsIn(dataDir, { log: { write }, now: () => START + 8 * DAY_MS }))
    onTestFinished(async () => (await after).service.close())
    after.then(({ sweep }) => sweep(), reject)
  })

  expect(why).toContain('EISDIR')
})

it('may not end a session whose addresses are alive', async () => {
  await expect(startUnderTest({ endSessionsAfterMs: 1000 })).rejects.toThrow('endSessionsAfterMs')
})

/** What the sweeper works with; `release` of its storage waits for `goOn`. */
async function contextHeldUp(options: ServiceOptions) {
  const undo: Undo = []
  onTestFinished(async () => {
    for (const step of undo.toReversed()) await step()
  })
  const { context } = await withKeptDatabases(() => openContext(resolveOptions(options), undo))
  let [began, goOn] = [(): void => undefined, (): void => undefined]
  const hasBegun = new Promise<void>((resolve) => (began = resolve))
  const held = new Promise<void>((resolve) => (goOn = resolve))
  const release = () => {
    began()
    return held
  }
  return { context: { ...context, bucket: { ...diskStorage(context), release } }, hasBegun, goOn }
}

const aSession = () => ({
  ...{ id: randomUUID(), owner: 'org-4', movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20' },
  ...{ session_type_id: 2, created_at: new Date(START) },
})

it.skipIf(inject('postgres') === undefined)(
  'is the work of one copy at a time, and of any copy afterwards',
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'service-sweeper-'))
    const options = { dataDir, databaseUrl: await newDatabase(inject('postgres')!) }
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
    const [one, other] = [await contextHeldUp(options), await contextHeldUp(options)]
    await one.context.db.insertInto('video_sessions').values(aSession()).execute()
    const before = new Date(START + DAY_MS)

    const swept = sweepSessions(one.context, before)
    await one.hasBegun
    expect(await sweepSessions(other.context, before)).toBeUndefined()
    one.goOn()
    expect(await swept).toEqual({ settled: 1, failed: 0 })

    await one.context.db.insertInto('video_sessions').values(aSession()).execute()
    other.goOn()
    expect(await sweepSessions(other.context, before)).toEqual({ settled: 1, failed: 0 })
  },
)

it('leaves the one connection of the embedded database to calls while the storage is slow', async () => {
  const preparedDatabase = await openAsBlob(inject('preparedDatabase'))
  const { context, hasBegun, goOn } = await contextHeldUp({ preparedDatabase })
  await context.db.insertInto('video_sessions').values(aSession()).execute()

  const swept = sweepSessions(context, new Date(START + DAY_MS))
  await hasBegun
  const { settled_at } = await context.db.selectFrom('video_sessions').select('settled_at').executeTakeFirstOrThrow()
  expect(settled_at).toBeNull()
  goOn()
  expect(await swept).toEqual({ settled: 1, failed: 0 })
})

it('passes by the sessions whose storage cannot be cleared, comes to its end, and tries them again the next time', async () => {
  const preparedDatabase = await openAsBlob(inject('preparedDatabase'))
  const { context } = await contextHeldUp({ preparedDatabase })
  // More than are looked up at a time.
  const sessions = Array.from({ length: 150 }, aSession)
  const file = { owner: 'org-4', raw_file_name: 'swing.mp4', file_size_bytes: 4, number_of_chunks: 1 }
  const files = sessions.map(({ id }) => ({ ...file, session_id: id }))
  await context.db.insertInto('video_sessions').values(sessions).execute()
  await context.db.insertInto('video_files').values(files).execute()
  const stuck = new Set<string>(sessions.slice(0, 120).map(({ id }) => id))
  const endless = new AbortController()
  let asked = 0
  const release = ([file]: readonly VideoObject[]) => {
    asked += 1
    // By itself, one that asks again and again would never end.
    if (asked > 2 * sessions.length) endless.abort()
    return stuck.has(file!.key.sessionId) ? Promise.reject(new Error('The storage is away.')) : Promise.resolve()
  }
  const sweep = () =>
    sweepSessions(
      { ...context, bucket: { ...diskStorage(context), release } },
      new Date(START + DAY_MS),
      endless.signal,
    )

  expect(await sweep()).toMatchObject({ settled: 30, failed: 120, failure: { message: 'The storage is away.' } })
  expect(asked).toBe(150)
  stuck.clear()
  expect(await sweep()).toEqual({ settled: 120, failed: 0 })
})
