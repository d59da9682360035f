// A client that sends `Expect: 100-continue` waits with its body until it is invited, or never sends it.

import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'

import { afterAll, beforeAll, expect, it } from 'vitest'

import {
  API_KEY,
  openCaptureSession,
  openVideoSession,
  register,
  startUnderTest,
  type ServiceUnderTest,
} from '../service-under-test.ts'

let service: ServiceUnderTest
let address: string
beforeAll(async () => {
  service = await startUnderTest({ limits: { bodyBytes: 2_000 } })
  address = (await register(service, await openCaptureSession(service), ['a.action']))['a.action']!
})
afterAll(() => service.close())

/** Asks first, and sends the body only if it is invited. */
async function ask(method: string, url: string, { headers = {}, body = 'hello' }: Asked = {}): Promise<Reply> {
  const asking = request(url, {
    method,
    headers: { expect: '100-continue', 'content-length': Buffer.byteLength(body), ...headers },
  })
  let isInvited = false
  asking.once('continue', () => {
    isInvited = true
    asking.end(body)
  })
  asking.flushHeaders()
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  answer.resume()
  await once(answer, 'end')
  asking.destroy()
  return { isInvited, status: answer.statusCode, connection: answer.headers.connection }
}

interface Asked {
  readonly headers?: Record<string, string | number>
  readonly body?: string
}
interface Reply {
  readonly isInvited: boolean
  readonly status: number | undefined
  readonly connection: string | undefined
}

const JSON_CALL = { 'content-type': 'application/json', 'x-api-key': API_KEY }

it('is invited to send to a good address, or with a good credential', async () => {
  const session = JSON.stringify({ org_id: 'o', mocap_type_id: 2, session_date: '2026-11-20', session_type_id: 1 })

  expect(await ask('PUT', address)).toMatchObject({ isInvited: true, status: 200 })
  expect(await ask('POST', `${service.url}/mocap_session`, { headers: JSON_CALL, body: session })).toMatchObject({
    isInvited: true,
    status: 200,
  })
})

it('is refused before the body at an address that is forged, expired, or takes no such body', async () => {
  const { sessionId, files } = await openVideoSession(service, [{ bytes: 5, chunks: 1 }])
  await service.call('DELETE', `/upload_videos/${sessionId}`)
  const refused = (status: number) => ({ isInvited: false, status, connection: 'close' })

  expect(await ask('PUT', `${address}0`)).toEqual(refused(403))
  expect(await ask('PUT', address.replace(/\?.*/, ''))).toEqual(refused(403))
  expect(await ask('PUT', files[0]!.urls[0]!)).toEqual(refused(404))
  expect(await ask('PUT', address, { headers: { 'x-api-key': API_KEY } })).toEqual(refused(400))
  expect(await ask('PUT', address, { headers: { 'content-md5': 'none' } })).toEqual(refused(400))
  expect(await ask('PUT', address, { headers: { 'content-length': 6 * 1024 ** 3 } })).toEqual(refused(400))
  service.advance(3_600_001)
  expect(await ask('PUT', address)).toEqual(refused(403))
  service.advance(-3_600_001)
})

it('is refused before the body at a call without a credential, of too many bytes, or to nothing', async () => {
  const post = (path: string, asked: Asked) => ask('POST', service.url + path, asked)
  const refused = (status: number) => ({ isInvited: false, status, connection: 'close' })

  expect(await post('/mocap_session', { headers: { 'content-type': 'application/json' } })).toEqual(refused(403))
  expect(await post('/upload_videos', { headers: { ...JSON_CALL, 'x-api-key': 'other' } })).toEqual(refused(401))
  expect(await post('/mocap_session', { headers: JSON_CALL, body: ' '.repeat(2_001) })).toEqual(refused(413))
  const cancel = `${service.url}/upload_videos/nobody`
  expect(await ask('DELETE', cancel, { headers: JSON_CALL, body: ' '.repeat(2_001) })).toEqual(refused(413))
  expect(await post('/nowhere', { headers: JSON_CALL })).toEqual(refused(404))
})
