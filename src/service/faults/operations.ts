// How a fault rule sees a request: which operation, which files, which part. This is read from the route, the body and the address,
// and nothing is judged here. What cannot be read matches no rule that asks for it.

import type { FastifyRequest } from 'fastify'

import type { Database } from '../database/tables.ts'
import { wholeText } from '../database/whole-text.ts'
import { keyOfPath, type ObjectKey } from '../objects/object-keys.ts'

const BY_ROUTE = {
  'POST /upload_videos': 'create',
  'PATCH /upload_videos': 'confirm',
  'DELETE /upload_videos/:id': 'cancel',
  'POST /mocap_session': 'createCapture',
  'POST /mocap_session_file': 'register',
  'POST /player_group_segments': 'createSegment',
  'PATCH /player_group_segments/:id': 'updateSegment',
  'GET /requested_analyses': 'listAnalyses',
  'POST /requested_analyses': 'createAnalysis',
  'GET /requested_analyses/:id': 'getAnalysis',
  'PATCH /requested_analyses/:id': 'updateAnalysis',
  'PATCH /requested_analyses/:id/submit': 'submitAnalysis',
  'GET /movement_types': 'listMovementTypes',
  'GET /players': 'listPlayers',
  'GET /sessions': 'listSessions',
  'GET /mocap_types': 'listMocapTypes',
  'GET /session_types': 'listSessionTypes',
  'PUT /objects/*': 'put',
  'GET /objects/*': 'get',
} as const

/** The name of an operation in a rule. */
export type Operation = (typeof BY_ROUTE)[keyof typeof BY_ROUTE]

/** All names, in the order of the table. */
export const OPERATIONS = Object.values(BY_ROUTE)

export interface FaultSubject {
  readonly operation: Operation
  /** The file names of the request: one for a part or a confirmation, all announced names for a create or register. */
  readonly files: readonly string[]
  /** Present only where one part is stored. A capture file is part 1. */
  readonly partNumber?: number
}

/** Undefined for what no rule can refer to: an unknown path, /healthz and /stored. */
export async function subjectOf(db: Database, request: FastifyRequest): Promise<FaultSubject | undefined> {
  const route = `${request.method} ${request.routeOptions.url ?? ''}`
  if (!Object.hasOwn(BY_ROUTE, route)) return undefined
  const operation = BY_ROUTE[route as keyof typeof BY_ROUTE]
  if (operation === 'put' || operation === 'get') {
    const [path = '', query = ''] = (request.raw.url ?? '').split('?')
    const partNumber = Number(new URLSearchParams(query).get('partNumber') ?? 1)
    return { operation, files: await namesAt(db, keyOfPath(path)), ...(operation === 'put' ? { partNumber } : {}) }
  }
  return { operation, files: await namesIn(db, operation, request.body) }
}

async function namesIn(db: Database, operation: Operation, body: unknown): Promise<string[]> {
  if (typeof body !== 'object' || body === null) return []
  const fields = body as Record<string, unknown>
  if (operation === 'register') return textsOf(fields['filenames'])
  if (operation === 'create') return textsOf(listOf(fields['files']).map(rawFileName))
  if (operation !== 'confirm') return []
  // Read like an address: whatever is no id of ours is not looked up.
  return namesAt(
    db,
    keyOfPath(`/objects/videos/${String(fields['upload_session_id'])}/${String(fields['affected_file_id'])}`),
  )
}

async function namesAt(db: Database, key: ObjectKey | undefined): Promise<string[]> {
  if (key === undefined) return []
  const rows =
    key.flow === 'captures'
      ? await db
          .selectFrom('mocap_session_files')
          .select(wholeText('name', 'name'))
          .where('id', '=', key.fileId)
          .where('session_id', '=', key.sessionId)
          .execute()
      : await db
          .selectFrom('video_files')
          .select(wholeText('raw_file_name', 'name'))
          .where('id', '=', key.fileId)
          .where('session_id', '=', key.sessionId)
          .execute()
  return rows.map(({ name }) => name)
}

function rawFileName(entry: unknown): unknown {
  return typeof entry === 'object' && entry !== null && 'raw_file_name' in entry ? entry.raw_file_name : undefined
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function textsOf(value: unknown): string[] {
  return listOf(value).filter((item) => typeof item === 'string')
}
