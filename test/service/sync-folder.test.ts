// The step that makes the names in a folder durable, on drives that know it and on those that do not.

import { open } from 'node:fs/promises'
import { expect, it, vi } from 'vitest'

import { syncFolder } from '../../src/service/sync-folder.ts'

async function syncing(code: string): Promise<void> {
  const handle = await open(import.meta.dirname, 'r')
  await handle.close()
  const handles = Object.getPrototypeOf(handle) as typeof handle
  vi.spyOn(handles, 'sync').mockRejectedValueOnce(Object.assign(new Error(code), { code }))
  await syncFolder(import.meta.dirname)
}

it.each(['EINVAL', 'ENOTSUP'])(
  'is left out on a drive that knows no such thing, as many network drives: %s',
  async (code) => {
    await expect(syncing(code)).resolves.toBeUndefined()
  },
)

it('fails on a disk that fails', async () => {
  await expect(syncing('EIO')).rejects.toMatchObject({ code: 'EIO' })
})
