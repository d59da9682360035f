// A folder comes out of its archive as it went in.

import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

import { packFolder, unpackFolder } from '../../../src/service/database/folder-archive.ts'

it('keeps every byte, empty files and empty folders', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-archive-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [from, to] = [join(folder, 'from'), join(folder, 'new', 'to')]
  const bytes = Uint8Array.from({ length: 1_000 }, (_, index) => index % 256)
  await mkdir(join(from, 'base', '1', 'empty'), { recursive: true })
  await writeFile(join(from, 'VERSION'), '18')
  await writeFile(join(from, 'base', '1', 'none'), '')
  await writeFile(join(from, 'base', '1', '1259_vm'), bytes)

  await unpackFolder((await packFolder(from)).buffer, to)

  const names = await readdir(to, { recursive: true })
  expect(names.sort()).toEqual((await readdir(from, { recursive: true })).sort())
  expect(await readdir(join(to, 'base', '1', 'empty'))).toEqual([])
  expect(await readFile(join(to, 'VERSION'), 'utf8')).toBe('18')
  expect((await stat(join(to, 'base', '1', 'none'))).size).toBe(0)
  expect(Uint8Array.from(await readFile(join(to, 'base', '1', '1259_vm')))).toEqual(bytes)
})
