// How the embedded database finds rows, and begins as a copy.

import { openAsBlob } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { sql } from 'kysely'
import { expect, inject, it, onTestFinished } from 'vitest'
import { openPglite } from '../../../src/service/database/pglite-database.ts'

it('reads a page of a long list in the order of its index, and not all of it, though nothing ever gathers statistics', async () => {
  const db = await openPglite({ prepared: await openAsBlob(inject('preparedDatabase')) })
  onTestFinished(() => db.destroy())
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

it('gives each copy of a prepared database an identity of its own: none would take the objects of another for leftovers', async () => {
  const prepared = await openAsBlob(inject('preparedDatabase'))
  const identityOfCopy = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-copy-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const db = await openPglite({ folder: join(folder, 'db'), prepared })
    onTestFinished(() => db.destroy())
    return (await db.selectFrom('database_identity').select('id').executeTakeFirstOrThrow()).id
  }

  expect(await identityOfCopy()).not.toBe(await identityOfCopy())
})
