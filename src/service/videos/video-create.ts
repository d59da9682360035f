// Opens an upload session: first its records, then what storage needs for its files, then the addresses.

import { randomUUID } from 'node:crypto'

import { sql, type Transaction } from 'kysely'
import type { InferOutput } from 'valibot'

import { timeOf, type ServiceContext } from '../context.ts'
import type { Tables } from '../database/tables.ts'
import { refuse } from '../http/replies.ts'
import type { videoUploadRequest } from '../http/wire.ts'
import type { ObjectStorage, VideoObject } from '../objects/object-storage.ts'

/** Rows per statement, since a statement takes at most 65,535 parameters. */
const ROWS = 5_000

/** The body of POST /upload_videos. */
type UploadRequest = InferOutput<typeof videoUploadRequest>
export type FileEntry = UploadRequest['files'][number]

/**
 * Makes the answer of POST /upload_videos. If storage fails, or the signal says that nobody waits any more, the session is
 * cancelled; nobody has heard of it yet.
 */
export async function createSession(
  context: ServiceContext,
  storage: ObjectStorage,
  { owner, signal }: { readonly owner: string; readonly signal: AbortSignal },
  body: UploadRequest,
): Promise<object> {
  const { db } = context
  const sessionId = randomUUID()
  const ids = await recordSession(context, { sessionId, owner }, body)
  const objects = body.files.map((file, index): VideoObject => ({
    key: { flow: 'videos', sessionId, fileId: Number(ids[index]) },
    sizeBytes: file.file_size_bytes,
    partCount: file.number_of_chunks,
    uploadId: null,
  }))
  try {
    const uploadIds = await storage.begin(objects, signal)
    await recordUploads(context, ids, uploadIds)
    const begun = objects.map((object, index) => ({ ...object, uploadId: uploadIds[index] ?? null }))
    const addresses = await storage.partAddresses(begun, signal)
    // Work this short may not have looked, and nobody else will ever end the session.
    signal.throwIfAborted()
    return {
      upload_session_id: sessionId,
      pre_signed_urls: body.files.map((file, index) => describeFile(file, Number(ids[index]), addresses[index] ?? [])),
    }
  } catch (error) {
    await db
      .updateTable('video_sessions')
      .set({ is_cancelled: true, is_open: false })
      .where('id', '=', sessionId)
      .execute()
    // What cannot be removed now is left to the sweeper. The caller must hear the first failure.
    await storage.release(objects).catch(() => undefined)
    throw error
  }
}

/** Returns the ids of the files, in their order. */
function recordSession(
  context: ServiceContext,
  { sessionId, owner }: { readonly sessionId: string; readonly owner: string },
  body: UploadRequest,
): Promise<number[]> {
  const { movement_type_id, player_id, session_date, session_type_id } = body
  return context.db.transaction().execute(async (trx) => {
    await checkOpenSessions(trx, owner, context.settings.limits.openSessions)
    const session = { id: sessionId, owner, movement_type_id, player_id, session_date, session_type_id }
    await trx
      .insertInto('video_sessions')
      .values({ ...session, created_at: timeOf(context) })
      .execute()
    const rows: { id: number }[] = []
    for (let start = 0; start < body.files.length; start += ROWS) {
      const values = body.files.slice(start, start + ROWS).map((file) => ({
        owner,
        session_id: sessionId,
        raw_file_name: file.raw_file_name,
        file_size_bytes: file.file_size_bytes,
        number_of_chunks: file.number_of_chunks,
        file_id: file.file_id ?? null,
        frame_rate: file.frame_rate ?? null,
      }))
      rows.push(...(await trx.insertInto('video_files').values(values).returning('id').execute()))
    }
    return rows.map(({ id }) => id).sort((a, b) => a - b)
  })
}

/** Sessions created at the same moment do not see each other, so together they may exceed the limit by their number. */
async function checkOpenSessions(trx: Transaction<Tables>, owner: string, limit: number): Promise<void> {
  if (limit === 0) return
  const last = await trx
    .selectFrom('video_sessions')
    .select('id')
    .where('owner', '=', owner)
    .where('is_open', '=', sql.lit(true))
    .offset(limit - 1)
    .limit(1)
    .executeTakeFirst()
  if (last === undefined) return
  const message = `The organisation has ${limit} unfinished video sessions: finish or cancel some of them.`
  refuse(409, 'too_many_open_sessions', message, { limit })
}

async function recordUploads(
  { db }: ServiceContext,
  ids: readonly number[],
  uploadIds: readonly (string | null)[],
): Promise<void> {
  const made = ids.flatMap((id, index) => (uploadIds[index] == null ? [] : [{ id, upload_id: uploadIds[index] }]))
  if (made.length === 0) return
  // All in one statement, since each update of its own would be a call to the database.
  await sql`
    update video_files set upload_id = made.upload_id
    from jsonb_to_recordset(${JSON.stringify(made)}::text::jsonb) as made (id bigint, upload_id text)
    where video_files.id = made.id`.execute(db)
}

function describeFile(file: FileEntry, fileId: number, addresses: readonly string[]): object {
  return {
    session_file_id: fileId,
    raw_file_name: file.raw_file_name,
    ...(file.file_id === undefined ? {} : { file_id: file.file_id }),
    info: addresses.map((url, index) => ({ url, part_number: index + 1 })),
  }
}
