// The embedded database: PGlite in a folder or in memory, for one process at a time.

import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { PGlite } from '@electric-sql/pglite'
import { Kysely } from 'kysely'

import { checkRoomToStart } from './disk-room.ts'
import { migrate } from './migrations.ts'
import { pgliteDialect } from './pglite-dialect.ts'
import type { Database, Tables } from './tables.ts'

/** Opens it with all migrations done. One that is new begins as a copy of `prepared`, where that is given. */
export async function openPglite(folder: string | undefined, prepared: Blob | undefined): Promise<Database> {
  return migrated(await open(folder, prepared))
}

/** Makes a database in memory with all migrations done, and gives it as an archive of its files. */
export async function dumpNewDatabase(): Promise<Blob> {
  const pglite = await open(undefined, undefined)
  const db = await migrated(pglite)
  try {
    // Read back often and kept for minutes: packing would cost more than it saves.
    return await pglite.dumpDataDir('none')
  } finally {
    await db.destroy()
  }
}

async function open(folder: string | undefined, prepared: Blob | undefined): Promise<PGlite> {
  const isNew = folder === undefined || !existsSync(join(folder, 'PG_VERSION'))
  if (folder !== undefined) await checkRoomToStart(folder, isNew)
  return PGlite.create({
    ...(folder === undefined ? {} : { dataDir: folder }),
    ...(prepared === undefined || !isNew ? {} : { loadDataDir: prepared }),
  })
}

async function migrated(pglite: PGlite): Promise<Database> {
  const db = new Kysely<Tables>({ dialect: pgliteDialect(pglite) })
  try {
    await migrate(db)
    return db
  } catch (error) {
    await db.destroy()
    throw error
  }
}
