// Which files of a folder are taken, and what a command says of paths without one: of thousands, as a shell makes them of a pattern, it
// names the first.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'

import { findFiles } from '../../src/cli/found-files.ts'
import { saveReceipt } from '../../src/cli/receipt-file.ts'
import type { Output } from '../../src/cli/views/output.ts'
import { RECEIPT_FORMAT, type DeliveryReceipt } from '../../src/flows/receipt.ts'

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

it('leaves the receipt of an earlier upload of the folder where it is, unless it is named itself', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-found-files-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [receipt, take] = [join(folder, 'receipt.json.capture-1'), join(folder, 'take.json')]
  await saveReceipt(receipt, { format: RECEIPT_FORMAT } as DeliveryReceipt)
  await writeFile(take, '{"format":"a tracking file"}')
  const skipped = vi.fn()
  const namesOf = async (...paths: string[]) =>
    (await findFiles(paths, 'any', { ...SILENT, event: skipped })).map(({ source }) => source.location)

  expect(await namesOf(folder)).toEqual([take])
  expect(skipped.mock.calls).toEqual([['skipped', { path: receipt, reason: 'a receipt' }]])
  expect(await namesOf(folder, receipt)).toEqual([receipt, take])
})
