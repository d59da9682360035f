// Bytes that were received and are made to count: what becomes of them when nobody can say whether the database agreed.

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

it('keeps the bytes of a part whose commit had no answer: it may have been done', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'object-writing-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const pglite = await PGlite.create({ loadDataDir: await openAsBlob(inject('preparedDatabase')) })
  const db = new Kysely<Tables>({ dialect: losingCommits(pgliteDialect(pglite)) })
  onTestFinished(() => db.destroy())
  const store = await createObjectStore(folder)
  const context = { db, store, settings: { now: () => 0 } } as unknown as ServiceContext
  const stored = await store.receive(Readable.from([Buffer.from('hello')]), 5)
  const key = { flow: 'captures', sessionId: SESSION, fileId: 1 } as const

  const storing = storePart(context, { key, partNumber: 1, stored, contentMd5: undefined })

  await expect(storing).rejects.toThrow('Connection terminated')
  const rows = await db.selectFrom('objects').select('blob').execute()
  expect(rows).toEqual([{ blob: stored.blob }])
  const file = await store.open(stored.blob)
  expect((await file.readFile()).toString()).toBe('hello')
  await file.close()
})
