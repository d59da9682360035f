// What the service holds, with addresses to read it back. Not part of the interface; made for checks and the demo.

import type { FastifyInstance } from 'fastify'

import { callerOf } from '../access/callers.ts'
import type { ServiceContext } from '../context.ts'
import { limitOf } from '../http/paging.ts'
import { malformed } from '../http/replies.ts'
import { keyOf, type ObjectKey } from '../objects/object-keys.ts'
import type { ObjectStorage } from '../objects/object-storage.ts'
import { storageOf } from '../objects/storage-of.ts'

const MAX_PAGE = 1_000
/** Names looked up at a time, and in all per page unless the page holds more: a bucket is asked about each name. */
const BATCH = 100
const MAX_LOOKED_FOR = 500

interface StoredItem {
  readonly cursor: string
  readonly kind: 'capture' | 'video'
  readonly sessionId: string
  readonly fileId: number
  readonly name: string
  readonly sizeBytes: number
}

/**
 * GET /stored?after=CURSOR&limit=N: capture files that were put and video files that were confirmed, in order of registration,
 * captures first. `next` is the cursor of the next page, null on the last. An earlier page may hold fewer items than its limit, or
 * none: it skips only so many names without bytes and leaves the rest to the next page.
 */
export function storedRoutes(app: FastifyInstance, context: ServiceContext): void {
  const storage = storageOf(context)
  app.get<{ Querystring: { after?: string; limit?: string } }>('/stored', async (request) => {
    const after = /^(capture|video)-(\d{1,15})$/.exec(request.query.after ?? 'capture-0')
    if (after === null) malformed('after', 'expected a cursor that this service gave')
    const limit = limitOf(request.query.limit, MAX_PAGE)
    const afterId = Number(after[2])
    const owner = callerOf(request).orgId
    // One more than the page holds, to know whether there is a next page.
    const captures =
      after[1] === 'capture' ? await storedCaptures(context, storage, owner, afterId, limit + 1) : { items: [] }
    const videoAfterId = after[1] === 'video' ? afterId : 0
    const videos =
      captures.goOnAt === undefined
        ? await confirmedVideos(context, owner, videoAfterId, limit + 1 - captures.items.length)
        : []
    const found = [...captures.items, ...videos]
    const page = found.slice(0, limit)
    return {
      items: await Promise.all(page.map((item) => describe(storage, item))),
      next: found.length > limit ? (page.at(-1)?.cursor ?? null) : (captures.goOnAt ?? null),
    }
  })
}

async function describe(storage: ObjectStorage, item: StoredItem): Promise<object> {
  const { kind, sessionId, fileId, name, sizeBytes } = item
  const flow = kind === 'capture' ? 'captures' : 'videos'
  return {
    kind,
    session_id: sessionId,
    file_name: name,
    size_bytes: sizeBytes,
    url: await storage.readAddress({ flow, sessionId, fileId }),
  }
}

interface StoredCaptures {
  readonly items: readonly StoredItem[]
  /** The cursor where the next page continues, if this one has looked up enough names. */
  readonly goOnAt?: string
}

async function storedCaptures(
  { db }: ServiceContext,
  storage: ObjectStorage,
  owner: string,
  afterId: number,
  limit: number,
): Promise<StoredCaptures> {
  const items: StoredItem[] = []
  let lookedFor = 0
  let lastId = afterId
  // Names without bytes are skipped batch by batch, because a key is built from ids and cannot be joined on.
  while (items.length < limit) {
    if (lookedFor >= Math.max(MAX_LOOKED_FOR, limit)) return { items, goOnAt: cursorOf(lastId) }
    const files = await db
      .selectFrom('mocap_session_files')
      .select(['id', 'session_id', 'name'])
      .where('owner', '=', owner)
      .where('id', '>', lastId)
      .orderBy('id')
      .limit(Math.max(BATCH, limit - items.length))
      .execute()
    const keys = files.map((file): ObjectKey => ({ flow: 'captures', sessionId: file.session_id, fileId: file.id }))
    if (keys.length === 0) return { items }
    lookedFor += keys.length
    const sizes = await storage.captureSizes(keys)
    for (const [index, file] of files.entries()) {
      lastId = file.id
      const key = keys[index]
      const sizeBytes = key === undefined ? undefined : sizes.get(keyOf(key))
      if (sizeBytes === undefined || items.length === limit) continue
      const cursor = cursorOf(file.id)
      items.push({ cursor, kind: 'capture', sessionId: file.session_id, fileId: file.id, name: file.name, sizeBytes })
    }
  }
  return { items }
}

function cursorOf(captureId: number): string {
  return `capture-${captureId}`
}

async function confirmedVideos(
  { db }: ServiceContext,
  owner: string,
  afterId: number,
  limit: number,
): Promise<StoredItem[]> {
  if (limit <= 0) return []
  const files = await db
    .selectFrom('video_files')
    .innerJoin('video_sessions', 'video_sessions.id', 'video_files.session_id')
    .select(['video_files.id', 'session_id', 'raw_file_name', 'file_size_bytes'])
    .where('video_files.owner', '=', owner)
    .where('video_files.id', '>', afterId)
    .where('status', '=', 'confirmed')
    .where('is_cancelled', '=', false)
    .orderBy('video_files.id')
    .limit(limit)
    .execute()
  return files.map((file) => ({
    cursor: `video-${file.id}`,
    kind: 'video',
    sessionId: file.session_id,
    fileId: file.id,
    name: file.raw_file_name,
    sizeBytes: file.file_size_bytes,
  }))
}
