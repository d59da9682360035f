// The folders of the service, where they can be made and where they cannot.

import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { makeFolder } from '../../src/service/make-folder.ts'
import { startService } from '../../src/service/index.ts'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'mocap-uplink-folders-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

it('are made with those above them, for the owner alone, by many at once and again', async () => {
  const path = join(root, 'a', 'b', 'c')

  await Promise.all(Array.from({ length: 5 }, () => makeFolder(path)))
  await makeFolder(path)

  for (const made of [path, join(root, 'a')]) expect((await stat(made)).mode & 0o777).toBe(0o700)
})

it('are refused in words, with the system’s code, where a file is in the way', async () => {
  const path = join(root, 'file')
  await writeFile(path, '')

  for (const [place, code] of [
    [path, 'EEXIST'],
    [join(path, 'below'), 'ENOTDIR'],
  ] as const)
    await expect(makeFolder(place)).rejects.toMatchObject({
      code,
      message: `The folder ${place} cannot be made (${code}). Choose another place for the data, or make it yourself.`,
    })
})

it.runIf(process.platform === 'linux')(
  'end a start where nothing can be made, instead of holding it for ever',
  async () => {
    const dataDir = '/proc/mocap-uplink/data'

    await expect(startService({ port: 0, dataDir })).rejects.toMatchObject({
      code: 'ENOENT',
      message: expect.stringMatching(/^The folder \/proc\/mocap-uplink\/data cannot be made/) as string,
    })
  },
)
