// Confirms one file: every part is there with the ETag that the client holds, and together they are the whole file.
// From then on its parts are the object, in order; nothing is copied, and nothing can replace a part any more.

import type { Selectable, Transaction } from 'kysely'

import type { ServiceContext } from './context.ts'
import type { Tables } from './tables.ts'
import { keyOf } from './object-keys.ts'
import { refuse } from './replies.ts'

/** The body of PATCH /upload_videos. */
export interface Confirmation {
  readonly upload_session_id: string | number
  readonly affected_file_id: string | number
  readonly file_part_info: readonly { readonly etag: string; readonly part_number: number }[]
  readonly upload_successful: boolean
}

/** Confirms the file or marks it failed. Repeating the same confirmation does nothing; another one is refused. */
export async function confirmFile({ db }: ServiceContext, confirmation: Confirmation): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const file = await lockFile(trx, confirmation)
    if (!confirmation.upload_successful) {
      if (file.status === 'confirmed')
        refuse(409, 'already_confirmed', 'The file is confirmed and cannot fail any more.')
      await trx.updateTable('video_files').set({ status: 'failed' }).where('id', '=', file.id).execute()
      return
    }
    const parts = partsInOrder(confirmation, file.number_of_chunks)
    const accepted = JSON.stringify(parts)
    if (file.status === 'confirmed') {
      if (file.confirmation === accepted) return
      refuse(409, 'already_confirmed', 'The file is confirmed already, with other ETags.')
    }
    await checkStored(trx, file, parts)
    await trx
      .updateTable('video_files')
      .set({ status: 'confirmed', confirmation: accepted })
      .where('id', '=', file.id)
      .execute()
  })
}

type VideoFile = Selectable<Tables['video_files']>

/** The session's row lock keeps parts and the cancel out while a file is judged. */
async function lockFile(trx: Transaction<Tables>, confirmation: Confirmation): Promise<VideoFile> {
  const session = await trx
    .selectFrom('video_sessions')
    .selectAll()
    .where('id', '=', String(confirmation.upload_session_id))
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
        .where('id', '=', Number(digits))
        .executeTakeFirst()
    : undefined
  if (file === undefined) refuse(404, 'file_not_found', 'The upload session has no file with this affected_file_id.')
  return file
}

/** The ETags of parts 1 to N, without quotes and weakness. Throws when the list is not exactly those parts. */
function partsInOrder({ file_part_info: info }: Confirmation, partCount: number): string[] {
  const etags = new Array<string | undefined>(partCount).fill(undefined)
  for (const { etag, part_number: partNumber } of info) {
    if (partNumber > partCount)
      refusePart(422, 'unknown_part', partNumber, `is not one of the file's ${partCount} parts`)
    if (etags[partNumber - 1] !== undefined) refusePart(422, 'repeated_part', partNumber, 'is listed twice')
    etags[partNumber - 1] = etag.replace(/^W\//, '').replace(/^"(.*)"$/, '$1')
  }
  return etags.map((etag, index) => etag ?? refusePart(422, 'missing_part', index + 1, 'is missing from the list'))
}

async function checkStored(trx: Transaction<Tables>, file: VideoFile, etags: readonly string[]): Promise<void> {
  const key = keyOf({ flow: 'videos', sessionId: file.session_id, fileId: file.id })
  const rows = await trx
    .selectFrom('objects')
    .select(['part_number', 'md5', 'size_bytes'])
    .where('key', '=', key)
    .execute()
  const stored = new Map(rows.map((row) => [row.part_number, row]))
  let sizeBytes = 0
  for (const [index, etag] of etags.entries()) {
    const part = stored.get(index + 1)
    if (part === undefined) refusePart(409, 'part_not_stored', index + 1, 'was never stored')
    if (part.md5 !== etag) refusePart(409, 'etag_mismatch', index + 1, 'is stored with another ETag')
    sizeBytes += part.size_bytes
  }
  const expected = file.file_size_bytes
  if (sizeBytes !== expected) {
    refuse(409, 'size_mismatch', `The parts hold ${sizeBytes} bytes, the file was announced with ${expected}.`)
  }
}

function refusePart(status: number, code: string, partNumber: number, problem: string): never {
  refuse(status, code, `Part ${partNumber} ${problem}.`, { part_number: partNumber })
}
