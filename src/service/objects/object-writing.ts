// Records received bytes as an object: checks that the key may still take them, and replaces its old blob in one step.

import type { Kysely, Transaction } from 'kysely'

import { timeOf, type ServiceContext } from '../context.ts'
import type { Database, Tables } from '../database/tables.ts'
import { StorageRefusal } from '../http/replies.ts'
import { keyOf, type ObjectKey } from './object-keys.ts'
import type { ReceivedBlob } from './object-store.ts'

/** Throws unless the key takes a part now. An unknown file, a cancelled session or a confirmed file takes none. */
export async function checkTarget(db: Database, key: ObjectKey): Promise<void> {
  if (key.flow === 'captures') await checkCapture(db, key)
  else await checkVideo(db, key)
}

async function checkCapture(db: Kysely<Tables>, key: ObjectKey): Promise<void> {
  const file = await db
    .selectFrom('mocap_session_files')
    .select('id')
    .where('id', '=', key.fileId)
    .where('session_id', '=', key.sessionId)
    .executeTakeFirst()
  if (file === undefined) throw noSuchUpload()
}

async function checkVideo(db: Kysely<Tables>, key: ObjectKey): Promise<void> {
  const file = await db
    .selectFrom('video_files')
    .innerJoin('video_sessions', 'video_sessions.id', 'video_files.session_id')
    .select(['status', 'is_cancelled'])
    .where('video_files.id', '=', key.fileId)
    .where('session_id', '=', key.sessionId)
    .executeTakeFirst()
  const isOpen = file !== undefined && !file.is_cancelled && file.status !== 'confirmed' && file.status !== 'expired'
  if (!isOpen) throw noSuchUpload()
}

/** By this code, a client that resumes asks for a new address. */
function noSuchUpload(): StorageRefusal {
  const message = 'The specified upload does not exist. It may have been aborted or completed.'
  return new StorageRefusal(404, 'NoSuchUpload', message)
}

export interface PartToStore {
  readonly key: ObjectKey
  readonly partNumber: number
  readonly stored: ReceivedBlob
  /** The MD5 that the sender claims, in hex. */
  readonly contentMd5: string | undefined
}

/**
 * Points the key at the new blob and removes the old one. If that is not allowed, it removes the new blob and throws. If the commit
 * fails, both blobs stay: it may have succeeded all the same, and the next start sweeps the unused one.
 */
export async function storePart(context: ServiceContext, part: PartToStore): Promise<void> {
  const { db, store } = context
  /** The blob to be removed at the end. */
  let needless: string | undefined = part.stored.blob
  try {
    if (part.contentMd5 !== undefined && part.contentMd5 !== part.stored.md5) {
      throw new StorageRefusal(400, 'BadDigest', 'The Content-MD5 you specified did not match what we received.')
    }
    needless = await db.transaction().execute(async (trx) => {
      const replaced = await point(trx, part, timeOf(context))
      // From here on only the commit can fail.
      needless = undefined
      return replaced
    })
  } finally {
    if (needless !== undefined) await store.remove([needless])
  }
}

async function point(trx: Transaction<Tables>, part: PartToStore, at: Date): Promise<string | undefined> {
  const { key, partNumber, stored } = part
  await lockSession(trx, key)
  // The session may have been cancelled, or the file confirmed, while the body was on its way.
  if (key.flow === 'videos') await checkVideo(trx, key)
  const row = { blob: stored.blob, size_bytes: stored.sizeBytes, md5: stored.md5, stored_at: at }
  const before = await trx
    .selectFrom('objects')
    .select('blob')
    .where('key', '=', keyOf(key))
    .where('part_number', '=', partNumber)
    .executeTakeFirst()
  await trx
    .insertInto('objects')
    .values({ key: keyOf(key), part_number: partNumber, ...row })
    .onConflict((conflict) => conflict.columns(['key', 'part_number']).doUpdateSet(row))
    .execute()
  return before?.blob
}

/** Runs the parts, confirmations and cancels of one session one after another. */
async function lockSession(trx: Transaction<Tables>, key: ObjectKey): Promise<void> {
  const table = key.flow === 'captures' ? 'mocap_sessions' : 'video_sessions'
  await trx.selectFrom(table).select('id').where('id', '=', key.sessionId).forUpdate().execute()
}
