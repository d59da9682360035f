// The embedded database: PGlite in a folder or in memory, for one process at a time.

import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { Kysely } from 'kysely'

import { checkRoomToStart, roomToStart } from './disk-room.ts'
import { DURABLE_START, DurableFiles, syncTree } from './durable-files.ts'
import { packFolder, unpackFolder } from './folder-archive.ts'
import { migrate } from './migrate.ts'
import { pgliteDialect } from './pglite-dialect.ts'
import type { Database, Tables } from './tables.ts'
import type { ServiceOptions } from '../options.ts'
import { syncFolder } from '../sync-folder.ts'

export interface PglitePlace {
  /** Where its files are. Default: in memory. */
  readonly folder?: string | undefined
  /** A new database starts as a copy of this. */
  readonly prepared?: ServiceOptions['preparedDatabase'] | undefined
  /** Bytes to keep free on the folder's disk; 0 turns the check off. Default: only what it needs to start. */
  readonly keepFreeBytes?: number | undefined
}

/**
 * Opens the database, fully migrated. Rejects with DiskFullError when its disk has no room for it, and with ERR_SERVICE_DATABASE when
 * its files cannot be opened.
 */
export async function openPglite({ folder, prepared, keepFreeBytes = 1 }: PglitePlace): Promise<Database> {
  const archive = () => (typeof prepared === 'function' ? prepared() : prepared)
  if (folder === undefined) {
    const loadDataDir = await archive()
    return migrated(await open(loadDataDir === undefined ? {} : { loadDataDir }))
  }
  const mark = `${folder}.making`
  // A start that was killed here left files that look like a database and are none. Nobody has used them.
  if (existsSync(mark)) await rm(folder, { recursive: true, force: true })
  const isNew = !existsSync(join(folder, 'PG_VERSION'))
  await checkRoomToStart(folder, roomToStart(isNew, keepFreeBytes))
  if (isNew) {
    await writeFile(mark, '', { mode: 0o600 })
    const bytes = await (await archive())?.arrayBuffer()
    if (bytes !== undefined) await unpackFolder(bytes, folder)
  }
  const fs = new DurableFiles(folder)
  const needRoom = () => checkRoomToStart(folder, roomToStart(false, keepFreeBytes))
  const db = await migrated(await open({ fs, startParams: DURABLE_START }, folder), () => fs.check(), needRoom)
  if (isNew) {
    // A copy has the identity of what it was copied from.
    await db.updateTable('database_identity').set({ id: randomUUID() }).execute()
    await syncTree(folder)
  }
  await rm(mark, { force: true })
  // After a power cut the mark must not come back: by then the database holds something.
  if (isNew) await syncFolder(dirname(folder))
  return db
}

/** Makes a fully migrated database and returns an archive of its files. */
export async function packNewDatabase(): Promise<Blob> {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-new-database-'))
  try {
    const db = await migrated(await open({ dataDir: folder }))
    // What was not closed would be recovered by whoever opens a copy, one file after another.
    await db.destroy()
    return new Blob([await packFolder(folder)])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function open(options: PGliteOptions, place = 'memory'): Promise<PGlite> {
  try {
    const pglite = await PGlite.create(options)
    // It never gathers statistics, for which a PostgreSQL server has a process. Without them, it takes an organisation for one of
    // 200 and reads and sorts all of its rows for each page of a list, unless going through the index in order costs no more. It takes
    // each key for one of 200 too, and would read the whole table for those of a large session.
    await pglite.exec('set random_page_cost = 1; set enable_seqscan = off')
    return pglite
  } catch (cause) {
    const words = `The embedded database in ${place} cannot be opened (${String(cause)})`
    throw Object.assign(new Error(`${words}. Restore a backup.`, { cause }), { code: 'ERR_SERVICE_DATABASE' })
  }
}

async function migrated(pglite: PGlite, check?: () => void, needRoom?: () => Promise<void>): Promise<Database> {
  const db = new Kysely<Tables>({ dialect: pgliteDialect(pglite, check, needRoom) })
  try {
    await migrate(db)
    return db
  } catch (error) {
    // Rejects where the disk has failed, without the words and the code that the first error has.
    await db.destroy().catch(() => undefined)
    throw error
  }
}
