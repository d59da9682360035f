// With what a service begins that has no database yet.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync } from 'node:zlib'

import { expect, it, onTestFinished } from 'vitest'

import { newDatabaseFor } from '../../../src/cli/serve/new-database.ts'

async function folderWith(packed: Uint8Array) {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-begin-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'new-database.tar.br')
  await writeFile(path, packed)
  return { dataDir: join(folder, 'data'), archive: pathToFileURL(path) }
}

const packed = brotliCompressSync('an empty database')

it('is unpacked for a new folder, also where a start was killed before its database was made', async () => {
  const { dataDir, archive } = await folderWith(packed)
  const begin = async () => (await newDatabaseFor({ dataDir }, archive))?.text()
  const whenNew = await begin()
  await mkdir(join(dataDir, 'db'), { recursive: true })
  const whenEmpty = await begin()
  await writeFile(join(dataDir, 'db', 'PG_VERSION'), '18')
  await writeFile(join(dataDir, 'db.making'), '')
  const whenKilled = await begin()
  await rm(join(dataDir, 'db.making'))

  expect([whenNew, whenEmpty, whenKilled]).toEqual(Array.from({ length: 3 }, () => 'an empty database'))
  expect(await begin()).toBeUndefined()
  expect(await newDatabaseFor({ dataDir: 'new', databaseUrl: 'postgres://host/name' }, archive)).toBeUndefined()
})

it('is made from scratch where that is missing or damaged', async () => {
  const { dataDir, archive } = await folderWith(packed.subarray(0, -4))

  expect(await newDatabaseFor({ dataDir }, archive)).toBeUndefined()
  expect(await newDatabaseFor({ dataDir }, new URL('missing', archive))).toBeUndefined()
})
