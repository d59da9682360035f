// A sweep of old sessions that is killed, at each of the moments that matter: the sweeps after it finish what it began.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import fs, { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest'

import { openContext, type Undo } from '../../../src/service/open-context.ts'
import type { ServiceOptions } from '../../../src/service/options.ts'
import { resolveOptions } from '../../../src/service/settings.ts'
import { newDatabase } from '../../helpers/postgres-server.ts'
import { compileService } from '../compiled-service.ts'
import { openVideoSession, put, START, startUnderTest, type ServiceUnderTest } from '../service-under-test.ts'

const DAY_MS = 24 * 3_600_000

let compiled: string
let program: string
beforeAll(async () => {
  compiled = await compileService()
  program = join(compiled, 'sweep.mjs')
  await writeFile(
    program,
    `import fs from 'node:fs'
     import { syncBuiltinESMExports } from 'node:module'
     import { PGlite } from '@electric-sql/pglite'
     import pg from 'pg'
     import { openContext } from './service/open-context.js'
     import { resolveOptions } from './service/settings.js'
     import { sweepSessions } from './service/videos/session-sweeper.js'

     const { options, before, dieAt } = JSON.parse(process.argv[2])
     let left = Infinity
     const watch = (holder, name) => {
       const whole = holder[name]
       holder[name] = function (...values) {
         const step = name + ' ' + (values[0].text ?? values[0])
         if (step.includes(dieAt?.step)) left -= 1
         if (left === 0) {
           process.kill(process.pid, 'SIGKILL')
           for (;;);
         }
         return whole.apply(this, values)
       }
     }
     watch(PGlite.prototype, 'query')
     watch(pg.Client.prototype, 'query')
     watch(fs.promises, 'rm')
     syncBuiltinESMExports()
     const undo = []
     const { context } = await openContext(resolveOptions(options), undo)
     left = dieAt?.nth ?? Infinity
     const swept = await sweepSessions(context, new Date(before))
     left = Infinity
     for (const step of undo.reverse()) await step()
     process.send(swept ?? 'another one sweeps', () => process.disconnect())`,
  )
})
afterAll(() => rm(compiled, { recursive: true }))

/** A step of a sweep, and which of those that are alike. */
interface Moment {
  readonly step: string
  readonly nth: number
}
/** One after another, each sweep going on where the one before it was killed: the second `rm` is of the second session. */
const MOMENTS: readonly Moment[] = [
  { step: 'update "video_files"', nth: 1 },
  { step: 'commit', nth: 1 },
  { step: 'delete from "objects"', nth: 1 },
  { step: 'rm ', nth: 1 },
  { step: 'update "video_sessions"', nth: 1 },
  { step: 'rm ', nth: 2 },
]

/** Sweeps in a process of its own, which dies before the given step. What it says; undefined if it died. */
async function sweep(options: ServiceOptions, dieAt?: Moment): Promise<unknown> {
  for (;;) {
    const child = fork(program, [JSON.stringify({ options, dieAt, before: new Date(START + DAY_MS) })], {
      execArgv: [],
    })
    let said: unknown
    child.once('message', (message) => (said = message))
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    expect([code, signal]).toEqual(said === undefined ? [null, 'SIGKILL'] : [0, null])
    // A database server may not have heard yet that the last one died.
    if (said !== 'another one sweeps') return said
  }
}

/** Works on the database and folder of a service that does not run. */
async function inside<T>(options: ServiceOptions, work: (db: Opened['db']) => Promise<T>): Promise<T> {
  const undo: Undo = []
  const { context } = await openContext(resolveOptions(options), undo)
  try {
    return await work(context.db)
  } finally {
    for (const step of undo.reverse()) await step()
  }
}
type Opened = Awaited<ReturnType<typeof openContext>>['context']

/** One file confirmed, one with both of its parts, and one with half of them. */
async function openOldSession(service: ServiceUnderTest) {
  const { sessionId, files } = await openVideoSession(service, [
    { bytes: 4, chunks: 1 },
    { bytes: 4, chunks: 2 },
    { bytes: 4, chunks: 2 },
  ])
  const [kept, whole, half] = files
  const etag = (await put(kept!.urls[0]!, 'kept')).headers.get('etag')!
  for (const url of [...whole!.urls, half!.urls[0]!]) await put(url, 'go')
  expect((await confirm(service, sessionId, kept!.id, [etag])).status).toBe(200)
  return { sessionId, fileId: whole!.id }
}

function confirm(service: ServiceUnderTest, sessionId: string, fileId: number, etags: readonly string[]) {
  return service.call('PATCH', '/upload_videos', {
    ...{ upload_session_id: sessionId, affected_file_id: fileId, upload_successful: true },
    file_part_info: etags.map((etag, index) => ({ etag, part_number: index + 1 })),
  })
}

/** Nobody can set when something changed on a disk. The clock of the disk is read at a folder. */
function letDiskTimePass(ms: number): void {
  const { stat } = fs
  vi.spyOn(fs, 'stat').mockImplementation(async (path) => {
    const found = await stat(path)
    return found.isDirectory() ? Object.assign(found, { ctimeMs: found.ctimeMs + ms }) : found
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  })
}

/** Where a sweep dies, and how many sessions the one that ends then settles. */
const ALL = { moments: MOMENTS, settled: 1 }
const AROUND_A_COMMIT = { moments: MOMENTS.filter(({ step }) => /^commit|^delete/.test(step)), settled: 2 }
const isPostgresHere = inject('postgres') !== undefined
// Each death costs two seconds where the process must open a database of its own. A server shows all moments for less; without one,
// as in the long run, the embedded database does.
const engines = isPostgresHere
  ? [
      { engine: 'embedded', ...AROUND_A_COMMIT },
      { engine: 'PostgreSQL', ...ALL },
    ]
  : [{ engine: 'embedded', ...ALL }]

describe.each(engines)('a sweep that is killed: $engine', ({ engine, moments, settled }) => {
  it('is finished by those after it, and nothing is lost, kept, or counted twice', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'service-killed-sweep-'))
    const stored = join(dataDir, 'objects', 'stored')
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
    const options: ServiceOptions = {
      dataDir,
      ...(engine === 'PostgreSQL' ? { databaseUrl: await newDatabase(inject('postgres')!) } : {}),
    }
    const before = await startUnderTest(options)
    const [old, cancelled] = [await openOldSession(before), await openOldSession(before)]
    before.advance(2 * DAY_MS)
    const young = await openVideoSession(before, [{ bytes: 5, chunks: 1 }])
    const etag = (await put(young.files[0]!.urls[0]!, 'young')).headers.get('etag')!
    await before.close()
    const toKeep = await inside(options, async (db) => {
      // As a cancel leaves it that was killed before it removed anything.
      const cancel = db.updateTable('video_sessions').set({ is_cancelled: true, is_open: false })
      await cancel.where('id', '=', cancelled.sessionId).execute()
      const rows = await db.selectFrom('objects').select(['key', 'part_number', 'blob', 'size_bytes']).execute()
      return rows.filter(({ key, size_bytes: bytes }) => bytes > 2 && !key.includes(cancelled.sessionId))
    })
    expect([toKeep.length, (await readdir(stored)).length]).toEqual([2, 9])

    for (const moment of moments) {
      expect(await sweep(options, moment)).toBeUndefined()
      expect(await readdir(stored)).toEqual(expect.arrayContaining(toKeep.map(({ blob }) => blob)))
    }
    expect(await sweep(options)).toEqual({ settled, failed: 0 })

    // Where copies share a folder, a start leaves alone for a day what no record speaks of.
    letDiskTimePass(2 * DAY_MS)
    const left = await inside(options, (db) => db.selectFrom('video_sessions').selectAll().execute())
    expect((await readdir(stored)).sort()).toEqual(toKeep.map(({ blob }) => blob).sort())
    expect(left.map(({ id, is_open, settled_at }) => [id, is_open, settled_at !== null]).sort()).toEqual(
      [
        [old.sessionId, false, true],
        [cancelled.sessionId, false, true],
        [young.sessionId, true, false],
      ].sort(),
    )
    const after = await startUnderTest(options)
    onTestFinished(() => after.close())
    const late = await confirm(after, old.sessionId, old.fileId, ['a', 'b'])
    expect(late.json).toMatchObject({ error: { code: 'session_expired' } })
    expect((await confirm(after, young.sessionId, young.files[0]!.id, [etag])).status).toBe(200)
    const { items } = (await after.call('GET', '/stored')).json as { items: { url: string }[] }
    expect(await Promise.all(items.map(async ({ url }) => (await fetch(url)).text()))).toEqual(['kept', 'young'])
  })
})
