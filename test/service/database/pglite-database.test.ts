// How the embedded database finds rows, and begins as a copy.

import { openAsBlob } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { sql } from 'kysely'
import { afterAll, beforeAll, expect, inject, it, onTestFinished, vi } from 'vitest'
import { openPglite } from '../../../src/service/database/pglite-database.ts'
import type { Database } from '../../../src/service/database/tables.ts'

let db: Database
beforeAll(async () => {
  db = await openPglite({ prepared: await openAsBlob(inject('preparedDatabase')) })
})
afterAll(() => db.destroy())

it('reads a page of a long list in the order of its index, and not all of it, though nothing ever gathers statistics', async () => {
  await sql`insert into mocap_sessions (id, owner, org_id, mocap_type_id, session_type_id, session_date, status,
    created_at, updated_at) values ('s', 'org-4', 'org-4', 2, 1, '2026-11-20', 'pending', now(), now())`.execute(db)
  await sql`insert into mocap_session_files (owner, session_id, name, registered_at)
    select 'org-4', 's', 'take-' || number, now() from generate_series(1, 10000) number`.execute(db)
  const newest = db.selectFrom('mocap_session_files').select(['id', 'name']).where('owner', '=', 'org-4')

  const plans = [newest, newest.where('id', '<', 5_000)].map(async (query) => {
    const lines = await query.orderBy('id', 'desc').limit(1_001).explain<{ 'QUERY PLAN': string }>()
    return lines.map((line) => line['QUERY PLAN']).join('\n')
  })

  for (const plan of await Promise.all(plans)) {
    expect(plan).toContain('Index Scan Backward')
    expect(plan).not.toContain('Sort')
  }
})

it('looks up the objects of a large session by their keys, and does not read all that there are', async () => {
  await sql`insert into objects (key, part_number, blob, size_bytes, md5, stored_at)
    select 'videos/s/' || number, 1, 'blob-' || number, 1, '', now() from generate_series(1, 2000) number`.execute(db)
  const keys = Array.from({ length: 500 }, (_, index) => `videos/s/${index}`)

  const lines = await db
    .deleteFrom('objects')
    .where('key', 'in', keys)
    .returning('blob')
    .explain<{ 'QUERY PLAN': string }>()

  expect(lines.map((line) => line['QUERY PLAN']).join('\n')).toContain('Index Scan using objects_pkey')
})

it('is brought to its files now and then: its log, which a start after a kill reads, would grow for as long as it runs', async () => {
  const begins = sql<{ at: string }>`select redo_lsn::text as at from pg_control_checkpoint()`
  const before = (await begins.execute(db)).rows[0]!.at

  for (let use = 0; use < 20_000; use += 1) await db.connection().execute(() => Promise.resolve())

  expect((await begins.execute(db)).rows[0]!.at).not.toBe(before)
})

it('gives each copy of a prepared database an identity of its own: none would take the objects of another for leftovers', async () => {
  const prepared = await openAsBlob(inject('preparedDatabase'))
  const identityOfCopy = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-copy-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const copy = await openPglite({ folder: join(folder, 'db'), prepared })
    onTestFinished(() => copy.destroy())
    return (await copy.selectFrom('database_identity').select('id').executeTakeFirstOrThrow()).id
  }

  expect(await identityOfCopy()).not.toBe(await identityOfCopy())
})

it('asks for what it begins with only where it is new, also where a start was killed before it was made', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'mocap-uplink-begin-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const folder = join(dataDir, 'db')
  const asked = vi.fn(() => Promise.reject(new Error('asked')))
  const begin = () => openPglite({ folder, prepared: asked })

  await expect(begin()).rejects.toThrow('asked')
  await mkdir(folder, { recursive: true })
  await expect(begin()).rejects.toThrow('asked')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'PG_VERSION'), '18')
  await expect(begin()).rejects.toThrow('asked')
  await rm(`${folder}.making`)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'PG_VERSION'), '18')

  await expect(begin()).rejects.toMatchObject({ code: 'ERR_SERVICE_DATABASE' })
  expect(asked).toHaveBeenCalledTimes(3)
})
