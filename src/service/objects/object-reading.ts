// Reads an object back: a capture file as it was put, a video as its confirmed parts in order.

import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'

import type { ServiceContext } from '../context.ts'
import { isCode } from '../error-code.ts'
import { keyOf, type ObjectKey } from './object-keys.ts'

export interface ReadableObject {
  readonly sizeBytes: number
  readonly etag: string
  /** The bytes from the start, at constant memory. Undefined if the object was replaced or removed since it was found: look again. */
  open(): Promise<Readable | undefined>
}

interface StoredBlob {
  readonly blob: string
  readonly md5: string
  readonly size_bytes: number
}

const WINDOW_BYTES = 256 * 1024

/** Finds the object. Undefined if nothing was put, the video is not confirmed, or its session was cancelled. */
export async function readObject(context: ServiceContext, key: ObjectKey): Promise<ReadableObject | undefined> {
  if (key.flow === 'videos' && !(await isReadable(context, key))) return undefined
  const parts = await blobsOf(context, key)
  const [first] = parts
  if (first === undefined) return undefined
  return {
    sizeBytes: parts.reduce((sum, part) => sum + part.size_bytes, 0),
    etag: key.flow === 'captures' ? `"${first.md5}"` : `"${key.fileId}-${parts.length}"`,
    open: () => openBlobs(context, key, parts),
  }
}

function blobsOf({ db }: ServiceContext, key: ObjectKey): Promise<StoredBlob[]> {
  return db
    .selectFrom('objects')
    .select(['blob', 'md5', 'size_bytes'])
    .where('key', '=', keyOf(key))
    .orderBy('part_number')
    .execute()
}

async function isReadable({ db }: ServiceContext, key: ObjectKey): Promise<boolean> {
  const file = await db
    .selectFrom('video_files')
    .innerJoin('video_sessions', 'video_sessions.id', 'video_files.session_id')
    .select('video_files.id')
    .where('video_files.id', '=', key.fileId)
    .where('session_id', '=', key.sessionId)
    .where('status', '=', 'confirmed')
    .where('is_cancelled', '=', false)
    .executeTakeFirst()
  return file !== undefined
}

async function openBlobs(
  context: ServiceContext,
  key: ObjectKey,
  parts: readonly StoredBlob[],
): Promise<Readable | undefined> {
  const { blob = '' } = parts[0] ?? {}
  try {
    const file = await context.store.open(blob)
    const bytes = Readable.from(readBlobs(context, parts, file), { objectMode: false })
    // Also where nobody has begun to read. Whoever has read has closed it.
    return bytes.once('close', () => void file.close().catch(() => undefined))
  } catch (error) {
    // Whoever puts another body in its place removes the file right after the record.
    if (isCode(error, 'ENOENT') && (await blobsOf(context, key))[0]?.blob !== blob) return undefined
    throw error
  }
}

/** Yields exactly as many bytes as were announced: with fewer, the reader would wait for the rest. */
async function* readBlobs(
  { store }: ServiceContext,
  parts: readonly StoredBlob[],
  first: FileHandle,
): AsyncGenerator<Buffer> {
  for (const [index, { blob, size_bytes }] of parts.entries()) {
    const file = index === 0 ? first : await store.open(blob)
    try {
      for (let left = size_bytes; left > 0;) {
        const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.min(left, WINDOW_BYTES)))
        if (bytesRead === 0) throw new Error(`The blob ${blob} has lost its last ${left} bytes.`)
        left -= bytesRead
        yield buffer.subarray(0, bytesRead)
      }
    } finally {
      await file.close()
    }
  }
}
