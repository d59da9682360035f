// A folder of more files than a call of a function takes arguments.

import type { Dirent } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, it, vi } from 'vitest'

import { filesUnder } from '../../../../src/adapters/node/files/directory.ts'

const COUNT = 200_000

vi.mock('node:fs/promises', async (original) => ({
  ...(await original<object>()),
  readdir: () => Promise.resolve(Array.from({ length: COUNT }, (_, at) => fileNamed(`${String(at)}.action`))),
}))

function fileNamed(name: string): Pick<Dirent, 'name' | 'isFile'> {
  return { name, isFile: () => true }
}

it('are all found', async () => {
  const { files } = await filesUnder(tmpdir())

  expect(files).toHaveLength(COUNT)
})
