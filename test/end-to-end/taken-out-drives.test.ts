// Drives that are really taken out while files are sent from them, and put back, or others in their place.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, utimesSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

import { fileSource, type Source } from '../../src/node.ts'
import { canMount } from '../helpers/can-mount.ts'
import { bytesOf, MIB, sample, startRig, VIDEO } from './rig.ts'

const CLIP_BYTES = 12 * MIB
const RECORDED_AT_S = 1_767_323_045

/** Where a shell of root finds mkfs.ext4, and others need not. */
const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` }
const canMountHere = canMount() && hasImages()
if (!canMountHere) {
  process.stdout.write('SKIPPED: drives that are really taken out need root on Linux, to mount them, and mkfs.ext4\n')
}

function hasImages(): boolean {
  try {
    execFileSync('mkfs.ext4', ['-V'], { stdio: 'ignore', env })
    return true
  } catch {
    return false
  }
}

async function folderOf(kind: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `mocap-uplink-${kind}-`))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

type Card = (slot: string) => void

/** A card with a clip of these bytes. The clips of all cards have the same name, size and time. */
async function cardWith(bytes: Uint8Array, numbering: 'another' | 'the same'): Promise<Card> {
  const folder = await folderOf('card')
  const content = join(folder, 'content')
  const clip = join(content, 'C0001.MP4')
  await mkdir(content)
  await writeFile(clip, bytes)
  const asRecorded = (path: string): void => utimesSync(path, RECORDED_AT_S, RECORDED_AT_S)
  asRecorded(clip)
  if (numbering === 'another') {
    return (slot) => {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', slot])
      copyFileSync(clip, join(slot, 'C0001.MP4'))
      asRecorded(join(slot, 'C0001.MP4'))
    }
  }
  const image = join(folder, 'image')
  execFileSync('mkfs.ext4', ['-q', '-d', content, image, '24M'], { env })
  return (slot) => execFileSync('mount', ['-o', 'loop,ro', image, slot])
}

/** Where cards are put in. */
async function slotFor() {
  const folder = join(await folderOf('slot'), 'card')
  mkdirSync(folder)
  let isIn = false
  const takeOut = (): void => {
    // Lazily: its file is open.
    if (isIn) execFileSync('umount', ['--lazy', folder])
    isIn = false
  }
  onTestFinished(takeOut)
  return {
    path: join(folder, 'C0001.MP4'),
    takeOut,
    put(card: Card) {
      card(folder)
      isIn = true
    },
  }
}

/** Calls back once, when so many bytes were read. */
function afterBytes(source: Source, count: number, act: () => void): Source {
  let left = count
  return {
    ...source,
    async open(expected) {
      const reader = await source.open(expected)
      return {
        ...reader,
        async read(into, at, signal) {
          await reader.read(into, at, signal)
          const before = left
          left -= into.byteLength
          if (before > 0 && left <= 0) act()
        },
      }
    },
  }
}

/** Uploads a clip whose card is taken out in the middle, and another file. Once its source has failed, `next` is put in. */
async function uploadWhileChanged(first: Card, next: Card) {
  const slot = await slotFor()
  slot.put(first)
  // One at a time, so that the first part is stored when the card goes.
  const rig = await startRig({}, { concurrency: 1 })
  const source = afterBytes(fileSource(slot.path), 9 * MIB, () => slot.takeOut())
  const other = sample('other.mp4', 6 * MIB)
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files: [{ source }, other], partSizeBytes: 5 * MIB })
  const failures: string[] = []
  upload.on('retry', ({ error }) => {
    failures.push(error.message)
    if (failures.length === 1) slot.put(next)
  })
  return { upload, failures, path: slot.path, other, ...rig }
}

describe.skipIf(!canMountHere)('a clip whose card is taken out while it is sent', () => {
  const bytes = bytesOf(CLIP_BYTES, 5)
  const sha256 = createHash('sha256').update(bytes).digest('hex')

  it.each(['another', 'the same'] as const)(
    'goes on in the same run when the card is put back and has %s device number',
    async (numbering) => {
      const card = await cardWith(bytes, numbering)
      const { upload, failures, path, other, service } = await uploadWhileChanged(card, card)

      expect((await upload.done()).status).toBe('confirmed')

      expect(failures[0]).toBe(`"${path}" is gone with its drive. Put that back.`)
      expect(new Set(service.storedFiles().map((file) => file.sha256))).toEqual(new Set([sha256, other.sha256]))
      const puts = service.requestsOf('put').filter(({ fileName }) => fileName === 'C0001.MP4')
      expect(puts.filter(({ partNumber }) => partNumber === 1)).toHaveLength(1)
    },
  )

  it.each(['another', 'the same'] as const)(
    'is not mixed with the clip of another card, of the same name, size and time, that has %s device number',
    async (numbering) => {
      const first = await cardWith(bytes, numbering)
      const { upload, path } = await uploadWhileChanged(first, await cardWith(bytesOf(CLIP_BYTES, 6), numbering))

      const report = await upload.done()

      expect(report.status).toBe('partial')
      expect(report.files.map(({ status }) => status)).toEqual(['failed', 'confirmed'])
      expect(report.files[0]?.error?.message).toContain(
        `"${path}" is on another drive, or its drive was taken out and put back. Resume the session`,
      )
    },
  )
})
