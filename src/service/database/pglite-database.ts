// The embedded database: PGlite in a folder or in memory, for one process at a time.

import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { PGlite } from '@electric-sql/pglite'
import { Kysely } from 'kysely'

import { checkRoomToStart, roomToStart } from './disk-room.ts'
import { migrate } from './migrations.ts'
import { pgliteDialect } from './pglite-dialect.ts'
import type { Database, Tables } from './tables.ts'

export interface PglitePlace {
  /** Absent: in memory. */
  readonly folder?: string | undefined
  /** What a new database begins as a copy of. */
  readonly prepared?: Blob | undefined
  /** What is kept free on the disk of the folder; 0 looks at nothing. Default: only what it needs to start. */
  readonly keepFreeBytes?: number | undefined
}

/** Opens it with all migrations done. Rejects with DiskFullError where its disk has no room for it. */
export async function openPglite(place: PglitePlace): Promise<Database> {
  return migrated(await open(place))
}

/** Makes a database in memory with all migrations done, and gives it as an archive of its files. */
export async function dumpNewDatabase(): Promise<Blob> {
  const pglite = await open({})
  const db = await migrated(pglite)
  try {
    // Read back often and kept for minutes: packing would cost more than it saves.
    return await pglite.dumpDataDir('none')
  } finally {
    await db.destroy()
  }
}

async function open({ folder, prepared, keepFreeBytes = 1 }: PglitePlace): Promise<PGlite> {
  const isNew = folder === undefined || !existsSync(join(folder, 'PG_VERSION'))
  if (folder !== undefined) await checkRoomToStart(folder, roomToStart(isNew, keepFreeBytes))
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
