// A journal on a disk that takes nothing.

import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { diskJournal } from '../../../../src/adapters/node/journal/disk-journal.ts'
import type { JournalRecord } from '../../../../src/core/journal/journal.ts'
import {
  temporary,
  confirmed,
  received,
  begun,
  pathOf,
  read,
  fileHandles,
  failure,
  canMountHere,
  removeAfterEach,
} from './disk-journal-rig.ts'

removeAfterEach()

describe('a disk that takes nothing', () => {
  if (!canMountHere) process.stdout.write('SKIPPED: a really full disk needs root on Linux to mount a tmpfs\n')

  // Node's own way of making a folder and those above it asks there without an end.
  it.runIf(process.platform === 'linux')('because nothing can be made there is told, and not waited for', async () => {
    await expect(diskJournal({ folder: '/proc/mocap-uplink/state' }).open('k')).rejects.toMatchObject({
      code: 'ERR_UPLOAD_JOURNAL',
      details: { systemCode: 'ENOENT' },
    })
  })

  it('keeps nothing of a journal that did not fit: it would take what room there is', async () => {
    const folder = await temporary()
    const session = await diskJournal({ folder }).open('k')
    const before = await readdir(dirname(pathOf(folder)))
    vi.spyOn(await fileHandles(), 'sync').mockRejectedValueOnce(failure('ENOSPC'))

    await expect(session.append([begun(1)])).rejects.toMatchObject({ details: { systemCode: 'ENOSPC' } })

    expect(await readdir(dirname(pathOf(folder)))).toEqual(before)
    await session.close()
  })

  it.skipIf(!canMountHere)('because it is read-only is told so, not that someone took the folder away', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'disk-journal-read-only-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', parent])
    try {
      for (const folder of [join(parent, 'state', 'sessions'), parent]) {
        await expect(diskJournal({ folder }).open('k')).rejects.toMatchObject({
          code: 'ERR_UPLOAD_JOURNAL',
          message: expect.stringContaining('the disk is read-only. Choose another state folder') as string,
          details: { systemCode: 'EROFS' },
        })
      }
    } finally {
      execFileSync('umount', [parent])
      await rm(parent, { recursive: true })
    }
  })

  it.skipIf(!canMountHere)(
    'because it is full is told, loses nothing that was settled, and is no obstacle once there is room',
    async () => {
      const parent = await mkdtemp(join(tmpdir(), 'disk-journal-full-'))
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', parent])
      try {
        const journal = diskJournal({ folder: join(parent, 'state') })
        const session = await journal.open('k')
        await session.append([begun(10_000)])
        const ballast = join(parent, 'ballast')
        await writeFile(ballast, Buffer.alloc(700_000))
        const settled: JournalRecord[] = [begun(10_000)]
        let problem: unknown
        for (let part = 1; problem === undefined && part <= 10_000; part++) {
          const record = received(part, 'x'.repeat(900))
          await Promise.resolve(session.append([record])).then(
            () => settled.push(record),
            (error: unknown) => (problem = error),
          )
        }
        expect(problem).toMatchObject({ code: 'ERR_UPLOAD_JOURNAL', details: { systemCode: 'ENOSPC' } })
        expect(settled.length).toBeGreaterThan(50)

        await rm(ballast)
        await session.append([confirmed(0)])
        await session.close()

        expect(await read(journal)).toEqual([...settled, confirmed(0)])
        await writeFile(ballast, Buffer.alloc(2_000_000)).catch(() => undefined)
        await expect(journal.open('another')).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
        expect(await journal.list()).toEqual(['k'])
      } finally {
        execFileSync('umount', [parent])
        await rm(parent, { recursive: true, force: true })
      }
    },
  )
})
