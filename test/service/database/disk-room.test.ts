// Room on the disk beside the embedded database, and a start where there is none.

import { execFileSync } from 'node:child_process'
import { openAsBlob } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, inject, it, onTestFinished } from 'vitest'

import { diskRoom, freeBytes, roomToStart } from '../../../src/service/database/disk-room.ts'
import { openPglite } from '../../../src/service/database/pglite-database.ts'
import { startService } from '../../../src/service/index.ts'
import { canMount } from '../../helpers/can-mount.ts'
import { startUnderTest } from '../service-under-test.ts'

const FULL = { code: 'ERR_SERVICE_DATA_FULL' }

it('promises no byte twice, and none of what is kept free', async () => {
  let free = 1_000
  const room = diskRoom(() => Promise.resolve(free), 400)

  const first = await room.forBody(500)
  await expect(room.forBody(101)).rejects.toMatchObject(FULL)
  await first.arrived(450)
  free -= 450
  await first.arrived(50)
  await expect(room.forBody(101)).rejects.toMatchObject(FULL)
  const second = await room.forBody(100)
  first.end()
  second.end()
  await expect(room.forBody(150)).resolves.toBeDefined()
})

it('promises no byte to two that ask at once', async () => {
  const room = diskRoom(() => Promise.resolve(1_000), 400)

  const asked = await Promise.allSettled([room.forBody(500), room.forBody(500)])

  expect(asked.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  await expect(room.forBody(100)).resolves.toBeDefined()
})

const GIB = 1024 ** 3

it('keeps nobody out for a body of which hardly anything comes', async () => {
  const room = diskRoom(() => Promise.resolve(6 * GIB), 400)
  for (let count = 0; count < 50; count += 1) await (await room.forBody(5 * GIB)).arrived(1)

  await expect(room.forBody(5 * GIB)).resolves.toBeDefined()
  await expect(room.forBody(6 * GIB)).rejects.toMatchObject(FULL)
})

it('never lets bodies take what is kept free, in whatever order they come: it rather refuses one in its middle', async () => {
  const MIB = 1024 ** 2
  const sizes = fc.array(fc.integer({ min: 1, max: 30 * MIB }), { minLength: 1, maxLength: 6 })
  let [whole, cut] = [0, 0]
  await fc.assert(
    fc.asyncProperty(sizes, fc.array(fc.nat({ max: 5 }), { maxLength: 400 }), async (bytes, order) => {
      const kept = 4 * MIB
      let free = kept + 40 * MIB
      const room = diskRoom(() => Promise.resolve(free), kept)
      const bodies = await Promise.all(
        bytes.map(async (size) => ({ size, came: 0, body: await room.forBody(size).catch(() => undefined) })),
      )
      for (const index of order) {
        const one = bodies[index % bodies.length]!
        const some = Math.min(65_536 * 16, one.size - one.came)
        if (one.body === undefined || some === 0) continue
        const isAllowed = await one.body.arrived(some).then(
          () => true,
          () => false,
        )
        if (isAllowed) {
          free -= some
          one.came += some
          if (one.came === one.size) whole += 1
        } else {
          one.body.end()
          one.body = undefined
          free += one.came
          cut += 1
        }
        expect(free).toBeGreaterThanOrEqual(kept)
      }
    }),
  )
  expect(Math.min(whole, cut)).toBeGreaterThan(0)
})

it('asks for no more room than a body has still to bring', async () => {
  const MIB = 1024 ** 2
  let free = 11 * MIB
  const room = diskRoom(() => Promise.resolve(free), MIB)
  const body = await room.forBody(10 * MIB)
  await body.arrived(9.5 * MIB)
  free -= 9.5 * MIB

  await expect(body.arrived(0.5 * MIB)).resolves.toBeUndefined()
})

it('takes records until half of what is kept free is gone', async () => {
  let free = 200
  const room = diskRoom(() => Promise.resolve(free), 400)

  await expect(room.forRecord()).resolves.toBeUndefined()
  free -= 1
  await expect(room.forRecord()).rejects.toMatchObject(FULL)
})

it('looks at nothing where nothing is to be kept free', async () => {
  const room = diskRoom(() => Promise.resolve(0), 0)

  await expect(room.forRecord()).resolves.toBeUndefined()
  await expect(room.forBody(1_000)).resolves.toBeDefined()
})

it('starts no new database where no body could come afterwards, and asks for nothing where nothing is to be kept free', () => {
  const [keep, more] = [64, 1_000].map((mib) => mib * 1024 ** 2) as [number, number]

  expect([roomToStart(false, 1), roomToStart(true, 1)]).toEqual([32 * 1024 ** 2, 80 * 1024 ** 2])
  expect(roomToStart(true, more) - roomToStart(true, keep)).toBe(more - keep)
  expect(roomToStart(false, more)).toBe(roomToStart(false, 1))
  expect(roomToStart(true, 0)).toBe(0)
  expect(roomToStart(false, 0)).toBe(0)
})

async function smallDisk(size: string, files = 10_000): Promise<string> {
  const disk = await mkdtemp(join(tmpdir(), 'service-small-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},nr_inodes=${files}`, 'tmpfs', disk])
  onTestFinished(async () => {
    execFileSync('umount', [disk])
    await rm(disk, { recursive: true })
  })
  return disk
}

it.skipIf(!canMount())('has no room where the disk has hardly an inode left, however many bytes it has', async () => {
  const [few, many] = [await smallDisk('20m', 200), await smallDisk('20m')]

  expect(await freeBytes(few)).toBe(0)
  expect(await freeBytes(many)).toBe(20 * 1024 ** 2)
})

it.skipIf(!canMount())('says at the start how much room the database lacks, and where', async () => {
  const disk = await smallDisk('20m')

  const starting = startService({ dataDir: join(disk, 'data'), port: 0 })

  const { message } = await starting.then(
    () => expect.unreachable(),
    (error: unknown) => {
      expect(error).toMatchObject(FULL)
      return error as Error
    },
  )
  expect(message).toContain(disk)
  expect(message).toMatch(
    /has \d+ MiB free, and the database needs 112 MiB to start\. Make room .* by keepFreeBytes, or by --keep-free of serve\.$/,
  )
})

it.skipIf(!canMount())('starts on a disk that is small where nothing is to be kept free', async () => {
  const disk = await smallDisk('75m')

  const service = await startUnderTest({ dataDir: join(disk, 'data'), keepFreeBytes: 0 })

  await expect(service.close()).resolves.toBeUndefined()
})

it.skipIf(!canMount())(
  'leaves the log of the database alone where reads alone would write there, and could block it for good',
  async () => {
    const disk = await smallDisk('150m')
    const prepared = await openAsBlob(inject('preparedDatabase'))
    const db = await openPglite({ folder: join(disk, 'database'), prepared })
    onTestFinished(() => db.destroy())
    await writeFile(join(disk, 'others'), Buffer.alloc((await freeBytes(disk)) - 20 * 1024 ** 2))
    const begins = sql<{ at: string }>`select redo_lsn::text as at from pg_control_checkpoint()`
    const before = (await begins.execute(db)).rows[0]!.at

    for (let use = 0; use < 20_000; use += 1) await db.connection().execute(() => Promise.resolve())

    expect((await begins.execute(db)).rows[0]!.at).toBe(before)
  },
)
