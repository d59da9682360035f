// The demo's sample files: a game of tracking files in `captures/` and a few video clips in `videos/`, one of them over
// 100 MB. The formats are real, the content is synthetic, and the same seed gives the same bytes. Files are written one
// after the other, so that memory stays at a few megabytes however large they are.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { invalid } from '../../core/errors.ts'
import { sampleClip } from './clip.ts'
import { growMp4 } from './mp4.ts'
import { createSeededChance } from './seeded-chance.ts'
import { trackingFile } from './tracking.ts'

/** Date of the sample session, YYYY-MM-DD; the names of the tracking files begin with it. */
export const SAMPLE_SESSION_DATE = '2026-11-19'

/** How much to make. */
export interface SampleOptions {
  /** Tracking files of about 1.2 MB each. Default 60; 0 to 9,999, because names count with four digits. */
  readonly trackingFiles?: number
  /** Video clips, of which the last is the big one; the others have 0.4, 3, 12 and 30 MB in turn. Default 5; 0 to 99. */
  readonly clips?: number
  /** Size of the big clip. Default 110,000,000; from about 6 kB to 4 GiB. */
  readonly bigClipBytes?: number
  /** The same seed gives the same names and bytes. Default 1. */
  readonly seed?: number
}

/** What was made: full paths in capture order, and the total size. */
export interface Samples {
  readonly captures: readonly string[]
  readonly videos: readonly string[]
  readonly totalBytes: number
}

const SMALLER_CLIP_BYTES = [400_000, 3_000_000, 12_000_000, 30_000_000] as const

/**
 * Makes the sample files under `directory`, which is created if it is missing. A file of the same name is replaced, and any
 * other file is left alone. Rejects with ERR_UPLOAD_INVALID_ARGUMENT for counts and sizes out of range, before anything is
 * written; file system errors (no space, no permission) pass as they are.
 */
export async function makeSamples(directory: string, options: SampleOptions = {}): Promise<Samples> {
  const { trackingFiles = 60, clips = 5, bigClipBytes = 110_000_000, seed = 1 } = options
  checkCount('trackingFiles', trackingFiles, 9_999)
  checkCount('clips', clips, 99)
  // growMp4 would find a wrong size too, but only after all the other files have been written.
  const clip = sampleClip()
  const smallestBytes = clip.byteLength + 8
  if (!Number.isInteger(bigClipBytes) || bigClipBytes < smallestBytes || bigClipBytes > 2 ** 32) {
    invalid(`bigClipBytes is ${bigClipBytes}; it must be a whole number from ${smallestBytes} to ${2 ** 32}.`)
  }

  let totalBytes = 0
  const captures: string[] = []
  await mkdir(join(directory, 'captures'), { recursive: true })
  for (let captureNumber = 1; captureNumber <= trackingFiles; captureNumber++) {
    const path = join(directory, 'captures', captureName(seed, captureNumber))
    const content = Buffer.from(trackingFile(`${seed}/capture/${captureNumber}`))
    await writeFile(path, content)
    captures.push(path)
    totalBytes += content.byteLength
  }

  const videos: string[] = []
  await mkdir(join(directory, 'videos'), { recursive: true })
  for (let clipNumber = 1; clipNumber <= clips; clipNumber++) {
    const path = join(directory, 'videos', `swing-${String(clipNumber).padStart(2, '0')}.mp4`)
    const targetBytes = clipNumber === clips ? bigClipBytes : smallerClipBytes(clipNumber)
    await growMp4(clip, path, { targetBytes, payloadSeed: `${seed}/clip/${clipNumber}` })
    videos.push(path)
    totalBytes += targetBytes
  }
  return { captures, videos, totalBytes }
}

function checkCount(name: string, count: number, largest: number): void {
  if (Number.isInteger(count) && count >= 0 && count <= largest) return
  invalid(`${name} is ${count}; it must be a whole number from 0 to ${largest}.`)
}

function smallerClipBytes(clipNumber: number): number {
  return SMALLER_CLIP_BYTES[(clipNumber - 1) % SMALLER_CLIP_BYTES.length] ?? SMALLER_CLIP_BYTES[0]
}

// Date, running number, then the play's own id: in natural order the names are in capture order.
function captureName(seed: number, captureNumber: number): string {
  return `${SAMPLE_SESSION_DATE}_${String(captureNumber).padStart(4, '0')}_${playId(seed, captureNumber)}.action`
}

/** An id in the form of a random UUID (version 4), drawn from the seed. */
function playId(seed: number, captureNumber: number): string {
  const words = new Uint32Array(4)
  createSeededChance(`${seed}/play/${captureNumber}`).fill(words)
  const hex = Array.from(words, (word) => word.toString(16).padStart(8, '0')).join('')
  const variant = ((parseInt(hex.charAt(16), 16) & 0b0011) | 0b1000).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}
