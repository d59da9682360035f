// The list of what is stored, from either end.

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'

import { startScriptedBucket } from '../../helpers/scripted-bucket.ts'
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
    await confirmOn(service, session.sessionId, file!.id, 'x')
  }
})
afterAll(() => service.close())

async function confirmOn(at: ServiceUnderTest, sessionId: string, fileId: number, bytes: string): Promise<void> {
  const { status } = await at.call('PATCH', '/upload_videos', {
    upload_session_id: sessionId,
    affected_file_id: fileId,
    file_part_info: [{ etag: createHash('md5').update(bytes).digest('hex'), part_number: 1 }],
    upload_successful: true,
  })
  expect(status).toBe(200)
}

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
      // An earlier page may be empty. The last one is not, because each page says whether anything follows.
      if (next === null) expect(page.items).not.toEqual([])
    }
    expect(names).toEqual(expected)
  }
})

it('says when the name was registered, or the session begun', async () => {
  const { items } = (await service.call('GET', '/stored?limit=1000')).json as Stored

  expect(items.map(({ created_at }) => Date.parse(created_at) - START)).toEqual([0, 0, 60_000, 60_000])
})

it('says of each file of which kind, session, name and size it is, and where it can be read', async () => {
  // A byte order mark is part of a name.
  const [captureName, videoName] = ['\ufeffa.action', '\ufeffconfirmed.mp4']
  const own = await startUnderTest()
  onTestFinished(() => own.close())
  const captureId = await openCaptureSession(own)
  await put((await register(own, captureId, [captureName]))[captureName]!, 'capture')
  const { sessionId, files } = await openVideoSession(own, [
    { bytes: 5, chunks: 1, name: videoName },
    { bytes: 4, chunks: 1, name: 'only sent.mp4' },
  ])
  for (const [index, bytes] of ['video', 'sent'].entries()) await put(files[index]!.urls[0]!, bytes)
  await confirmOn(own, sessionId, files[0]!.id, 'video')

  const { json } = await own.call('GET', '/stored')

  const created_at = new Date(START).toISOString()
  const url = expect.stringMatching(/^http/) as string
  expect(json).toEqual({
    items: [
      { kind: 'capture', session_id: captureId, file_name: captureName, size_bytes: 7, created_at, url },
      { kind: 'video', session_id: sessionId, file_name: videoName, size_bytes: 5, created_at, url },
    ],
    next: null,
  })
  const read = (json as { items: { url: string }[] }).items.map(async (item) => (await fetch(item.url)).text())
  expect(await Promise.all(read)).toEqual(['capture', 'video'])
})

it('is a hundred files where no limit is asked for', async () => {
  const own = await startUnderTest()
  onTestFinished(() => own.close())
  const names = Array.from({ length: 101 }, (_, index) => `${index}.action`)
  const addresses = await register(own, await openCaptureSession(own), names)
  await Promise.all(names.map((name) => put(addresses[name]!, 'x')))
  const page = async (query: string) => {
    const { items, next } = (await own.call('GET', `/stored${query}`)).json as Stored
    return { names: items.map(({ file_name }) => file_name), next }
  }

  const first = await page('')
  expect(first.names).toEqual(names.slice(0, 100))
  expect(await page(`?after=${first.next!}`)).toEqual({ names: ['100.action'], next: null })
})

it('asks a bucket for a hundred names at once and five hundred for a page, and goes on where it stopped', async () => {
  const bucket = await startScriptedBucket()
  onTestFinished(() => bucket.close())
  const keys = { accessKeyId: 'ACCESSKEY', secretAccessKey: 'secret-of-the-bucket' }
  const own = await startUnderTest({ s3: { endpoint: bucket.origin, bucket: 'recordings', keys } })
  onTestFinished(() => own.close())
  const names = Array.from({ length: 650 }, (_, index) => `${index}.action`)
  const addresses = await register(own, await openCaptureSession(own), names)
  for (const index of [0, 1, 649]) await put(addresses[names[index]!]!, 'x')
  const page = async (query: string) => {
    bucket.script()
    const { items, next } = (await own.call('GET', `/stored?${query}`)).json as Stored
    return { names: items.map(({ file_name }) => file_name), next, looked: bucket.count('head') }
  }
  const full = await page('limit=1')
  const sparse = await page(`limit=10&after=${full.next!}`)
  const last = await page(`limit=10&after=${sparse.next!}`)

  expect([full.names, full.looked]).toEqual([[names[0]], 100])
  expect([sparse.names, sparse.looked]).toEqual([[names[1]], 500])
  expect([last.names, last.next]).toEqual([[names[649]], null])
})

it('refuses an order that it does not know', async () => {
  expect((await service.call('GET', '/stored?order=oldest')).json).toMatchObject({
    error: { fields: [{ field: 'order', problem: 'expected "newest"' }] },
  })
})
