// The literal requests that the client is held to, sent to the service: what one says, the other takes. Only the ids
// are replaced, by those that this service gave.

import { readdir, readFile } from 'node:fs/promises'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { openVideoSession, put, startUnderTest, type ServiceUnderTest } from '../service-under-test.ts'

interface Fixture {
  readonly request: { readonly method: string; readonly path: string; readonly body?: unknown }
}

const folder = new URL('../../client/fixtures/', import.meta.url)
let service: ServiceUnderTest
const seen = new Set<string>()
/** The fixtures' ids and ours. */
const ids = new Map<unknown, unknown>()

beforeAll(async () => {
  service = await startUnderTest()
})
afterAll(() => service.close())

/** Sends a fixture's request with our ids; what was answered. */
async function send(name: string): Promise<{ status: number; json: Record<string, unknown>; text: string }> {
  seen.add(`${name}.json`)
  const { request } = JSON.parse(await readFile(new URL(`${name}.json`, folder), 'utf8')) as Fixture
  let path = request.path
  for (const [theirs, ours] of ids) path = path.replace(new RegExp(`/${String(theirs)}(?=/|$)`), `/${String(ours)}`)
  const { status, json, text } = await service.call(request.method, path, withOurIds(request.body))
  return { status, json: json as Record<string, unknown>, text }
}

function withOurIds(value: unknown): unknown {
  if (ids.has(value)) return ids.get(value)
  if (Array.isArray(value)) return value.map(withOurIds)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    // Small numbers are sizes, part numbers and types beside being ids: only fields that hold ids are looked at.
    Object.entries(value).map(([name, inner]) => [name, /_id$/.test(name) ? withOurIds(inner) : inner]),
  )
}

it('takes the requests of the capture flow', async () => {
  const session = await send('mocap-sessions.create')
  ids.set('0b6a5e0e-6a53-4f4e-9a55-0a8f0f3f6f10', session.json['id'])
  const registered = await send('mocap-session-files.register')

  expect(session.json).toMatchObject({ session_id: session.json['id'], org_id: 'org-1a2b3c4d', status: 'pending' })
  expect(registered.status).toBe(200)
  expect(Object.keys(registered.json)).toEqual([
    'pitch-002.action',
    'pitch-001.action',
    '__proto__',
    'constructor',
    'Björn 100% #1.action',
  ])
})

it('takes the requests of the video flow', async () => {
  const created = await send('video-uploads.create')
  expect(created.json['pre_signed_urls']).toMatchObject([
    { file_id: 1, info: [{ part_number: 1 }, { part_number: 2 }] },
    { file_id: 2, info: [{ part_number: 1 }] },
  ])

  const { sessionId, files } = await openVideoSession(service, [{ bytes: 2, chunks: 2 }])
  await put(files[0]!.urls[0]!, 'a')
  await put(files[0]!.urls[1]!, 'b')
  ids.set('us-5f2c', sessionId).set(901, files[0]!.id)

  expect((await send('video-uploads.confirm')).status).toBe(200)
  expect((await send('video-uploads.cancel')).status).toBe(200)
})

it('takes the requests of the analysis flow', async () => {
  for (const theirs of [4711, 4712, 4713]) {
    const { json } = await send('player-group-segments.create')
    ids.set(theirs, json['analysis_segment_id'])
  }
  const updated = await send('player-group-segments.update')
  const created = await send('requested-analyses.create')
  ids.set(31, created.json['id'])
  const renamed = await send('requested-analyses.update')
  const submitted = await send('requested-analyses.submit')
  const found = await send('requested-analyses.get')
  const list = await send('requested-analyses.list')

  expect(updated.json['org_movement_ids']).toEqual(['play-0003'])
  expect(created.json).toMatchObject({ name: 'Fastballs, April', status: 'draft' })
  expect(renamed.json).toMatchObject({ name: 'Fastballs, April and May', status: 'draft' })
  expect(submitted.json).toMatchObject({ id: created.json['id'], status: 'requested' })
  expect(found.json).toEqual(submitted.json)
  expect(list.json['requested_analyses']).toEqual([found.json])
})

it('has sent every fixture there is', async () => {
  expect([...seen].sort()).toEqual((await readdir(folder)).filter((name) => name.endsWith('.json')).sort())
})
