// Files of known, incompressible bytes: the same for the same seed, never the same for two names.

import { createCipheriv, createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'

export interface SampleFile {
  readonly kind: 'video' | 'capture'
  readonly name: string
  readonly path: string
  readonly sizeBytes: number
  readonly sha256: string
}

const MIB = 1024 ** 2
const VIDEO_COUNT = 4
const CAPTURES_AT_LEAST = 8
/** A capture goes in one PUT, which must get through between two kills. */
const CAPTURE_BYTES_AT_MOST = 6 * MIB
/** Of all bytes; the rest are captures. */
const VIDEO_SHARE = 0.75

/** Writes four videos and eight or more captures of together so many bytes, give or take what makes sizes odd. */
export async function makeSampleFiles(folder: string, megabytes: number, seed: number): Promise<SampleFile[]> {
  const total = megabytes * MIB
  const videoBytes = Math.floor((total * VIDEO_SHARE) / VIDEO_COUNT)
  const allCaptures = total * (1 - VIDEO_SHARE)
  const captureCount = Math.max(CAPTURES_AT_LEAST, Math.ceil(allCaptures / CAPTURE_BYTES_AT_MOST))
  const captureBytes = Math.floor(allCaptures / captureCount)
  const made: SampleFile[] = []
  for (let index = 0; index < VIDEO_COUNT + captureCount; index += 1) {
    const kind = index < VIDEO_COUNT ? 'video' : 'capture'
    const name = kind === 'video' ? `swing-${index}.mp4` : `take-${index - VIDEO_COUNT}.action`
    const sizeBytes = (kind === 'video' ? videoBytes : captureBytes) + index * 977
    const path = join(folder, name)
    made.push({ kind, name, path, sizeBytes, sha256: await writeBytes(path, sizeBytes, `${seed} ${name}`) })
  }
  return made
}

async function writeBytes(path: string, sizeBytes: number, label: string): Promise<string> {
  const key = createHash('sha256').update(label).digest()
  const stream = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  const hash = createHash('sha256')
  const file = await open(path, 'wx')
  try {
    for (let at = 0; at < sizeBytes; at += 4 * MIB) {
      const piece = stream.update(Buffer.alloc(Math.min(4 * MIB, sizeBytes - at)))
      hash.update(piece)
      await file.write(piece)
    }
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}
