// With what a service begins that has no database yet.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync } from 'node:zlib'

import { expect, it, onTestFinished } from 'vitest'

import { readNewDatabase } from '../../../src/cli/serve/new-database.ts'

async function archiveOf(bytes: Uint8Array): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-begin-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'new-database.tar.br')
  await writeFile(path, bytes)
  return pathToFileURL(path)
}

const packed = brotliCompressSync('an empty database')

it('is unpacked', async () => {
  expect(await (await readNewDatabase(await archiveOf(packed)))?.text()).toBe('an empty database')
})

it('is made from scratch where that is missing or damaged', async () => {
  const archive = await archiveOf(packed.subarray(0, -4))

  expect(await readNewDatabase(archive)).toBeUndefined()
  expect(await readNewDatabase(new URL('missing', archive))).toBeUndefined()
})
