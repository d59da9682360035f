// Fills a database with the nights of years: N of every record that the calls touch, by the database itself.

import { queryOnce } from '../../test/helpers/postgres-server.ts'

/** Owner of what the fixed key of the bench makes. */
const OWNER = 'development'
const ETAG = '9dd4e461268c8034f5c8564e155c67a6'

/** A video file that waits for its confirmation, its one part stored. */
export interface PendingFile {
  readonly sessionId: string
  readonly fileId: number
}

export interface Filled {
  readonly pending: readonly PendingFile[]
  /** A session of captures, and the analysis in the middle. */
  readonly captureSessionId: string
  readonly analysisId: number
  readonly middleVideoId: number
}

/**
 * `count` video sessions of one file, of which the newest `open` are unconfirmed, with their objects; as many capture
 * sessions of one file, with theirs, and requested analyses. The database has been migrated by a service that was started.
 */
export async function fill(url: string, count: number, open: number): Promise<Filled> {
  const uuid = (kind: string) => `md5('${kind}' || n)::uuid::text`
  const at = `timestamptz '2026-01-01' + n * interval '1 second'`
  const rows = `from generate_series(1, ${count}) as n`
  const statements = [
    'set synchronous_commit = off',
    `insert into player_group_segments (owner, movement_type_id, dom_hand, org_movement_ids, created_at, updated_at)
     values ('${OWNER}', 1, 'RHA', '[]', now(), now())`,
    `insert into requested_analyses (owner, name, primary_analysis_segment_id, status, created_at, updated_at)
     select '${OWNER}', 'Night ' || n, 1, 'completed', ${at}, ${at} ${rows}`,
    `insert into mocap_sessions (id, owner, org_id, mocap_type_id, session_type_id, session_date, status, created_at, updated_at)
     select ${uuid('c')}, '${OWNER}', 'org-4', 2, 1, '2026-11-20', 'pending', ${at}, ${at} ${rows}`,
    `insert into mocap_session_files (owner, session_id, position, name, registered_at)
     select '${OWNER}', ${uuid('c')}, 0, 'swing.action', ${at} ${rows}`,
    `insert into video_sessions (id, owner, movement_type_id, player_id, session_date, session_type_id, created_at, settled_at, is_open)
     select ${uuid('v')}, '${OWNER}', 1, 'p-17', '2026-11-20', 2, ${at},
       case when n > ${count - open} then null else ${at} end, n > ${count - open} ${rows}`,
    `insert into video_files (owner, session_id, raw_file_name, file_size_bytes, number_of_chunks, status, confirmation)
     select '${OWNER}', ${uuid('v')}, 'swing.mp4', 1000, 1,
       case when n > ${count - open} then 'pending' else 'confirmed' end,
       case when n > ${count - open} then null else '["${ETAG}"]' end ${rows} order by n`,
    `insert into objects (key, part_number, blob, size_bytes, md5, stored_at)
     select 'videos/' || session_id || '/' || id, 1, 'v' || id, 1000, '${ETAG}', now() from video_files`,
    `insert into objects (key, part_number, blob, size_bytes, md5, stored_at)
     select 'captures/' || session_id || '/' || id, 1, 'c' || id, 1000, '${ETAG}', now() from mocap_session_files`,
    'vacuum analyze',
  ]
  // VACUUM runs in no transaction, so each goes by itself.
  for (const statement of statements) await queryOnce(url, statement)
  const pending = await queryOnce(url, `select session_id, id from video_files where status = 'pending' order by id`)
  const [middle] = await queryOnce(url, `select id from video_files order by id offset ${count >> 1} limit 1`)
  const [session] = await queryOnce(url, 'select id from mocap_sessions limit 1')
  return {
    pending: pending.map((row) => ({ sessionId: String(row['session_id']), fileId: Number(row['id']) })),
    captureSessionId: String(session?.['id']),
    analysisId: count >> 1,
    middleVideoId: Number(middle?.['id']),
  }
}

export { ETAG as STORED_ETAG }

/** Rows that sequential scans have read so far, of the tables that grow; known a second after the last connection ended. */
export async function scannedRows(url: string): Promise<number> {
  const [row] = await queryOnce(
    url,
    `select coalesce(sum(seq_tup_read), 0)::text as rows from pg_stat_user_tables where relname in
      ('requested_analyses', 'mocap_sessions', 'mocap_session_files', 'video_sessions', 'video_files', 'objects')`,
  )
  return Number(row?.['rows'])
}
