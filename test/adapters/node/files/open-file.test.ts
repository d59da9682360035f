// An open file takes a descriptor, which others may be waiting for.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'

import { descriptors } from '../../../../src/adapters/node/descriptors.ts'
import { openRegularFile } from '../../../../src/adapters/node/files/open-file.ts'
import type { QuickDisk } from '../../../../src/adapters/node/files/quick-disk.ts'

it.each([
  ['at once', true],
  ['on a thread', false],
])('is reported as closed once it is closed %s, so that whoever waits goes on', async (_how, isQuick) => {
  const folder = await mkdtemp(join(tmpdir(), 'open-file-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const location = join(folder, 'take.action')
  await writeFile(location, 'bytes')
  const hasClosed = vi.fn<() => void>()
  const opened = vi.spyOn(descriptors, 'opened').mockReturnValue(hasClosed)
  onTestFinished(() => opened.mockRestore())
  const disk: QuickDisk = { mayAskNow: () => isQuick, askNow: (work) => work() }

  const file = await openRegularFile(disk, { location, folder })
  expect([opened.mock.calls, hasClosed.mock.calls.length]).toEqual([[['file']], 0])
  await file.close()

  expect(hasClosed).toHaveBeenCalledOnce()
})
