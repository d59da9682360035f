// Single-camera video: upload sessions with one address per part, one confirmation per file, and the cancel.

import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

import { timeOf, type ServiceContext } from './context.ts'
import { addressOf, keyRangeOf } from './object-keys.ts'
import { MalformedRequest, refuse, type FieldProblem } from './replies.ts'
import { confirmFile } from './video-confirm.ts'
import { readBody, videoConfirmRequest, videoUploadRequest } from './wire.ts'

const MAX_CHUNKS = 10_000
/** Addresses in one answer: enough for ten files of the most parts, and an answer of some 35 MB. */
const MAX_ADDRESSES = 100_000
/** Rows per statement: a statement takes at most 65,535 parameters. */
const ROWS = 5_000

interface FileEntry {
  readonly raw_file_name: string
  readonly file_size_bytes: number
  readonly number_of_chunks: number
  readonly file_id?: number | undefined
  readonly frame_rate?: number | undefined
}

export function videoRoutes(app: FastifyInstance, context: ServiceContext): void {
  const { db, store } = context

  app.post('/upload_videos', { config: { answersMalformed: true } }, async (request) => {
    const body = readBody(videoUploadRequest, request.body)
    const problems = problemsOf(body.files)
    if (problems.length > 0) throw new MalformedRequest(problems)
    const sessionId = randomUUID()
    const { movement_type_id, player_id, session_date, session_type_id } = body
    const ids = await db.transaction().execute(async (trx) => {
      await trx
        .insertInto('video_sessions')
        .values({
          id: sessionId,
          movement_type_id,
          player_id,
          session_date,
          session_type_id,
          created_at: timeOf(context),
        })
        .execute()
      const rows: { id: number }[] = []
      for (let start = 0; start < body.files.length; start += ROWS) {
        const values = body.files.slice(start, start + ROWS).map((file) => ({
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
    return {
      upload_session_id: sessionId,
      pre_signed_urls: body.files.map((file, index) => describeFile(context, sessionId, Number(ids[index]), file)),
    }
  })

  app.patch('/upload_videos', async (request) => {
    await confirmFile(context, readBody(videoConfirmRequest, request.body))
    return {}
  })

  app.delete<{ Params: { id: string } }>('/upload_videos/:id', async (request) => {
    const id = sessionIdOf(request.params.id)
    const removed = await db.transaction().execute(async (trx) => {
      const session = await trx
        .updateTable('video_sessions')
        .set({ is_cancelled: true })
        .where('id', '=', id)
        .returning('id')
        .executeTakeFirst()
      if (session === undefined) refuse(404, 'session_not_found', 'No upload session has this id.')
      const [first, end] = keyRangeOf(session.id)
      return trx.deleteFrom('objects').where('key', '>=', first).where('key', '<', end).returning('blob').execute()
    })
    await store.remove(removed.map(({ blob }) => blob))
    return {}
  })
}

/** The id in a path. Ours are UUIDs; text that the database could not even look for is no id of ours either. */
function sessionIdOf(text: string): string {
  return /^[0-9a-f-]{36}$/.test(text) ? text : refuse(404, 'session_not_found', 'No upload session has this id.')
}

function describeFile(context: ServiceContext, sessionId: string, fileId: number, file: FileEntry): object {
  const key = { flow: 'videos', sessionId, fileId } as const
  return {
    session_file_id: fileId,
    raw_file_name: file.raw_file_name,
    ...(file.file_id === undefined ? {} : { file_id: file.file_id }),
    info: Array.from({ length: file.number_of_chunks }, (_, index) => ({
      url: addressOf(context, 'PUT', key, index + 1),
      part_number: index + 1,
    })),
  }
}

/** What no schema of a single field can see. */
function problemsOf(files: readonly FileEntry[]): FieldProblem[] {
  const problems: FieldProblem[] = []
  const fileIds = new Set<number>()
  let addresses = 0
  for (const [index, file] of files.entries()) {
    const { number_of_chunks: chunks, file_id: fileId } = file
    addresses += chunks
    const most = Math.min(MAX_CHUNKS, Math.max(1, file.file_size_bytes))
    if (chunks > most) {
      const problem = `expected at most ${most}: no chunk may be empty, and there are no more than ${MAX_CHUNKS}`
      problems.push({ field: `files.${index}.number_of_chunks`, problem })
    }
    if (fileId !== undefined && fileIds.has(fileId)) {
      problems.push({ field: `files.${index}.file_id`, problem: 'must be unique among the files' })
    }
    if (fileId !== undefined) fileIds.add(fileId)
  }
  if (addresses > MAX_ADDRESSES) {
    problems.push({ field: 'files', problem: `have ${addresses} chunks in all, expected at most ${MAX_ADDRESSES}` })
  }
  return problems
}
