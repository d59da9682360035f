// The embedded database after a power cut: what it has answered for is on the disk by then.

import fs, { existsSync, openAsBlob } from 'node:fs'
import { mkdtemp, open, readdir, rm, type FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { sql } from 'kysely'
import { expect, inject, it, onTestFinished, vi } from 'vitest'

import { createApiKey } from '../../../src/service/access/api-keys.ts'
import { openDatabase } from '../../../src/service/database/database.ts'
import { openKeyRing } from '../../../src/service/index.ts'

async function newFolder(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-durable-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  return join(dataDir, 'db')
}

async function openIn(folder: string) {
  const prepared = await openAsBlob(inject('preparedDatabase'))
  const db = await openDatabase({ kind: 'embedded', folder, prepared })
  onTestFinished(() => db.destroy().catch(() => undefined))
  return db
}

it('has a record on the disk before it is answered for, also on a drive that can do that with files only', async () => {
  const { fsyncSync } = fs
  let refused = 0
  const synced = vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
    if (fs.fstatSync(descriptor).isDirectory()) {
      refused += 1
      throw Object.assign(new Error('EINVAL'), { code: 'EINVAL' })
    }
    fsyncSync(descriptor)
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    synced.mockRestore()
    syncBuiltinESMExports()
  })
  const db = await openIn(await newFolder())
  // Brings folders to the disk, too.
  await sql`checkpoint`.execute(db)
  expect(refused).toBeGreaterThan(0)
  synced.mockClear()

  await createApiKey(db, { orgId: 'o', name: 'n', now: new Date(0) })

  expect(synced).toHaveBeenCalledOnce()
})

/** From here on the disk refuses to keep anything; the function that is returned ends that. */
function failDisk(): () => void {
  const failing = vi.spyOn(fs, 'fsyncSync').mockImplementation(() => {
    throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' })
  })
  syncBuiltinESMExports()
  const end = () => {
    failing.mockRestore()
    syncBuiltinESMExports()
  }
  onTestFinished(end)
  return end
}

it('answers for nothing any more once the disk has failed', async () => {
  const db = await openIn(await newFolder())
  const repairDisk = failDisk()
  const make = (name: string) => createApiKey(db, { orgId: 'o', name, now: new Date(0) })

  await expect(make('first')).rejects.toThrow('The disk did not keep what the database wrote')
  repairDisk()

  await expect(make('second')).rejects.toThrow('The disk did not keep what the database wrote')
  await expect(db.destroy()).rejects.toThrow('The disk did not keep what the database wrote')
})

it('says that it cannot be opened where the disk fails at the start', async () => {
  const folder = await newFolder()
  failDisk()

  await expect(openIn(folder)).rejects.toMatchObject({
    code: 'ERR_SERVICE_DATABASE',
    message: expect.stringContaining('The disk did not keep what the database wrote') as string,
  })
})

it('leaves its folder to the next who opens the keys, also where its disk has failed', async () => {
  const dataDir = dirname(await newFolder())
  await (await openKeyRing({ dataDir })).close()
  const ring = await openKeyRing({ dataDir })
  const repairDisk = failDisk()
  await expect(ring.create('o', 'n')).rejects.toThrow('The disk did not keep what the database wrote')
  repairDisk()

  await expect(ring.close()).rejects.toThrow('The disk did not keep what the database wrote')

  const again = await openKeyRing({ dataDir })
  expect(await again.list()).toBeInstanceOf(Array)
  await again.close()
})

it('is on the disk as a whole before it counts as made, brought there with few files open at once', async () => {
  const folder = await newFolder()
  const file = await open(tmpdir(), 'r')
  const prototype = Object.getPrototypeOf(file) as FileHandle
  await file.close()
  const beforeMade: boolean[] = []
  const sync = prototype.sync
  let [atOnce, most] = [0, 0]
  const syncing = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    beforeMade.push(existsSync(`${folder}.making`))
    most = Math.max(most, (atOnce += 1))
    await sync.call(this)
    atOnce -= 1
  })
  onTestFinished(() => syncing.mockRestore())

  await openIn(folder)

  const made = await readdir(folder, { recursive: true })
  expect(beforeMade.filter(Boolean).length).toBeGreaterThanOrEqual(made.length)
  expect(most).toBeLessThan(50)
})
