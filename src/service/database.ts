// The tables as types, and the opening of the database with all migrations done. Code written against these types runs
// on PostgreSQL too: 64-bit columns are read through Number, and JSON is written as text.

import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { PGlite } from '@electric-sql/pglite'
import { Kysely, Migrator, type ColumnType, type Generated } from 'kysely'

import { migrationProvider } from './migrations.ts'
import { pgliteDialect } from './pglite-dialect.ts'

/** 64 bits: PostgreSQL's client gives text, PGlite a number. */
type Bigint = ColumnType<number | string, number, number>
type Json = ColumnType<unknown, string, string>

export interface Tables {
  mocap_sessions: {
    id: string
    org_id: string
    mocap_type_id: number
    session_type_id: number
    session_date: string
    num_movements: Generated<number>
    num_players: Generated<number>
    status: string
    created_at: Date
    updated_at: Date
  }
  mocap_session_files: {
    id: Generated<number>
    session_id: string
    position: number
    name: string
    video_framerate: number | null
    registered_at: Date
  }
  player_group_segments: {
    id: Generated<number>
    movement_type_id: number
    dom_hand: string
    org_movement_ids: Json
    created_at: Date
    updated_at: Date
  }
  requested_analyses: {
    id: Generated<number>
    name: string
    primary_analysis_segment_id: number
    comparison_analysis_segment_id: number | null
    population_analysis_segment_id: number | null
    status: string
    requested_at: Date | null
    created_at: Date
    updated_at: Date
  }
  video_sessions: {
    id: string
    movement_type_id: number
    player_id: string
    session_date: string
    session_type_id: number
    is_cancelled: Generated<boolean>
    created_at: Date
  }
  video_files: {
    id: Generated<number>
    session_id: string
    raw_file_name: string
    file_size_bytes: Bigint
    number_of_chunks: number
    file_id: ColumnType<number | string | null, number | null, number | null>
    frame_rate: number | null
    status: Generated<string>
    confirmation: ColumnType<string | null, string | null | undefined, string | null>
  }
  objects: {
    key: string
    part_number: number
    blob: string
    size_bytes: Bigint
    md5: string
    stored_at: Date
  }
}

export type Database = Kysely<Tables>

/**
 * Opens the database in `folder`, or in memory, and brings it to the newest shape. `destroy()` closes it. One that is
 * new begins as a copy of `prepared`, where that is given.
 */
export async function openDatabase(folder: string | undefined, prepared?: Blob): Promise<Database> {
  return migrated(await openPglite(folder, prepared))
}

/** Makes a database in memory with all migrations done, and gives it as an archive of its files. */
export async function dumpNewDatabase(): Promise<Blob> {
  const pglite = await openPglite(undefined, undefined)
  const db = await migrated(pglite)
  try {
    // Read back often and kept for minutes: packing would cost more than it saves.
    return await pglite.dumpDataDir('none')
  } finally {
    await db.destroy()
  }
}

function openPglite(folder: string | undefined, prepared: Blob | undefined): Promise<PGlite> {
  const isNew = folder === undefined || !existsSync(join(folder, 'PG_VERSION'))
  return PGlite.create({
    ...(folder === undefined ? {} : { dataDir: folder }),
    ...(prepared === undefined || !isNew ? {} : { loadDataDir: prepared }),
  })
}

async function migrated(pglite: PGlite): Promise<Database> {
  const db = new Kysely<Tables>({ dialect: pgliteDialect(pglite) })
  const { error } = await new Migrator({ db, provider: migrationProvider }).migrateToLatest()
  if (error !== undefined) {
    await db.destroy()
    throw new Error('The service could not bring its database to the newest shape.', { cause: error })
  }
  return db
}
