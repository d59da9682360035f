// What a command says of paths without a file to upload: of thousands, as a shell makes them of a pattern, it names the first.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

import { findFiles } from '../../src/cli/found-files.ts'
import type { Output } from '../../src/cli/views/output.ts'

const SILENT = { mode: 'lines', event: () => undefined, complain: () => undefined } as unknown as Output

it.each([
  [1, '"0". Skipped: 0/notes.pdf (not a .mov or .mp4 file).'],
  [
    6,
    '"0", "1", "2", "3", "4" and 1 more path. Skipped: ' +
      '0/notes.pdf (not a .mov or .mp4 file), 1/notes.pdf (not a .mov or .mp4 file), 2/notes.pdf (not a .mov or .mp4 file), ' +
      '3/notes.pdf (not a .mov or .mp4 file), 4/notes.pdf (not a .mov or .mp4 file) and 1 more file.',
  ],
])('%i folders without a video', async (count, words) => {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-found-files-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const paths = Array.from({ length: count }, (_, index) => join(folder, String(index)))
  for (const path of paths) {
    await mkdir(path)
    await writeFile(join(path, 'notes.pdf'), 'x')
  }

  const message = await findFiles(paths, 'video', SILENT).then(
    () => 'found',
    (error: unknown) => (error as Error).message,
  )

  expect(message.replaceAll(`${folder}/`, '')).toBe(`There is no file to upload in ${words}`)
})
