// A program that watches a folder, as docs/library.md shows it: what it has begun is what the journal says, and there is one such program.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

import { createUplink, diskJournal, fileSource, foldJournal, memoryJournal, type Journal } from '../../src/node.ts'
import { startRig, VIDEO } from './rig.ts'

async function begunPaths(journal: Journal): Promise<Set<string>> {
  const begun = new Set<string>()
  for (const key of await journal.list())
    for (const path of foldJournal(await journal.read(key)).locations) begun.add(path)
  return begun
}

it.each([
  ['memoryJournal', () => memoryJournal()],
  ['diskJournal', (folder: string) => diskJournal({ folder: join(folder, 'state') })],
])('knows from its %s each file that it has begun, however that ended, and runs once', async (_name, journalIn) => {
  const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-watched-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const journal = journalIn(folder)
  const rig = await startRig(
    { faults: [{ operation: 'put', nth: 'every', fileName: 'refused.mp4', action: { status: 411 } }] },
    { journal },
  )
  const paths = ['a.mp4', 'refused.mp4', 'away.mp4'].map((name) => join(folder, name))
  for (const path of paths) await writeFile(path, path)
  const [good = '', refused = '', away = ''] = paths
  const watcher = await journal.open('watcher')
  expect(await begunPaths(journal)).toEqual(new Set())

  // Given by a relative path, it is found by the whole one.
  const files = [relative(process.cwd(), good), refused].map((path) => ({ source: fileSource(path) }))
  await rig.uplink.uploadVideos({ ...VIDEO, files }).done()
  const nobody = createUplink({ baseUrl: 'http://127.0.0.1:9', credentials: { apiKey: 'k' }, journal })
  onTestFinished(() => nobody.close())
  const lost = nobody.uploadVideos({ ...VIDEO, files: [{ source: fileSource(away) }] })
  await expect.poll(() => begunPaths(journal)).toContain(away)
  await nobody.close()
  await lost.done().catch(() => undefined)

  expect(await begunPaths(journal)).toEqual(new Set(paths))
  await expect(journal.open('watcher')).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
  await watcher.close()
})
