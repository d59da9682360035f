// Single-camera video: upload sessions with one address per part, one confirmation per file, and the cancel.

import type { FastifyInstance } from 'fastify'

import { callerOf } from '../access/callers.ts'
import type { ServiceContext } from '../context.ts'
import { goneSignal } from '../http/gone-signal.ts'
import { MalformedRequest, refuse, type FieldProblem } from '../http/replies.ts'
import { readBody, videoConfirmRequest, videoUploadRequest } from '../http/wire.ts'
import { MAX_PUT_BYTES, type ObjectStorage } from '../objects/object-storage.ts'
import { storageOf } from '../objects/storage-of.ts'
import { confirmFile } from './video-confirm.ts'
import { createSession, type FileEntry } from './video-create.ts'
import { videoObject } from './video-objects.ts'

const MAX_CHUNKS = 10_000
/** Addresses in one answer: enough for ten files with the most parts, in an answer of about 35 MB. */
const MAX_ADDRESSES = 100_000

export function videoRoutes(app: FastifyInstance, context: ServiceContext): void {
  const { db } = context
  const storage = storageOf(context)

  app.post('/upload_videos', { config: { answersMalformed: true } }, async (request, reply) => {
    const body = readBody(videoUploadRequest, request)
    const { filesPerSession: limit } = context.settings.limits
    if (body.files.length > limit) {
      const message = `One session has at most ${limit} files, this one would have ${body.files.length}.`
      refuse(422, 'too_many_files', message, { limit })
    }
    const problems = problemsOf(storage, body.files)
    if (problems.length > 0) throw new MalformedRequest(problems)
    context.answers.expectAddresses(reply, addressesOf(body.files))
    return createSession(context, storage, { owner: callerOf(request).orgId, signal: goneSignal(reply) }, body)
  })

  app.patch('/upload_videos', async (request) => {
    await confirmFile(context, storage, {
      ...readBody(videoConfirmRequest, request),
      owner: callerOf(request).orgId,
    })
    return {}
  })

  app.delete<{ Params: { id: string } }>('/upload_videos/:id', async (request) => {
    const id = sessionIdOf(request.params.id)
    const files = await db.transaction().execute(async (trx) => {
      const session = await trx
        .updateTable('video_sessions')
        // What was swept is swept again, since confirmed files go now, and storage may be away.
        .set({ is_cancelled: true, is_open: false, settled_at: null })
        .where('id', '=', id)
        .where('owner', '=', callerOf(request).orgId)
        .returning('id')
        .executeTakeFirst()
      if (session === undefined) refuse(404, 'session_not_found', 'No upload session has this id.')
      return trx.selectFrom('video_files').selectAll().where('session_id', '=', id).execute()
    })
    // From here on no part is accepted and no file confirmed. Repeating the call removes what this one could not.
    await storage.release(files.map(videoObject))
    return {}
  })
}

/** The id in a path. Ours are UUIDs, so anything else, such as text the database could not even look up, is no id of ours. */
function sessionIdOf(text: string): string {
  return /^[0-9a-f-]{36}$/.test(text) ? text : refuse(404, 'session_not_found', 'No upload session has this id.')
}

/** How many the answer will have. */
function addressesOf(files: readonly FileEntry[]): number {
  return files.reduce((sum, { number_of_chunks: chunks }) => sum + chunks, 0)
}

/** Finds problems that the schema of a single field cannot see. */
function problemsOf(storage: ObjectStorage, files: readonly FileEntry[]): FieldProblem[] {
  const problems: FieldProblem[] = []
  const fileIds = new Set<number>()
  for (const [index, file] of files.entries()) {
    const { number_of_chunks: chunks, file_id: fileId } = file
    const most = Math.min(MAX_CHUNKS, Math.max(1, file.file_size_bytes))
    const least = Math.ceil(file.file_size_bytes / MAX_PUT_BYTES)
    const problem =
      chunks > most
        ? `expected at most ${most}: no chunk may be empty, and there are no more than ${MAX_CHUNKS}`
        : chunks < least
          ? `expected at least ${least}: no chunk may be above 5 GiB`
          : storage.problemOf(file.file_size_bytes, chunks)
    if (problem !== undefined) problems.push({ field: `files.${index}.number_of_chunks`, problem })
    if (fileId !== undefined && fileIds.has(fileId)) {
      problems.push({ field: `files.${index}.file_id`, problem: 'must be unique among the files' })
    }
    if (fileId !== undefined) fileIds.add(fileId)
  }
  const addresses = addressesOf(files)
  if (addresses > MAX_ADDRESSES) {
    problems.push({ field: 'files', problem: `have ${addresses} chunks in all, expected at most ${MAX_ADDRESSES}` })
  }
  return problems
}
