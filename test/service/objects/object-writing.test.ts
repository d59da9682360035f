// Bytes that were received and are made to count: what becomes of them when nobody can say whether the database agreed, or when
// their session was swept meanwhile.

import { openAsBlob } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'

import { PGlite } from '@electric-sql/pglite'
import { Kysely, type Dialect } from 'kysely'
import { expect, inject, it, onTestFinished } from 'vitest'

import type { ServiceContext } from '../../../src/service/context.ts'
import { pgliteDialect } from '../../../src/service/database/pglite-dialect.ts'
import type { Tables } from '../../../src/service/database/tables.ts'
import { createObjectStore } from '../../../src/service/objects/object-store.ts'
import { storePart } from '../../../src/service/objects/object-writing.ts'
import { withKeptDatabases } from '../../helpers/kept-database.ts'

const SESSION = '11111111-2222-4333-8444-555555555555'

/** A database whose commits are done, and whose answer to them is lost. */
function losingCommits(dialect: Dialect): Dialect {
  return {
    ...dialect,
    createDriver() {
      const driver = dialect.createDriver()
      return {
        ...driver,
        async commitTransaction(connection) {
          await driver.commitTransaction(connection)
          throw new Error('Connection terminated unexpectedly')
        },
      }
    },
  }
}

/** Five bytes in a store, over a database of its own. */
async function received(over: (dialect: Dialect) => Dialect = (dialect) => dialect) {
  const folder = await mkdtemp(join(tmpdir(), 'object-writing-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const loadDataDir = await openAsBlob(inject('preparedDatabase'))
  const pglite = await withKeptDatabases(() => PGlite.create({ loadDataDir }))
  const db = new Kysely<Tables>({ dialect: over(pgliteDialect(pglite)) })
  onTestFinished(() => db.destroy())
  const store = await createObjectStore(folder)
  const context = { db, store, settings: { now: () => 0 } } as unknown as ServiceContext
  return { context, db, store, stored: await store.receive(Readable.from([Buffer.from('hello')]), 5) }
}

it('keeps the bytes of a part whose commit had no answer: it may have been done', async () => {
  const { context, db, store, stored } = await received(losingCommits)
  const key = { flow: 'captures', sessionId: SESSION, fileId: 1 } as const

  const storing = storePart(context, { key, partNumber: 1, stored, contentMd5: undefined })

  await expect(storing).rejects.toThrow('Connection terminated')
  const rows = await db.selectFrom('objects').select('blob').execute()
  expect(rows).toEqual([{ blob: stored.blob }])
  const file = await store.open(stored.blob)
  expect((await file.readFile()).toString()).toBe('hello')
  await file.close()
})

it('drops the bytes of a part whose session was swept while they were on their way: nobody would ever remove them', async () => {
  const { context, db, store, stored } = await received()
  const owner = 'org-4'
  await db
    .insertInto('video_sessions')
    .values({
      ...{ id: SESSION, owner, movement_type_id: 1, player_id: 'p', session_date: '2026-11-20', session_type_id: 1 },
      created_at: new Date(0),
    })
    .execute()
  const { id } = await db
    .insertInto('video_files')
    .values({
      ...{ owner, session_id: SESSION, raw_file_name: 'a.mp4', file_size_bytes: 5, number_of_chunks: 1 },
      ...{ file_id: null, frame_rate: null, status: 'expired' },
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const key = { flow: 'videos', sessionId: SESSION, fileId: id } as const

  const storing = storePart(context, { key, partNumber: 1, stored, contentMd5: undefined })

  await expect(storing).rejects.toMatchObject({ status: 404, code: 'NoSuchUpload' })
  expect(await db.selectFrom('objects').select('blob').execute()).toEqual([])
  await expect(store.open(stored.blob)).rejects.toThrow('ENOENT')
})
