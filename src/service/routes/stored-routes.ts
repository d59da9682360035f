// What the service holds, with addresses to read it back. Not part of the interface; made for checks and the demo.

import type { FastifyInstance } from 'fastify'

import { callerOf } from '../access/callers.ts'
import type { ServiceContext } from '../context.ts'
import { wholeText } from '../database/whole-text.ts'
import { limitOf, refuseCursor } from '../http/paging.ts'
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
  readonly kind: Kind
  readonly sessionId: string
  readonly fileId: number
  readonly name: string
  readonly sizeBytes: number
  readonly createdAt: Date
}

type Kind = 'capture' | 'video'

/** What of one kind a page may still hold: ids beyond `afterId` in the direction of reading. Undefined begins at the first. */
interface Stretch {
  readonly owner: string
  readonly afterId: number | undefined
  readonly limit: number
  readonly isNewestFirst: boolean
}

/**
 * GET /stored?after=CURSOR&limit=N&order=newest: capture files that were put and video files that were confirmed, in order of
 * registration, captures first; with `order=newest` exactly the other way round. `next` is the cursor of the next page, null on
 * the last. An earlier page may hold fewer items than its limit, or none: it skips only so many names without bytes and leaves
 * the rest to the next page.
 */
export function storedRoutes(app: FastifyInstance, context: ServiceContext): void {
  const storage = storageOf(context)
  app.get<{ Querystring: { after?: string; limit?: string; order?: string } }>('/stored', async (request) => {
    const { order } = request.query
    if (order !== undefined && order !== 'newest') malformed('order', 'expected "newest"')
    const isNewestFirst = order === 'newest'
    const after = placeOf(request.query.after)
    const limit = limitOf(request.query.limit, MAX_PAGE)
    const found: StoredItem[] = []
    let goOnAt: string | undefined
    for (const kind of kindsFrom(after?.kind, isNewestFirst)) {
      if (goOnAt !== undefined || found.length > limit) break
      const stretch = {
        owner: callerOf(request).orgId,
        afterId: kind === after?.kind ? after.id : undefined,
        // One more than the page holds, to know whether there is a next page.
        limit: limit + 1 - found.length,
        isNewestFirst,
      }
      const some =
        kind === 'capture'
          ? await storedCaptures(context, storage, stretch)
          : { items: await confirmedVideos(context, stretch) }
      found.push(...some.items)
      goOnAt = some.goOnAt
    }
    const page = found.slice(0, limit)
    return {
      items: await Promise.all(page.map((item) => describe(storage, item))),
      next: found.length > limit ? (page.at(-1)?.cursor ?? null) : (goOnAt ?? null),
    }
  })
}

function placeOf(cursor: string | undefined): { readonly kind: Kind; readonly id: number } | undefined {
  if (cursor === undefined) return undefined
  const [, kind, id] = /^(capture|video)-(\d{1,15})$/.exec(cursor) ?? refuseCursor()
  return { kind: kind === 'video' ? 'video' : 'capture', id: Number(id) }
}

function kindsFrom(first: Kind | undefined, isNewestFirst: boolean): readonly Kind[] {
  const kinds: readonly Kind[] = isNewestFirst ? ['video', 'capture'] : ['capture', 'video']
  return first === undefined ? kinds : kinds.slice(kinds.indexOf(first))
}

async function describe(storage: ObjectStorage, item: StoredItem): Promise<object> {
  const { kind, sessionId, fileId, name, sizeBytes, createdAt } = item
  const flow = kind === 'capture' ? 'captures' : 'videos'
  return {
    kind,
    session_id: sessionId,
    file_name: name,
    size_bytes: sizeBytes,
    // When the name was registered, or the video's session begun.
    created_at: createdAt,
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
  { owner, afterId, limit, isNewestFirst }: Stretch,
): Promise<StoredCaptures> {
  const items: StoredItem[] = []
  let lookedFor = 0
  let lastId = afterId
  // Names without bytes are skipped batch by batch, because a key is built from ids and cannot be joined on.
  while (items.length < limit) {
    if (lastId !== undefined && lookedFor >= Math.max(MAX_LOOKED_FOR, limit))
      return { items, goOnAt: cursorOf('capture', lastId) }
    let query = db
      .selectFrom('mocap_session_files')
      .select(['id', 'session_id', wholeText('name', 'name'), 'registered_at'])
      .where('owner', '=', owner)
      .orderBy('id', isNewestFirst ? 'desc' : 'asc')
      .limit(Math.max(BATCH, limit - items.length))
    if (lastId !== undefined) query = query.where('id', isNewestFirst ? '<' : '>', lastId)
    const files = await query.execute()
    const keys = files.map((file): ObjectKey => ({ flow: 'captures', sessionId: file.session_id, fileId: file.id }))
    if (keys.length === 0) return { items }
    lookedFor += keys.length
    const sizes = await storage.captureSizes(keys)
    for (const [index, file] of files.entries()) {
      lastId = file.id
      const key = keys[index]
      const sizeBytes = key === undefined ? undefined : sizes.get(keyOf(key))
      if (sizeBytes === undefined) continue
      items.push({
        cursor: cursorOf('capture', file.id),
        kind: 'capture',
        sessionId: file.session_id,
        fileId: file.id,
        name: file.name,
        sizeBytes,
        createdAt: file.registered_at,
      })
    }
  }
  return { items }
}

function cursorOf(kind: Kind, id: number): string {
  return `${kind}-${id}`
}

async function confirmedVideos(
  { db }: ServiceContext,
  { owner, afterId, limit, isNewestFirst }: Stretch,
): Promise<StoredItem[]> {
  let query = db
    .selectFrom('video_files')
    .innerJoin('video_sessions', 'video_sessions.id', 'video_files.session_id')
    .select(['video_files.id', 'session_id', wholeText('raw_file_name', 'name'), 'file_size_bytes', 'created_at'])
    .where('video_files.owner', '=', owner)
    .where('status', '=', 'confirmed')
    .where('is_cancelled', '=', false)
    .orderBy('video_files.id', isNewestFirst ? 'desc' : 'asc')
    .limit(limit)
  if (afterId !== undefined) query = query.where('video_files.id', isNewestFirst ? '<' : '>', afterId)
  const files = await query.execute()
  return files.map((file) => ({
    cursor: cursorOf('video', file.id),
    kind: 'video',
    sessionId: file.session_id,
    fileId: file.id,
    name: file.name,
    sizeBytes: file.file_size_bytes,
    createdAt: file.created_at,
  }))
}
