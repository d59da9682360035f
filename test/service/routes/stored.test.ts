// The list of what is stored, from either end.

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'

import {
  openCaptureSession,
  openVideoSession,
  put,
  register,
  START,
  startUnderTest,
  type ServiceUnderTest,
} from '../service-under-test.ts'

let service: ServiceUnderTest

beforeAll(async () => {
  service = await startUnderTest()
  const sessionId = await openCaptureSession(service)
  // More names without bytes than one page skips, between two with bytes.
  const names = Array.from({ length: 702 }, (_, index) => `${index}.action`)
  const addresses = await register(service, sessionId, names)
  for (const name of ['0.action', '701.action']) await put(addresses[name]!, 'x')
  service.advance(60_000)
  for (const name of ['first.mp4', 'second.mp4']) {
    const session = await openVideoSession(service, [{ bytes: 1, chunks: 1, name }])
    const [file] = session.files
    await put(file!.urls[0]!, 'x')
    const { status } = await service.call('PATCH', '/upload_videos', {
      upload_session_id: session.sessionId,
      affected_file_id: file!.id,
      file_part_info: [{ etag: createHash('md5').update('x').digest('hex'), part_number: 1 }],
      upload_successful: true,
    })
    expect(status).toBe(200)
  }
})
afterAll(() => service.close())

interface Stored {
  readonly items: readonly { readonly file_name: string; readonly created_at: string }[]
  readonly next: string | null
}

const OLDEST_FIRST = ['0.action', '701.action', 'first.mp4', 'second.mp4']

it.each([
  ['', OLDEST_FIRST],
  ['&order=newest', OLDEST_FIRST.toReversed()],
])('is read page by page, with nothing twice and nothing missing: %s', async (order, expected) => {
  for (const limit of [1, 2, 3, 1_000]) {
    const names: string[] = []
    let next: string | null = ''
    while (next !== null) {
      const { json } = await service.call('GET', `/stored?limit=${limit}${order}${next === '' ? '' : `&after=${next}`}`)
      const page = json as Stored
      expect(page.items.length).toBeLessThanOrEqual(limit)
      names.push(...page.items.map(({ file_name }) => file_name))
      next = page.next
    }
    expect(names).toEqual(expected)
  }
})

it('says when the name was registered, or the session begun', async () => {
  const { items } = (await service.call('GET', '/stored?limit=1000')).json as Stored

  expect(items.map(({ created_at }) => Date.parse(created_at) - START)).toEqual([0, 0, 60_000, 60_000])
})

it('refuses an order that it does not know', async () => {
  expect((await service.call('GET', '/stored?order=oldest')).json).toMatchObject({
    error: { fields: [{ field: 'order', problem: 'expected "newest"' }] },
  })
})
