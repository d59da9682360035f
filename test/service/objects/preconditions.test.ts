// What a request to an object demands in its head is kept or refused, and never passed over in silence.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import {
  answerTo,
  openCaptureSession,
  put,
  register,
  startUnderTest,
  type ServiceUnderTest,
} from '../service-under-test.ts'

const ETAG = '"5d41402abc4b2a76b9719d911017c592"'

let service: ServiceUnderTest
let address: string
let reading: string
beforeAll(async () => {
  service = await startUnderTest()
  address = (await register(service, await openCaptureSession(service), ['a.action']))['a.action']!
  await put(address, 'hello')
  reading = ((await service.call('GET', '/stored')).json as { items: { url: string }[] }).items[0]!.url
})
afterAll(() => service.close())

const read = (headers: Record<string, string>) => answerTo(reading, { headers })

describe('a PUT that demands more than to be stored', () => {
  it.each([
    { 'if-none-match': '*' },
    { 'if-match': '"0"' },
    { 'if-unmodified-since': 'Fri, 20 Nov 2026 12:00:00 GMT' },
    { 'x-amz-copy-source': '/bucket/key' },
    { 'content-encoding': 'gzip, aws-chunked' },
  ])('is refused, and replaces nothing: %o', async (headers) => {
    const { status, text } = await put(address, 'other', headers)

    expect([status, text]).toEqual([501, expect.stringContaining('<Code>NotImplemented</Code>')])
    expect((await read({})).text).toBe('hello')
  })

  it('is stored if its body is only compressed', async () => {
    expect((await put(address, 'hello', { 'content-encoding': 'gzip' })).status).toBe(200)
  })
})

describe('a read', () => {
  it.each([ETAG, `"0", W/${ETAG}`, '*'])('of what the reader has already is 304 without bytes: %s', async (known) => {
    const { status, headers, text } = await read({ 'if-none-match': known })

    expect([status, headers.get('etag'), text]).toEqual([304, ETAG, ''])
  })

  it.each<Record<string, string>>([
    { 'if-match': '"0"' },
    { 'if-match': `W/${ETAG}` },
    { 'if-match': '"0"', 'if-none-match': ETAG },
  ])('of another object than the reader wants is 412, whatever he has: %o', async (headers) => {
    const { status, text } = await read(headers)

    expect([status, text]).toEqual([412, expect.stringContaining('<Code>PreconditionFailed</Code>')])
  })

  it('of the object that the reader wants, or has not, is all of it', async () => {
    for (const headers of [{ 'if-match': `"0",${ETAG}` }, { 'if-match': '*' }, { 'if-none-match': '"0"' }])
      expect(await read(headers)).toMatchObject({ status: 200, text: 'hello' })
  })
})
