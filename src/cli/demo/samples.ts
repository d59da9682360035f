// The demo's sample files: a game of tracking files in `captures/` and a few video clips in `videos/`. The formats are real,
// the content is synthetic, and each run gives the same names and bytes. Files are written one after the other, so that
// memory stays at a few megabytes however large they are.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { sampleClip } from './clip.ts'
import { growMp4 } from './mp4.ts'
import { createSeededChance } from './seeded-chance.ts'
import { trackingFile } from './tracking.ts'

/** Date of the sample session, YYYY-MM-DD; the names of the tracking files begin with it. */
export const SAMPLE_SESSION_DATE = '2026-11-19'

/** How much to make. */
export interface SampleSize {
  /** Tracking files of about 1.2 MB each. */
  readonly trackingFiles: number
  /** The size of each video clip, as `growMp4` takes it. */
  readonly clipBytes: readonly number[]
}

/** What was made: full paths in capture order, and the total size. */
export interface Samples {
  readonly captures: readonly string[]
  readonly videos: readonly string[]
  readonly totalBytes: number
}

/**
 * Makes the sample files under `directory`, which is created if it is missing. A file of the same name is replaced, and any
 * other file is left alone. File system errors (no space, no permission) pass as they are.
 */
export async function makeSamples(directory: string, { trackingFiles, clipBytes }: SampleSize): Promise<Samples> {
  let totalBytes = 0
  const captures: string[] = []
  await mkdir(join(directory, 'captures'), { recursive: true })
  for (let captureNumber = 1; captureNumber <= trackingFiles; captureNumber++) {
    const path = join(directory, 'captures', captureName(captureNumber))
    const content = Buffer.from(trackingFile(`capture/${captureNumber}`))
    await writeFile(path, content)
    captures.push(path)
    totalBytes += content.byteLength
  }

  const videos: string[] = []
  await mkdir(join(directory, 'videos'), { recursive: true })
  for (const [index, targetBytes] of clipBytes.entries()) {
    const path = join(directory, 'videos', `swing-${String(index + 1).padStart(2, '0')}.mp4`)
    await growMp4(sampleClip(), path, { targetBytes, payloadSeed: `clip/${index + 1}` })
    videos.push(path)
    totalBytes += targetBytes
  }
  return { captures, videos, totalBytes }
}

// Date, running number, then the play's own id: in natural order the names are in capture order.
function captureName(captureNumber: number): string {
  return `${SAMPLE_SESSION_DATE}_${String(captureNumber).padStart(4, '0')}_${playId(captureNumber)}.action`
}

/** An id in the form of a random UUID (version 4). */
function playId(captureNumber: number): string {
  const words = new Uint32Array(4)
  createSeededChance(`play/${captureNumber}`).fill(words)
  const hex = Array.from(words, (word) => word.toString(16).padStart(8, '0')).join('')
  const variant = ((parseInt(hex.charAt(16), 16) & 0b0011) | 0b1000).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}
