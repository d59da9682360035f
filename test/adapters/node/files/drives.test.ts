// Whether a file that is nowhere went with its drive, and may be back in a moment, or was deleted.

import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

import { driveOf, isDriveGone, noteDevice } from '../../../../src/adapters/node/files/drives.ts'
import { canMount } from '../../../helpers/can-mount.ts'

async function folderWith(...names: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-drives-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const name of names) await writeFile(join(folder, name), 'bytes')
  return folder
}

async function deviceOf(path: string): Promise<bigint> {
  return (await stat(path, { bigint: true })).dev
}

describe('a file that was nowhere', () => {
  it('is there again by the time that its drive is asked for: it was not deleted', async () => {
    const folder = await folderWith('a.mp4')

    expect(await isDriveGone(join(folder, 'a.mp4'), await deviceOf(folder))).toBe(true)
  })

  it.each(['a.mp4', 'clips/day/a.mp4'])('was deleted where its drive is there: %s', async (name) => {
    const folder = await folderWith()

    expect(await isDriveGone(join(folder, name), await deviceOf(folder))).toBe(false)
  })

  it('was deleted where the drive that a link leads to is there', async () => {
    const folder = await folderWith()
    await symlink('gone.mp4', join(folder, 'a.mp4'))
    await symlink('b.mp4', join(folder, 'loop.mp4'))
    await symlink('loop.mp4', join(folder, 'b.mp4'))

    for (const name of ['a.mp4', 'b.mp4'])
      expect(await isDriveGone(join(folder, name), await deviceOf(folder))).toBe(false)
  })

  it.skipIf(!canMount())(
    'was deleted, or went with its drive, also where a link led to it from another one',
    async () => {
      const folder = await folderWith()
      const drive = join(folder, 'drive')
      await mkdir(drive)
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', drive])
      const unmount = (): void => void execFileSync('umount', ['--lazy', drive])
      try {
        const device = await deviceOf(drive)
        await mkdir(join(drive, 'clips'))
        await symlink(join(drive, 'clips', 'a.mp4'), join(folder, 'a.mp4'))
        await symlink(join('drive', 'clips'), join(folder, 'clips'))
        const paths = [join(folder, 'a.mp4'), join(folder, 'clips', 'a.mp4')]

        for (const path of paths) expect(await isDriveGone(path, device)).toBe(false)
        unmount()
        for (const path of paths) expect(await isDriveGone(path, device)).toBe(true)
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', drive])
      } finally {
        unmount()
      }
    },
  )
})

it('is one for all folders that were seen on it, so that none of them takes the threads of others', () => {
  noteDevice('/card/day-1', 77n)
  noteDevice('/card/day-2', 77n)
  // Some systems do not tell.
  noteDevice('/share', 0n)

  expect(['/card/day-1', '/card/day-2', '/share', '/unseen'].map(driveOf)).toEqual([77n, 77n, '/share', '/unseen'])
})
