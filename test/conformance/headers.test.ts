// What every answer carries, and the answers to what is no operation or cannot be read.

import { gzipSync } from 'node:zlib'

import { describe, expect, it } from 'vitest'

import { answerTo, sendRaw } from './plain-http.ts'
import { call, isAbsent, nextCopy, target } from './service-calls.ts'

const open = (path: string) => call('GET', path, undefined, {})

describe.skipIf(isAbsent)('every answer', () => {
  it.each(['/healthz', '/readyz', '/players', '/nothing'])(
    'of %s gives a browser nothing to run, frame or guess',
    async (path) => {
      for (const { headers } of [await open(path), await call('GET', path)]) {
        expect(headers.get('content-security-policy')).toContain("default-src 'none'")
        expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
        expect(headers.get('x-content-type-options')).toBe('nosniff')
        expect(headers.get('referrer-policy')).toBe('no-referrer')
        expect(headers.get('access-control-allow-origin')).toBe('*')
        expect(headers.get('access-control-allow-credentials')).toBeNull()
        expect(headers.get('x-powered-by')).toBeNull()
        expect(headers.get('set-cookie')).toBeNull()
      }
    },
  )

  it('is for its caller alone: no cache on its way may keep records, addresses or an absence', async () => {
    for (const path of ['/requested_analyses', '/stored', '/requested_analyses/2147483647', '/readyz', '/nothing'])
      expect((await call('GET', path)).headers.get('cache-control')).toBe('no-store')
  })

  it('has a request id: the caller’s own where it does no harm', async () => {
    const given = await call('GET', '/players', undefined, { ...target().headers, 'x-request-id': 'conformance-1.2_3' })
    const odd = await call('GET', '/players', undefined, { ...target().headers, 'x-request-id': '{"a":1}' })

    expect(given.headers.get('x-request-id')).toBe('conformance-1.2_3')
    expect(odd.headers.get('x-request-id')).toMatch(/^[\w-]{8,}$/)
  })

  it('to a preflight lets pages send credentials and read what they need', async () => {
    const { status, headers } = await call('OPTIONS', '/upload_videos', undefined, {
      ...{ origin: 'https://app.example', 'access-control-request-method': 'PATCH' },
    })

    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, '*'])
    expect(headers.get('access-control-allow-methods')).toContain('PATCH')
    expect(headers.get('access-control-allow-headers')).toContain('x-api-key')
  })
})

describe.skipIf(isAbsent)('answers to what', () => {
  it('is no operation are 404, in JSON', async () => {
    for (const path of ['/nothing_here', '//', '/playersX', '/x/players']) {
      const { status, json } = await call('GET', path)
      expect([status, json]).toMatchObject([404, { error: { code: 'not_found' } }])
    }
  })

  it.each([
    ['PUT', '/upload_videos', 'PATCH, POST'],
    ['GET', '/upload_videos/7b0a5c1e-0000-4000-8000-000000000000', 'DELETE'],
    ['DELETE', '/requested_analyses/1?x=/submit', 'GET, HEAD, PATCH'],
    ['POST', '/requested_analyses/1/submit', 'PATCH'],
    ['POST', '/openapi.json', 'GET, HEAD'],
  ])('is no method of a path are 405 and name those that it has: %s %s', async (method, path, allowed) => {
    const { status, json, headers } = await call(method, path)

    expect([status, json, headers.get('allow')]).toMatchObject([405, { error: { code: 'wrong_method' } }, allowed])
  })

  it('is for nobody reads no body: a stranger sends as many of any size as he likes', async () => {
    const stranger = { 'content-type': 'application/json' }
    const answers = ['/nothing_here', '/healthz', '/upload_videos'].map((path, index) =>
      sendRaw(nextCopy(), { method: index === 2 ? 'OPTIONS' : 'POST', path, headers: stranger, body: '{"half' }),
    )

    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([404, 405, 204])
  })

  it('cannot be read are refusals that quote nothing', async () => {
    const { headers } = target()
    const notJson = await call('POST', '/mocap_session', '{"org_id": "conformance-')
    const typed = await sendRaw(nextCopy(), {
      ...{ method: 'POST', path: '/mocap_session', body: 'org_id=conformance' },
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    })
    const path = await sendRaw(nextCopy(), { method: 'GET', path: '/%zz?X-Amz-Signature=abc', headers })

    expect([notJson.status, notJson.json]).toMatchObject([422, { error: { code: 'invalid_request' } }])
    expect([415, 422]).toContain(typed.status)
    expect(path.status).toBe(400)
    for (const { text } of [notJson, typed, path]) expect(text).not.toMatch(/conformance|X-Amz|abc/)
  })

  it('have a compressed body are refused for that, whatever the call, and told what would be taken', async () => {
    const { headers } = target()
    const body = gzipSync('{}')
    const encoded = { ...headers, 'content-type': 'application/json', 'content-encoding': 'gzip' }
    for (const path of ['/mocap_session', '/upload_videos', '/player_group_segments']) {
      const answer = await answerTo(nextCopy() + path, { method: 'POST', headers: encoded, body })

      expect([answer.status, answer.json]).toMatchObject([415, { error: { code: 'invalid_request' } }])
      expect(answer.json).toMatchObject({ error: { message: expect.stringContaining('Content-Encoding') as string } })
      expect(answer.headers.get('accept-encoding')).toBe('identity')
    }
    const plain = { ...headers, 'content-type': 'application/json', 'content-encoding': 'identity' }
    expect((await answerTo(`${nextCopy()}/mocap_session`, { method: 'POST', headers: plain, body: '{}' })).status).toBe(
      422,
    )
  })

  it('supervisors ask need no credential', async () => {
    expect([(await open('/healthz')).status, (await open('/readyz')).status]).toEqual([200, 200])
    const { status, json } = await open('/openapi.json')
    expect([status, (json as { openapi: string }).openapi]).toEqual([200, '3.1.0'])
  })
})
