// Reads an object back: a capture file as it was put, a video as its confirmed parts in order.

import type { ServiceContext } from '../context.ts'
import { keyOf, type ObjectKey } from './object-keys.ts'

export interface ReadableObject {
  readonly sizeBytes: number
  readonly etag: string
  /** The bytes from the start, at constant memory. */
  bytes(): AsyncIterable<Buffer>
}

const WINDOW_BYTES = 256 * 1024

/** Finds the object. Undefined if nothing was put, the video is not confirmed, or its session was cancelled. */
export async function readObject(context: ServiceContext, key: ObjectKey): Promise<ReadableObject | undefined> {
  if (key.flow === 'videos' && !(await isReadable(context, key))) return undefined
  const parts = await context.db
    .selectFrom('objects')
    .select(['blob', 'md5', 'size_bytes'])
    .where('key', '=', keyOf(key))
    .orderBy('part_number')
    .execute()
  const [first] = parts
  if (first === undefined) return undefined
  return {
    sizeBytes: parts.reduce((sum, part) => sum + part.size_bytes, 0),
    etag: key.flow === 'captures' ? `"${first.md5}"` : `"${key.fileId}-${parts.length}"`,
    bytes: () => readBlobs(context, parts),
  }
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

/** Yields exactly as many bytes as were announced: with fewer, the reader would wait for the rest. */
async function* readBlobs(
  { store }: ServiceContext,
  parts: readonly { readonly blob: string; readonly size_bytes: number }[],
): AsyncGenerator<Buffer> {
  for (const { blob, size_bytes } of parts) {
    const file = await store.open(blob)
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
