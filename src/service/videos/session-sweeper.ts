// Ends video sessions that nobody finished: confirmed files stay, everything else is removed from storage. Each session is swept
// once, when none of its addresses is alive, so that what arrived late after a cancel is removed too. If it is cancelled after that,
// it is swept once more.

import { sql } from 'kysely'

import type { ServiceContext } from '../context.ts'
import type { Database } from '../database/tables.ts'
import { storageOf } from '../objects/storage-of.ts'
import { videoObject } from './video-objects.ts'

const BATCH = 100
/** An arbitrary number that only we use in this database. */
const LOCK = 7_236_401_117

export interface SweepResult {
  readonly settled: number
  /** Sessions left for the next sweep, because their storage could not be cleared. */
  readonly failed: number
  /** Why the first of these was left. */
  readonly failure?: unknown
}

/** Sweeps all sessions created before this time until the signal fires. Undefined if another copy is sweeping. */
export async function sweepSessions(
  context: ServiceContext,
  before: Date,
  signal?: AbortSignal,
): Promise<SweepResult | undefined> {
  // The embedded database belongs to one process, and its only connection must not be held.
  if (context.settings.databaseUrl === undefined) return sweepAll(context, before, signal)
  return context.db.connection().execute(async (db) => {
    const { rows } = await sql<{ got: boolean }>`select pg_try_advisory_lock(${sql.lit(LOCK)}) as got`.execute(db)
    if (rows[0]?.got !== true) return undefined
    try {
      return await sweepAll({ ...context, db }, before, signal)
    } finally {
      await sql`select pg_advisory_unlock(${sql.lit(LOCK)})`.execute(db)
    }
  })
}

async function sweepAll(context: ServiceContext, before: Date, signal: AbortSignal | undefined): Promise<SweepResult> {
  let [settled, failed] = [0, 0]
  let failure: unknown
  const isStopped = () => signal?.aborted === true
  let after: { created_at: Date; id: string } | undefined
  for (;;) {
    const sessions = await due(context.db, before, after)
    for (const { id } of sessions) {
      if (isStopped()) return { settled, failed, failure }
      try {
        await sweepSession(context, id, signal)
        settled += 1
      } catch (error) {
        if (isStopped()) return { settled, failed, failure }
        failed += 1
        failure ??= error
      }
    }
    after = sessions.at(-1)
    if (after === undefined) return { settled, failed, failure }
  }
}

function due(db: Database, before: Date, after: { created_at: Date; id: string } | undefined) {
  let query = db
    .selectFrom('video_sessions')
    .select(['id', 'created_at'])
    .where('settled_at', 'is', null)
    .where('created_at', '<', before)
  if (after !== undefined) {
    const { created_at, id } = after
    query = query.where((eb) => eb(eb.refTuple('created_at', 'id'), '>', eb.tuple(created_at, id)))
  }
  return query.orderBy('created_at').orderBy('id').limit(BATCH).execute()
}

async function sweepSession(context: ServiceContext, sessionId: string, signal?: AbortSignal): Promise<void> {
  const { db } = context
  const { isCancelled, left } = await db.transaction().execute(async (trx) => {
    // Parts and confirmations of the session wait for this lock and then find the file ended.
    const session = await trx
      .selectFrom('video_sessions')
      .select('is_cancelled')
      .where('id', '=', sessionId)
      .forUpdate()
      .executeTakeFirstOrThrow()
    const unconfirmed = trx.updateTable('video_files').set({ status: 'expired' }).where('session_id', '=', sessionId)
    await unconfirmed.where('status', '!=', 'confirmed').execute()
    let query = trx.selectFrom('video_files').selectAll().where('session_id', '=', sessionId)
    if (!session.is_cancelled) query = query.where('status', '!=', 'confirmed')
    return { isCancelled: session.is_cancelled, left: await query.execute() }
  })
  await storageOf(context).release(left.map(videoObject), signal)
  const settled_at = new Date(context.settings.now())
  await db
    .updateTable('video_sessions')
    .set({ settled_at, is_open: false })
    .where('id', '=', sessionId)
    // A cancel that came meanwhile gives up the confirmed files as well, and may have failed to remove them.
    .where('is_cancelled', '=', isCancelled)
    .execute()
}
