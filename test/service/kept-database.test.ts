// A database that is used again must not show: a test would pass, or fail, by what another one has left.

import { openAsBlob } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { PGlite } from '@electric-sql/pglite'
import { expect, inject, it, onTestFinished } from 'vitest'

import { createApiKey } from '../../src/service/access/api-keys.ts'
import { withKeptDatabases } from '../helpers/kept-database.ts'
import { openRecordsOf } from './service-under-test.ts'

async function open(): Promise<PGlite> {
  const loadDataDir = await openAsBlob(inject('preparedDatabase'))
  return withKeptDatabases(() => PGlite.create({ loadDataDir }))
}

const ADD = `insert into player_group_segments (owner, movement_type_id, dom_hand, org_movement_ids, created_at, updated_at)
  values ('org-4', 1, 'RHA', '[]', now(), now()) returning id`

it('begins empty and with the first ids, whatever the use before it has left open', async () => {
  const one = await open()
  await one.query(ADD)
  await one.exec(`set statement_timeout = 1234; create temp table own (a int); prepare asked as select 1; begin`)
  await one.query(ADD)
  const late = one.query(ADD)
  await one.close()
  await late

  const next = await open()
  onTestFinished(() => next.close())

  expect((await next.query('select from player_group_segments')).rows).toEqual([])
  expect((await next.query('show statement_timeout')).rows).toEqual([{ statement_timeout: '0' }])
  expect((await next.query(`select from pg_class where relname = 'own'`)).rows).toEqual([])
  expect((await next.query('select from pg_prepared_statements')).rows).toEqual([])
  expect((await next.query(ADD)).rows).toEqual([{ id: 1 }])
})

it('is out of reach of a use that is over, which cannot give it back a second time', async () => {
  const one = await open()
  await one.close()

  await expect(async () => one.query('select 1')).rejects.toThrow('PGlite is closed')
  await expect(async () => one.close()).rejects.toThrow('PGlite is closed')
})

it('keeps the records of a folder until the database there is removed', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'kept-database-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  await mkdir(join(dataDir, 'db'))
  const keysIn = async (name?: string) => {
    const db = await openRecordsOf(dataDir)
    if (name !== undefined) await createApiKey(db, { orgId: 'org-4', name, now: new Date(0) })
    const keys = await db.selectFrom('api_keys').select('name').execute()
    await db.destroy()
    return keys.map((key) => key.name)
  }

  expect([await keysIn('first'), await keysIn()]).toEqual([['first'], ['first']])
  await rm(join(dataDir, 'db'), { recursive: true })
  expect(await keysIn()).toEqual([])
})
