// The sample files are what they claim to be: judged by reading the written files, never by asking the code that wrote
// them.

import { createHash } from 'node:crypto'
import { mkdtemp, open, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { sampleClip } from '../../src/cli/demo/clip.ts'
import { growMp4 } from '../../src/cli/demo/mp4.ts'
import { makeSamples } from '../../src/cli/demo/samples.ts'
import type { Samples } from '../../src/cli/demo/samples.ts'

const SIZE = { trackingFiles: 60, clipBytes: [400_000, 3_000_000, 12_000_000, 30_000_000, 110_000_000] }

let directory: string
let samples: Samples

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'samples-'))
  samples = await makeSamples(join(directory, 'whole'), SIZE)
}, 30_000)

afterAll(() => rm(directory, { recursive: true, force: true }))

describe('the whole set', () => {
  it('has as many captures and clips as were asked for, and counts every byte of them', async () => {
    expect(samples.captures).toHaveLength(60)
    expect(samples.videos).toHaveLength(5)
    const sizes = await Promise.all(
      [...samples.captures, ...samples.videos].map(async (path) => (await stat(path)).size),
    )
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(samples.totalBytes)
  })

  it('writes nothing but what it returns', async () => {
    expect((await readdir(join(directory, 'whole'))).sort()).toEqual(['captures', 'videos'])
    expect((await readdir(join(directory, 'whole', 'captures'))).sort()).toEqual(names(samples.captures))
    expect((await readdir(join(directory, 'whole', 'videos'))).sort()).toEqual(names(samples.videos))
  })

  it('has no two files with the same content', async () => {
    const digests = await Promise.all([...samples.captures, ...samples.videos].map(digestOf))
    expect(new Set(digests).size).toBe(65)
  })

  it('has the same names and bytes each time it is made', async () => {
    const small = { trackingFiles: 2, clipBytes: [400_000, 50_000] }
    const [first, again] = [
      await makeSamples(join(directory, 'first'), small),
      await makeSamples(join(directory, 'again'), small),
    ]

    expect(names(again.captures)).toEqual(names(first.captures))
    expect(await digestsOf(again)).toEqual(await digestsOf(first))
  })
})

describe('a tracking file', () => {
  it('has a name that begins with date and number, so that names sort in capture order', () => {
    const found = samples.captures.map((path) => basename(path))
    for (const [index, name] of found.entries()) {
      const number = String(index + 1).padStart(4, '0')
      expect(name).toMatch(
        new RegExp(
          `^2026-11-19_${number}_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\\.action$`,
        ),
      )
    }
    expect([...found].sort()).toEqual(found)
  })

  it('is about 1.2 MB', async () => {
    for (const path of samples.captures) {
      const { size } = await stat(path)
      expect(size).toBeGreaterThan(1_100_000)
      expect(size).toBeLessThan(1_300_000)
    }
  })

  it('holds one batter with 29 joints in each of 908 frames at 300 frames a second, and a ball', async () => {
    const content = await readTracking(samples.captures[0]!)
    expect(content.system.targetFrameRate).toBe(300)
    expect(content.samples.people).toHaveLength(1)
    const person = content.samples.people[0]!
    expect(person.role.name).toBe('Batter')
    expect(Number.isInteger(person.personId)).toBe(true)
    expect(person.joints).toHaveLength(908)
    for (const frame of person.joints) {
      expect(Object.keys(frame)).toHaveLength(29)
      expect(Object.keys(frame)).toEqual(Object.keys(person.joints[0]!))
      expect(Object.values(frame).every((point) => point.length === 3 && point.every(Number.isFinite))).toBe(true)
    }
    // A pitch takes about four tenths of a second.
    expect(content.samples.ball.length).toBeGreaterThan(100)
    expect(content.samples.ball.length).toBeLessThan(150)
  })

  it('moves as a body can: no jumps, feet on the ground, hands that swing', async () => {
    for (const path of samples.captures.slice(0, 5)) {
      const { joints } = (await readTracking(path)).samples.people[0]!
      let [fastest, lowest, highest] = [0, Infinity, -Infinity]
      for (const [index, frame] of joints.entries()) {
        for (const [name, point] of Object.entries(frame)) {
          if (index > 0) fastest = Math.max(fastest, distance(point, joints[index - 1]![name]!))
          lowest = Math.min(lowest, point[2]!)
          highest = Math.max(highest, point[2]!)
        }
      }
      expect(lowest).toBeGreaterThan(0)
      expect(highest).toBeLessThan(2)
      // 30 m/s at 300 frames a second is 10 cm a frame; hands at rest would never reach 1 cm.
      expect(fastest).toBeLessThan(0.1)
      expect(fastest).toBeGreaterThan(0.01)
      expect(distance(joints[0]!['rWrist']!, joints[907]!['rWrist']!)).toBeGreaterThan(0.3)
    }
  })
})

describe('a clip', () => {
  it('has the size that was asked for, also over 100 MB', async () => {
    const sizes = await Promise.all(samples.videos.map(async (path) => (await stat(path)).size))
    expect(sizes).toEqual(SIZE.clipBytes)
    expect(names(samples.videos)).toEqual([
      'swing-01.mp4',
      'swing-02.mp4',
      'swing-03.mp4',
      'swing-04.mp4',
      'swing-05.mp4',
    ])
  })

  it('is a sequence of whole boxes that ends exactly where the file ends', async () => {
    for (const path of samples.videos) {
      const boxes = await topLevelBoxes(path)
      expect(boxes.map((box) => box.type)).toEqual(['ftyp', 'moov', 'free', 'mdat', 'free'])
      expect(boxes.reduce((sum, box) => sum + box.sizeBytes, 0)).toBe((await stat(path)).size)
    }
  })

  it('holds 120 frames of H.264 at 240 frames a second, all of them inside mdat', async () => {
    for (const path of samples.videos) {
      const mdat = (await topLevelBoxes(path)).find((box) => box.type === 'mdat')!
      const track = readTrack((await readFile(path)).subarray(0, mdat.at))
      expect(track.codec).toBe('avc1')
      expect(track.timescale / track.ticksPerFrame).toBe(240)
      expect(track.frameSizes).toHaveLength(120)
      expect(track.firstFrameAt).toBe(mdat.at + 8)
      expect(track.frameSizes.reduce((sum, size) => sum + size, 0)).toBe(mdat.sizeBytes - 8)
    }
  })

  it('never repeats a MiB, in one clip or across clips', async () => {
    const digests: string[] = []
    for (const path of samples.videos) {
      const content = await readFile(path)
      for (let at = 0; at < content.byteLength; at += 1_048_576) {
        digests.push(sha256(content.subarray(at, at + 1_048_576)))
      }
    }
    expect(digests).toHaveLength(1 + 3 + 12 + 29 + 105)
    expect(new Set(digests).size).toBe(150)
  })
})

describe('growing', () => {
  it('keeps the clip in front and adds one free box, down to an empty one', async () => {
    const path = join(directory, 'empty-box.mp4')
    await growMp4(sampleClip(), path, { targetBytes: 6_012, payloadSeed: 'any' })

    const content = await readFile(path)
    expect(content.subarray(0, 6_004).equals(sampleClip())).toBe(true)
    expect(content.subarray(6_004).toString('hex')).toBe('0000000866726565')
  })

  it('replaces a longer file that is already there', async () => {
    const path = join(directory, 'replaced.mp4')
    await writeFile(path, Buffer.alloc(100_000, 1))
    await growMp4(sampleClip(), path, { targetBytes: 10_000, payloadSeed: 'any' })
    expect((await topLevelBoxes(path)).at(-1)).toEqual({ type: 'free', at: 6_004, sizeBytes: 3_996 })
    expect((await stat(path)).size).toBe(10_000)
  })
})

/** As read from a file: whether it has three numbers is for a test to say. */
type Point = readonly number[]

interface Tracking {
  system: { targetFrameRate: number }
  samples: {
    people: { personId: number; role: { name: string }; joints: Record<string, Point>[] }[]
    ball: { time: number; pos: Point }[]
  }
}

interface Box {
  readonly type: string
  readonly at: number
  readonly sizeBytes: number
}

async function readTracking(path: string): Promise<Tracking> {
  return JSON.parse(await readFile(path, 'utf8')) as Tracking
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!, a[2]! - b[2]!)
}

function names(paths: readonly string[]): string[] {
  return paths.map((path) => basename(path))
}

function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

async function digestOf(path: string): Promise<string> {
  return sha256(await readFile(path))
}

function digestsOf(made: Samples): Promise<string[]> {
  return Promise.all([...made.captures, ...made.videos].map(digestOf))
}

// Reads headers only, and refuses what would make a player guess: a box of size 0 or 1, or one that leaves the file.
async function topLevelBoxes(path: string): Promise<Box[]> {
  const handle = await open(path)
  try {
    const { size } = await handle.stat()
    const boxes: Box[] = []
    for (let at = 0; at < size; at += boxes.at(-1)!.sizeBytes) {
      const header = Buffer.alloc(8)
      expect((await handle.read(header, 0, 8, at)).bytesRead).toBe(8)
      const box = { type: header.toString('latin1', 4), at, sizeBytes: header.readUInt32BE(0) }
      expect(box.sizeBytes).toBeGreaterThanOrEqual(8)
      expect(box.at + box.sizeBytes).toBeLessThanOrEqual(size)
      boxes.push(box)
    }
    return boxes
  } finally {
    await handle.close()
  }
}

/** The content of the first box at the end of a path of types. */
function contentOf(within: Buffer, [type, ...rest]: readonly string[]): Buffer {
  for (let at = 0; at < within.byteLength; at += within.readUInt32BE(at)) {
    if (within.toString('latin1', at + 4, at + 8) !== type) continue
    const content = within.subarray(at + 8, at + within.readUInt32BE(at))
    return rest.length === 0 ? content : contentOf(content, rest)
  }
  throw new Error(`no ${String(type)} box`)
}

// ISO/IEC 14496-12: the media header, and the tables of sample descriptions, durations, sizes and chunk offsets.
function readTrack(fileHead: Buffer) {
  const media = ['moov', 'trak', 'mdia']
  const table = (type: string): Buffer => contentOf(fileHead, [...media, 'minf', 'stbl', type])
  const sizes = table('stsz')
  return {
    timescale: contentOf(fileHead, [...media, 'mdhd']).readUInt32BE(12),
    codec: table('stsd').toString('latin1', 12, 16),
    ticksPerFrame: table('stts').readUInt32BE(12),
    frameSizes: Array.from({ length: sizes.readUInt32BE(8) }, (_, index) => sizes.readUInt32BE(12 + 4 * index)),
    firstFrameAt: table('stco').readUInt32BE(8),
  }
}
