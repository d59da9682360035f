// How the embedded database finds rows.

import { openAsBlob } from 'node:fs'
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
