// Confirms one file: every part is there with the ETag that the client holds, and together they are the whole file. From then on
// its parts are the object, in order. Nothing is copied, and no part can be replaced any more.

import { sql, type Selectable, type Transaction } from 'kysely'
import type { InferOutput } from 'valibot'

import type { ServiceContext } from '../context.ts'
import type { Database, Tables } from '../database/tables.ts'
import { refuse, Refusal } from '../http/replies.ts'
import type { videoConfirmRequest } from '../http/wire.ts'
import type { ObjectStorage } from '../objects/object-storage.ts'
import { bareEtag, refusePart } from '../objects/part-check.ts'
import { videoObject } from './video-objects.ts'

/** The body of PATCH /upload_videos, and its owner. */
export type Confirmation = InferOutput<typeof videoConfirmRequest> & { readonly owner: string }

/**
 * Confirms the file. That it failed is not kept: it may be sent again. Repeating the same confirmation does nothing; a different one is
 * refused.
 */
export async function confirmFile(
  { db }: ServiceContext,
  storage: ObjectStorage,
  confirmation: Confirmation,
): Promise<void> {
  const begun =
    storage.assemble !== undefined && confirmation.upload_successful
      ? await db.transaction().execute((trx) => openFile(trx, confirmation))
      : undefined
  try {
    if (begun !== undefined) await storage.assemble?.(videoObject(begun.file), begun.etags)
    await db.transaction().execute((trx) => settle(trx, storage, confirmation))
  } catch (error) {
    if (begun === undefined) throw error
    const end = await endOfSession(db, confirmation)
    if (end === undefined) throw error
    // The session ended while the object was made. Whoever ended it may have cleaned up before the object existed.
    await storage.release([videoObject(begun.file)])
    throw end
  }
}

/** The refusal of a confirmation whose session has ended meanwhile, as it was there before; undefined if it has not. */
async function endOfSession(db: Database, confirmation: Confirmation): Promise<Refusal | undefined> {
  try {
    await db.transaction().execute((trx) => lockFile(trx, confirmation))
    return undefined
  } catch (error) {
    return error instanceof Refusal ? error : undefined
  }
}

async function settle(trx: Transaction<Tables>, storage: ObjectStorage, confirmation: Confirmation): Promise<void> {
  if (!confirmation.upload_successful) {
    const file = await lockFile(trx, confirmation)
    if (file.status === 'confirmed') refuse(409, 'already_confirmed', 'The file is confirmed and cannot fail any more.')
    return
  }
  const open = await openFile(trx, confirmation)
  if (open === undefined) return
  await storage.check(trx, videoObject(open.file), open.etags)
  await trx
    .updateTable('video_files')
    .set({ status: 'confirmed', confirmation: JSON.stringify(open.etags) })
    .where('id', '=', open.file.id)
    .execute()
  // Uses the index of unconfirmed files, so it takes constant time however many files the session has.
  await trx
    .updateTable('video_sessions')
    .set({ is_open: false })
    .where('id', '=', open.file.session_id)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('video_files')
            .select('id')
            .where('session_id', '=', open.file.session_id)
            .where('status', '!=', sql.lit('confirmed')),
        ),
      ),
    )
    .execute()
}

type VideoFile = Selectable<Tables['video_files']>

/** The file to confirm and its ETags; undefined if exactly this is confirmed already. */
async function openFile(
  trx: Transaction<Tables>,
  confirmation: Confirmation,
): Promise<{ file: VideoFile; etags: string[] } | undefined> {
  const file = await lockFile(trx, confirmation)
  const etags = partsInOrder(confirmation, file.number_of_chunks)
  if (file.status !== 'confirmed') return { file, etags }
  if (file.confirmation !== JSON.stringify(etags))
    // Nothing that a client could take for its own confirmation: it may hold other bytes.
    refuse(409, 'etag_mismatch', 'The file is confirmed with other ETags.')
  return undefined
}

/** Locks the session's row, which keeps parts and a cancel out while the file is judged. */
async function lockFile(trx: Transaction<Tables>, confirmation: Confirmation): Promise<VideoFile> {
  const session = await trx
    .selectFrom('video_sessions')
    .selectAll()
    .where('id', '=', String(confirmation.upload_session_id))
    .where('owner', '=', confirmation.owner)
    .forUpdate()
    .executeTakeFirst()
  if (session === undefined) refuse(404, 'session_not_found', 'No upload session has this upload_session_id.')
  if (session.is_cancelled) refuse(409, 'session_cancelled', 'The upload session was cancelled.')
  const digits = String(confirmation.affected_file_id)
  const file = /^\d{1,15}$/.test(digits)
    ? await trx
        .selectFrom('video_files')
        .selectAll()
        .where('session_id', '=', session.id)
        .where('owner', '=', confirmation.owner)
        .where('id', '=', Number(digits))
        .executeTakeFirst()
    : undefined
  if (file === undefined) refuse(404, 'file_not_found', 'The upload session has no file with this affected_file_id.')
  if (file.status === 'expired')
    refuse(409, 'session_expired', 'The upload session was not finished in time and has ended.')
  return file
}

/** The ETags of parts 1 to N, without quotes and weakness marks. Throws if the list is not exactly those parts. */
function partsInOrder({ file_part_info: info }: Confirmation, partCount: number): string[] {
  const etags = new Array<string | undefined>(partCount).fill(undefined)
  for (const { etag, part_number: partNumber } of info) {
    if (partNumber > partCount)
      refusePart(422, 'unknown_part', partNumber, `is not one of the file's ${partCount} parts`)
    if (etags[partNumber - 1] !== undefined) refusePart(422, 'repeated_part', partNumber, 'is listed twice')
    etags[partNumber - 1] = bareEtag(etag)
  }
  return etags.map((etag, index) => etag ?? refusePart(422, 'missing_part', index + 1, 'is missing from the list'))
}
