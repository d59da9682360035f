// A folder comes out of its archive as it went in.

import { readdirSync, writeFileSync } from 'node:fs'
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

it('keeps what is empty at its end', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-archive-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const name of ['from', 'to']) await mkdir(join(folder, name))
  // With the heads of both, exactly the 10 kB by which such an archive grows.
  await writeFile(join(folder, 'from', 'a'), Buffer.alloc(10_240 - 2 * 512))
  await writeFile(join(folder, 'from', 'b'), '')

  await unpackFolder((await packFolder(join(folder, 'from'))).buffer, join(folder, 'to'))

  expect((await readdir(join(folder, 'to'))).sort()).toEqual(['a', 'b'])
})

it.skipIf(process.platform !== 'linux')(
  'has few files open at once: a system may allow no more than a thousand',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-archive-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const [from, to] = [join(folder, 'from'), join(folder, 'to')]
    for (const path of [from, to]) await mkdir(path)
    for (let number = 0; number < 100; number += 1) writeFileSync(join(from, String(number)), 'x')
    const open = () => readdirSync('/proc/self/fd').length
    const before = open()
    let most = 0
    const watch = setInterval(() => (most = Math.max(most, open() - before)), 0)
    onTestFinished(() => clearInterval(watch))

    await unpackFolder((await packFolder(from)).buffer, to)

    expect(await readdir(to)).toHaveLength(100)
    expect(most).toBeLessThan(50)
  },
)
