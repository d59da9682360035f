// Captures on the service's own disk and clock, beyond what the interface says of every deployment.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'

import {
  openCaptureSession,
  openRecordsOf,
  put,
  register,
  startUnderTest,
  startWithObjectsIn,
  type ServiceUnderTest,
} from '../service-under-test.ts'

let service: ServiceUnderTest
beforeAll(async () => {
  service = await startUnderTest()
})
afterAll(() => service.close())

it('signs an address of its own for each name, which says nothing of the name', async () => {
  const sessionId = await openCaptureSession(service)

  const addresses = Object.values(await register(service, sessionId, ['__proto__', 'a#b%20?.action', '🏏.action']))

  for (const address of addresses) {
    expect(address).toMatch(
      new RegExp(
        `^${service.url}/objects/captures/${sessionId}/\\d+\\?X-Amz-Algorithm=AWS4-HMAC-SHA256` +
          '&X-Amz-Date=20261120T120000Z&X-Amz-Expires=3600&X-Amz-Signature=[0-9a-f]{64}$',
      ),
    )
  }
  expect(new Set(addresses).size).toBe(3)
})

it('signs another address for a name that is registered again later', async () => {
  const sessionId = await openCaptureSession(service)
  const first = await register(service, sessionId, ['a.action'])
  service.advance(1000)

  const second = await register(service, sessionId, ['a.action'], { reprocess: true })

  expect(second['a.action']).not.toBe(first['a.action'])
  for (const { 'a.action': address } of [first, second]) expect((await put(address!, 'x')).status).toBe(200)
})

it('keeps names in the order of capture, each with the frame rate that it was registered with last', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-captures-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const own = await startWithObjectsIn(dataDir, { videoMocapTypeIds: [2] })
  const sessionId = await openCaptureSession(own)
  const names = Array.from({ length: 5_001 }, (_, index) => `${index}.mp4`)
  await register(own, sessionId, ['a.mp4', 'b.mp4', ...names], { video_framerate: 30 })
  await register(own, sessionId, ['a.mp4', 'c.mp4'], { video_framerate: 240, reprocess: true })
  const tracking = await openCaptureSession(own, 3)
  await register(own, tracking, ['d.action'], { video_framerate: 500 })
  await register(own, tracking, ['d.action', 'e.action'], { reprocess: true })
  await own.close()

  const db = await openRecordsOf(dataDir)
  const rows = await db
    .selectFrom('mocap_session_files')
    .select(['name', 'video_framerate'])
    .where('name', 'in', ['a.mp4', 'b.mp4', 'c.mp4', '5000.mp4', 'd.action', 'e.action'])
    .orderBy('id')
    .execute()
  await db.destroy()

  expect(rows.map((row) => [row.name, row.video_framerate])).toEqual([
    ['a.mp4', 240],
    ['b.mp4', 30],
    ['5000.mp4', 30],
    ['c.mp4', 240],
    ['d.action', 500],
    ['e.action', null],
  ])
})

it.each([
  [2, 'clip.MOV', 'files of a tracking system, not video'],
  [67, 'a.action', 'video files (.mov, .mp4)'],
])('says which files the mocap type %i takes when %s is not one', async (mocapTypeId, name, wanted) => {
  const session_id = await openCaptureSession(service, mocapTypeId)
  const body = { session_id, filenames: [name], video_framerate: 30 }

  const { status, json } = await service.call('POST', '/mocap_session_file', body)

  const message = `The session's mocap type takes ${wanted}: "${name}" is not one.`
  expect([status, json]).toEqual([422, { error: { code: 'wrong_file_kind', message, filename: name } }])
})

it('takes its moments from its clock', async () => {
  const { json } = await service.call('POST', '/mocap_session', {
    ...{ org_id: 'org-4', mocap_type_id: 2, session_date: '2026-11-20', session_type_id: 1 },
  })

  expect(json).toMatchObject({ created_at: '2026-11-20T12:00:01.000Z', updated_at: '2026-11-20T12:00:01.000Z' })
})
