// A file that a command plans and then uploads is looked at once, and what changes in between is found all the same.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

import { plannedSource } from '../../src/cli/planned-source.ts'

it('is uploaded as it was when it was planned, or refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'planned-source-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'swing.mp4')
  await writeFile(path, 'as planned')
  const source = plannedSource(path, (_, work) => work)

  const planned = await source.describe()
  await (await source.open(planned)).close()
  await writeFile(path, 'longer than planned')

  expect([source.name, source.location, planned.sizeBytes]).toEqual(['swing.mp4', path, 10])
  expect(await source.describe()).toBe(planned)
  await expect(source.open(planned)).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_CHANGED' })
})

it('that cannot be read is told when it is planned', async () => {
  await expect(
    plannedSource(join(tmpdir(), 'there', 'is', 'nothing'), (_, work) => work).describe(),
  ).rejects.toMatchObject({
    code: 'ERR_UPLOAD_SOURCE_READ',
  })
})
