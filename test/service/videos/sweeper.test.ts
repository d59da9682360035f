// Sessions that nobody finished are ended: what is confirmed stays, the rest goes, and no call comes too late unheard.

import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it, onTestFinished } from 'vitest'

import { startWithSweep } from '../../helpers/sweep-on-demand.ts'
import { openVideoSession, put, START, startUnderTest } from '../service-under-test.ts'

const DAY_MS = 24 * 3_600_000

it('ends old sessions alone, and keeps what is confirmed', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-sweeper-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const before = await startUnderTest({ dataDir })
  const old = await openVideoSession(before, [
    { bytes: 4, chunks: 1 },
    { bytes: 4, chunks: 2 },
  ])
  const etag = (await put(old.files[0]!.urls[0]!, 'kept')).headers.get('etag')
  await put(old.files[1]!.urls[0]!, 'go')
  const confirm = (fileId: number, etags: readonly unknown[]) => ({
    ...{ upload_session_id: old.sessionId, affected_file_id: fileId, upload_successful: true },
    file_part_info: etags.map((one, index) => ({ etag: one, part_number: index + 1 })),
  })
  expect((await before.call('PATCH', '/upload_videos', confirm(old.files[0]!.id, [etag]))).status).toBe(200)
  before.advance(6 * DAY_MS)
  const young = await openVideoSession(before, [{ bytes: 4, chunks: 1 }])
  await put(young.files[0]!.urls[0]!, 'more')
  await before.close()
  expect(await readdir(join(dataDir, 'objects', 'stored'))).toHaveLength(3)

  let now = START + 8 * DAY_MS
  const lines: string[] = []
  let heard = (): void => undefined
  const swept = new Promise<void>((resolve) => (heard = resolve))
  const log = {
    write(line: string) {
      lines.push(line)
      if (line.includes('unfinished sessions')) heard()
    },
  }
  const { service: after, sweep } = await startWithSweep(() => startUnderTest({ dataDir, log, now: () => now }))
  onTestFinished(() => after.close())
  // A clock that jumps makes no session older: the young one stays.
  now += 30 * DAY_MS
  sweep()
  await swept

  expect(lines.join('')).toContain('"settled":1,"failed":0')
  expect(await readdir(join(dataDir, 'objects', 'stored'))).toHaveLength(2)
  const late = await after.call('PATCH', '/upload_videos', confirm(old.files[1]!.id, ['a', 'b']))
  expect(late.json).toMatchObject({ error: { code: 'session_expired' } })
  expect((await after.call('PATCH', '/upload_videos', confirm(old.files[0]!.id, [etag]))).status).toBe(200)
})

it('says why the storage of a session could not be cleared', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-sweeper-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const before = await startUnderTest({ dataDir })
  const { files } = await openVideoSession(before, [{ bytes: 4, chunks: 1 }])
  await put(files[0]!.urls[0]!, 'left')
  await before.close()
  const [blob] = await readdir(join(dataDir, 'objects', 'stored'))
  // What cannot be removed as a file.
  await rm(join(dataDir, 'objects', 'stored', blob!))
  await mkdir(join(dataDir, 'objects', 'stored', blob!))

  const why = await new Promise<string>((resolve, reject) => {
    const write = (line: string) => {
      if (line.includes('could not be ended')) resolve(line)
    }
    const after = startWithSweep(() => startUnderTest({ dataDir, log: { write }, now: () => START + 8 * DAY_MS }))
    onTestFinished(async () => (await after).service.close())
    after.then(({ sweep }) => sweep(), reject)
  })

  expect(why).toContain('EISDIR')
})

it('may not end a session whose addresses are alive', async () => {
  await expect(startUnderTest({ endSessionsAfterMs: 1000 })).rejects.toThrow('endSessionsAfterMs')
})
