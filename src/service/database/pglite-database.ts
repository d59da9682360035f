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
  /** Where its files are. Default: in memory. */
  readonly folder?: string | undefined
  /** A new database starts as a copy of this. */
  readonly prepared?: Blob | undefined
  /** Bytes to keep free on the folder's disk; 0 turns the check off. Default: only what it needs to start. */
  readonly keepFreeBytes?: number | undefined
}

/** Opens the database, fully migrated. Rejects with DiskFullError when its disk has no room for it. */
export async function openPglite(place: PglitePlace): Promise<Database> {
  return migrated(await open(place))
}

/** Makes a fully migrated database in memory and returns it as an archive of its files. */
export async function dumpNewDatabase(): Promise<Blob> {
  const pglite = await open({})
  const db = await migrated(pglite)
  try {
    // The archive is read often and kept for minutes: compression would cost more than it saves.
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
