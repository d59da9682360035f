// The video calls of the independent service, as the interface shows them: create, confirm, cancel.

import { randomUUID } from 'node:crypto'

import type { Answer } from './independent-exchange.ts'
import type { IndependentServiceOptions, Records } from './independent-records.ts'
import { bareEtag } from './independent-storage.ts'
import type { Storage, StoredObject } from './independent-storage.ts'

export interface VideoFile {
  readonly sessionFileId: string | number
  readonly sizeBytes: number
  readonly object: StoredObject
  isConfirmed: boolean
}

export interface VideoSession {
  readonly id: string
  readonly files: readonly VideoFile[]
  isCancelled: boolean
}

type Fields = Readonly<Record<string, unknown>>

export interface VideoCalls {
  readonly sessions: ReadonlyMap<string, VideoSession>
  create(body: Fields): Answer
  confirm(body: Fields): Answer
  cancel(sessionId: string): Answer
}

export function createVideoCalls(setting: {
  readonly options: IndependentServiceOptions
  readonly storage: Storage
  readonly storageOrigin: string
  readonly records: Records
  readonly arrange: <T>(entries: readonly T[]) => T[]
}): VideoCalls {
  const { options, storage, storageOrigin, records, arrange } = setting
  const sessions = new Map<string, VideoSession>()
  let nextFileId = 4001

  function createFile(entry: Fields): VideoFile {
    const sessionFileId = options.idStyle === 'number' ? nextFileId++ : `svf-${String(nextFileId++)}`
    const object = storage.createObject(entry['raw_file_name'] as string, entry['number_of_chunks'] as number)
    return { sessionFileId, sizeBytes: entry['file_size_bytes'] as number, object, isConfirmed: false }
  }

  function entryOf(file: VideoFile, sent: Fields): Fields {
    return {
      session_file_id: file.sessionFileId,
      info: Array.from({ length: file.object.partCount }, (_, index) => ({
        url: storageOrigin + storage.sign(file.object, index + 1),
      })),
      ...(options.echoes?.fileId === true && 'file_id' in sent ? { file_id: sent['file_id'] } : {}),
      ...(options.echoes?.rawFileName === true ? { raw_file_name: sent['raw_file_name'] } : {}),
      ...(options.hasUnknownFields === true ? { storage_class: 'STANDARD' } : {}),
    }
  }

  return {
    sessions,

    create(body) {
      const wrong = wrongInCreate(body)
      if (wrong !== undefined) return { status: options.refusalStatus ?? 200, body: { message: wrong } }
      const sent = body['files'] as Fields[]
      const session: VideoSession = { id: randomUUID(), files: sent.map(createFile), isCancelled: false }
      sessions.set(session.id, session)
      const urls = session.files.map((file, index) => entryOf(file, sent[index]!))
      return { status: 200, body: { upload_session_id: session.id, pre_signed_urls: arrange(urls) } }
    },

    confirm(body) {
      const session = sessions.get(body['upload_session_id'] as string)
      if (session === undefined) return refusal(404, 'no such upload_session_id')
      if (session.isCancelled) return refusal(409, 'the session was cancelled')
      // The client must return the id with the type in which it was given.
      const file = session.files.find(({ sessionFileId }) => sessionFileId === body['affected_file_id'])
      if (file === undefined) return refusal(404, 'no such affected_file_id')
      if (typeof body['upload_successful'] !== 'boolean') return refusal(400, 'upload_successful is not a boolean')
      if (!Array.isArray(body['file_part_info'])) return refusal(400, 'file_part_info is not an array')
      if (body['upload_successful']) {
        if (file.isConfirmed) return done({ status: options.repeatedConfirmStatus ?? 200, body: { repeated: true } })
        const wrong = wrongInParts(file, body['file_part_info'] as Fields[], options.minPartBytes ?? 5 * 1024 * 1024)
        if (wrong !== undefined) return refusal(400, wrong)
        file.isConfirmed = true
      }
      return done({ status: 200, body: { upload_session_id: session.id } })
    },

    cancel(sessionId) {
      const session = sessions.get(sessionId)
      if (session === undefined) return refusal(404, 'no such upload session')
      session.isCancelled = true
      for (const file of session.files) file.object.isOpen = false
      records.cancelledSessionIds.push(sessionId)
      return done({ status: 200, body: { upload_session_id: sessionId } })
    },
  }

  function done(answer: Answer): Answer {
    return answer.status === 200 && options.hasEmptyConfirmBodies === true ? { status: 200 } : answer
  }
}

function refusal(status: number, message: string): Answer {
  return { status, body: { message } }
}

function wrongInCreate(body: Fields): string | undefined {
  if (!Number.isInteger(body['movement_type_id'])) return 'movement_type_id is not an integer'
  if (!Number.isInteger(body['session_type_id'])) return 'session_type_id is not an integer'
  if (typeof body['player_id'] !== 'string' || body['player_id'] === '') return 'player_id is not a string'
  if (!/^\d{4}-\d{2}-\d{2}$/.test(String(body['session_date']))) return 'session_date is not YYYY-MM-DD'
  const files = body['files']
  if (!Array.isArray(files) || files.length === 0) return 'files is not an array with entries'
  for (const file of files as Fields[]) {
    const name = file['raw_file_name']
    if (typeof name !== 'string' || name === '' || /[/\\]/.test(name))
      return 'raw_file_name is not a name without a path'
    if (!Number.isInteger(file['file_size_bytes'])) return 'file_size_bytes is not an integer'
    if (!Number.isInteger(file['number_of_chunks']) || Number(file['number_of_chunks']) < 1)
      return 'number_of_chunks is not 1 or more'
    if ('frame_rate' in file && typeof file['frame_rate'] !== 'number') return 'frame_rate is not a number'
    if ('file_id' in file && !Number.isInteger(file['file_id'])) return 'file_id is not an integer'
  }
  const ids = (files as Fields[]).map((file) => file['file_id']).filter((id) => id !== undefined)
  return new Set(ids).size === ids.length ? undefined : 'file_id is not unique'
}

// The checks of an object store when it joins the parts, and that the whole has the announced size.
function wrongInParts(file: VideoFile, sent: readonly Fields[], minPartBytes: number): string | undefined {
  if (sent.length !== file.object.partCount) return `expected ${file.object.partCount} parts, got ${sent.length}`
  let sizeBytes = 0
  for (const [index, { etag, part_number: partNumber }] of sent.entries()) {
    if (partNumber !== index + 1) return 'InvalidPartOrder'
    const stored = file.object.parts.get(partNumber)
    if (stored === undefined || typeof etag !== 'string') return `InvalidPart ${partNumber}`
    if (bareEtag(etag) !== bareEtag(stored.etag)) return `InvalidPart ${partNumber}`
    if (partNumber < sent.length && stored.sizeBytes < minPartBytes) return `EntityTooSmall ${partNumber}`
    sizeBytes += stored.sizeBytes
  }
  return sizeBytes === file.sizeBytes ? undefined : `expected ${file.sizeBytes} bytes, got ${sizeBytes}`
}
