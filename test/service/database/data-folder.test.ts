// Which folders a service begins or goes on with, and that it touches nothing in any other.

import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { lockDataFolder } from '../../../src/service/database/data-lock.ts'
import { openKeyRing, type KeyRing } from '../../../src/service/index.ts'
import { openCaptureSession, put, register, startUnderTest } from '../service-under-test.ts'

let dataDir: string
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'service-folder-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  dataDir = folder
})

const FOREIGN = { code: 'ERR_SERVICE_DATA_FOREIGN' }

it('refuses the folder of another database, and makes nothing in it', async () => {
  await writeFile(join(dataDir, 'database-id'), 'another')

  await expect(startUnderTest({ dataDir })).rejects.toMatchObject(FOREIGN)
  await expect(openKeyRing({ dataDir })).rejects.toMatchObject(FOREIGN)

  expect(await readdir(dataDir)).toEqual(['database-id'])
})

it('refuses the folder of another program, names what it found, and makes nothing in it', async () => {
  await mkdir(join(dataDir, 'db'))
  await writeFile(join(dataDir, 'schema.rb'), 'x')

  await expect(startUnderTest({ dataDir })).rejects.toMatchObject({
    ...FOREIGN,
    message: `The folder ${dataDir} has something else in it: "schema.rb". Choose an empty folder for the data, or a new one.`,
  })
  await expect(openKeyRing({ dataDir })).rejects.toMatchObject(FOREIGN)
  await expect(
    startUnderTest({ dataDir, databaseUrl: 'postgres://nobody:nothing@127.0.0.1:1/x' }),
  ).rejects.toMatchObject(FOREIGN)

  expect((await readdir(dataDir)).sort()).toEqual(['db', 'schema.rb'])
  expect(await readdir(join(dataDir, 'db'))).toEqual([])
})

it('removes no object of another database, not even where the identity of the folder was removed', async () => {
  const first = await startUnderTest({ dataDir })
  const addresses = await register(first, await openCaptureSession(first), ['a.action'])
  await put(addresses['a.action']!, 'kept')
  await first.close()
  const stored = await readdir(join(dataDir, 'objects/stored'))
  await rm(join(dataDir, 'database-id'))
  await rename(join(dataDir, 'db'), `${dataDir}-aside`)
  onTestFinished(() => rm(`${dataDir}-aside`, { recursive: true, force: true }))

  await expect(startUnderTest({ dataDir })).rejects.toMatchObject(FOREIGN)
  expect(await readdir(join(dataDir, 'objects/stored'))).toEqual(stored)

  // With the database that knows them it goes on.
  await rm(join(dataDir, 'db'), { recursive: true })
  await rename(`${dataDir}-aside`, join(dataDir, 'db'))
  await (await startUnderTest({ dataDir })).close()
  expect(await readdir(join(dataDir, 'objects/stored'))).toEqual(stored)
})

it('begins on a new disk, and goes on with its own folder whatever else is in it by then', async () => {
  await mkdir(join(dataDir, 'lost+found'))
  await writeFile(join(dataDir, '.gitkeep'), '')
  await (await openKeyRing({ dataDir })).close()
  await (await startUnderTest({ dataDir })).close()
  await writeFile(join(dataDir, 'backup.tar'), 'x')
  // A file server's own, which is no object.
  await mkdir(join(dataDir, 'objects', 'stored', '@eaDir'))
  // As whoever restored the folder is told to do.
  await rm(join(dataDir, 'database-id'))

  const again = await startUnderTest({ dataDir })
  onTestFinished(() => again.close())

  expect((await again.call('GET', '/players')).status).toBe(200)
})

it('removes nothing from a folder called lock but the locks of dead processes', async () => {
  await mkdir(join(dataDir, 'lock', 'kept'), { recursive: true })
  await writeFile(join(dataDir, 'lock', 'kept', 'data'), 'precious')

  await (await lockDataFolder(dataDir)).release()

  expect(await readFile(join(dataDir, 'lock', 'kept', 'data'), 'utf8')).toBe('precious')
})

describe('an embedded database', () => {
  const half = async () => {
    await mkdir(join(dataDir, 'db'))
    await writeFile(join(dataDir, 'db', 'PG_VERSION'), '17')
  }

  it('that a killed start left half made is made anew, and one that was made stays', async () => {
    await half()
    await writeFile(join(dataDir, 'db.making'), '')

    const { key } = await withKeys((ring) => ring.create('org-4', 'first'))
    expect(key).toBeDefined()

    expect(await readdir(dataDir)).not.toContain('db.making')
    expect(await withKeys((ring) => ring.list())).toMatchObject([{ name: 'first' }])
  })

  it('that cannot be opened is named, with the reason', async () => {
    await half()

    await expect(startUnderTest({ dataDir })).rejects.toMatchObject({
      code: 'ERR_SERVICE_DATABASE',
      message: expect.stringMatching(
        /^The embedded database in .*db cannot be opened \(.+\)\. Restore a backup\.$/,
      ) as string,
    })
  })
})

async function withKeys<T>(use: (ring: KeyRing) => Promise<T>): Promise<T> {
  const ring = await openKeyRing({ dataDir })
  try {
    return await use(ring)
  } finally {
    await ring.close()
  }
}
