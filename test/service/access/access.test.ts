// Who may call the service, how it answers what it cannot read, and what its log never holds.

import { openAsBlob } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'

import { startService } from '../../../src/service/index.ts'
import { checkPeers } from '../../../src/service/peers.ts'
import { withKeptDatabases } from '../../helpers/kept-database.ts'
import {
  API_KEY,
  openCaptureSession,
  openVideoSession,
  put,
  rawStatus,
  register,
  startUnderTest,
  TOKEN,
  type ServiceUnderTest,
} from '../service-under-test.ts'

let service: ServiceUnderTest
const logLines: string[] = []
beforeAll(async () => {
  service = await startUnderTest({
    malformedStatus: 400,
    publicUrl: ' https://storage.example.test/base/? ',
    log: { write: (line) => void logLines.push(line) },
  })
})
afterAll(() => service.close())

describe('credentials', () => {
  it('are of one kind each: a key is no token, and none is the beginning of another', async () => {
    for (const headers of [
      { 'x-api-key': TOKEN },
      { 'x-api-key': `${API_KEY}x` },
      { authorization: `Bearer ${API_KEY}` },
    ])
      expect((await service.call('GET', '/players', undefined, headers)).status).toBe(403)
  })

  it.each([
    [{ 'x-api-key': API_KEY }],
    [{ authorization: `Bearer ${TOKEN}` }],
    [{ Authentication: `Bearer ${TOKEN}` }],
    [{ authorization: `bearer ${TOKEN}` }],
  ])('takes %j', async (headers) => {
    expect((await service.call('GET', '/requested_analyses', undefined, headers)).status).toBe(200)
    expect((await service.call('DELETE', '/upload_videos/nobody', undefined, headers)).status).toBe(404)
  })

  it('looks for a bearer only where it is told to', async () => {
    const narrow = await startUnderTest({ bearerHeaders: ['Authentication'] })
    try {
      const list = (headers: Record<string, string>) => narrow.call('GET', '/requested_analyses', undefined, headers)
      expect((await list({ authorization: `Bearer ${TOKEN}` })).status).toBe(403)
      expect((await list({ authentication: `Bearer ${TOKEN}` })).status).toBe(200)
      // An address takes none in any header.
      const { 'a.action': address } = await register(narrow, await openCaptureSession(narrow), ['a.action'])
      expect((await put(address!, 'x', { authorization: `Bearer ${TOKEN}` })).status).toBe(400)
    } finally {
      await narrow.close()
    }
  })

  it('are random, and returned, when none are given', async () => {
    const preparedDatabase = await openAsBlob(inject('preparedDatabase'))
    const own = await withKeptDatabases(() => startService({ port: 0, preparedDatabase }))
    try {
      const [key] = own.credentials.apiKeys
      expect(key).toMatch(/^[\w-]{32}$/)
      expect(own.credentials.accessTokens[0]).toMatch(/^[\w-]{32}$/)
      expect((await fetch(`${own.url}/players`, { headers: { 'x-api-key': key! } })).status).toBe(200)
    } finally {
      await own.close()
    }
  })
})

describe('answers', () => {
  it('to a malformed creation have the status that the host chose', async () => {
    const segment = await service.call('POST', '/player_group_segments', {})
    const video = await service.call('POST', '/upload_videos', {})

    expect([segment.status, video.status]).toEqual([400, 400])
    expect(segment.json).toEqual({
      message: 'The request is malformed: movement_type_id: is missing; dom_hand: is missing',
      errors: [
        { field: 'movement_type_id', problem: 'is missing' },
        { field: 'dom_hand', problem: 'is missing' },
      ],
    })
  })

  it('to what cannot be read are JSON, and quote nothing', async () => {
    const notJson = await service.call('POST', '/mocap_session', '{"org_id": "o')
    const notTyped = await service.call('POST', '/mocap_session', undefined, {
      'x-api-key': API_KEY,
      'content-type': 'text/plain',
    })

    expect([notJson.status, notJson.json]).toEqual([
      422,
      {
        error: {
          code: 'invalid_request',
          message: 'The request is malformed: the body is not JSON',
          fields: [{ field: '', problem: 'the body is not JSON' }],
        },
      },
    ])
    expect(notTyped.status).toBe(422)
    expect(await rawStatus(service.url, 'PUT', '/objects/%zz?X-Amz-Signature=abc')).toBe(400)
  })

  it.each([
    ['POST', '/mocap_session'],
    ['PATCH', '/upload_videos'],
    ['PATCH', '/player_group_segments/1'],
  ])('to a list or a text in place of an object say so: %s %s', async (method, path) => {
    for (const body of ['[]', '[{"org_id":"org-4"}]', '"text"', 'null']) {
      const { status, json } = await service.call(method, path, body)
      const fields = [{ field: '', problem: 'expected a JSON object' }]
      expect([status, json]).toMatchObject([422, { error: { code: 'invalid_request', fields } }])
    }
  })

  it('to a date or number of another kind say what is expected', async () => {
    const session = { org_id: 'org-4', mocap_type_id: 2, session_date: '20.11.2026', session_type_id: 1.5 }

    expect((await service.call('POST', '/mocap_session', session)).json).toMatchObject({
      error: {
        fields: [
          { field: 'session_date', problem: 'expected a date such as 2026-11-20' },
          { field: 'session_type_id', problem: 'expected an integer, at most 2^53 - 1' },
        ],
      },
    })
  })

  it('to a cancel do not depend on a body, which means nothing there', async () => {
    const { sessionId } = await openVideoSession(service, [{ bytes: 1, chunks: 1 }])

    expect((await service.call('DELETE', `/upload_videos/${sessionId}`, '{"broken')).status).toBe(200)
  })

  it('hold addresses under the public URL that the host gave', async () => {
    const names = await register(service, await openCaptureSession(service), ['a.action'])

    expect(names['a.action']).toMatch(/^https:\/\/storage\.example\.test\/base\/objects\/captures\//)
  })
})

describe('the log', () => {
  it('has a line per request, and no key, token, signature or file name in any', async () => {
    const { files } = await openVideoSession(service, [{ bytes: 1, chunks: 1, name: 'secret-name.mp4' }])
    const address = new URL(files[0]!.urls[0]!)
    const local = service.url + address.pathname.replace('/base', '') + address.search
    const signature = address.searchParams.get('X-Amz-Signature')!
    expect((await put(local, 'x')).status).toBe(200)
    expect((await put(local, 'x', { authorization: `Bearer ${TOKEN}` })).status).toBe(400)
    await rawStatus(service.url, 'PUT', `/objects/%zz?X-Amz-Signature=${signature}`)
    // What a client makes of an address that encodes it once more, or takes it for a path.
    for (const mark of ['%3F', '%253f', ';'])
      await rawStatus(service.url, 'PUT', address.pathname.replace('/base', '') + mark + address.search.slice(1))

    const log = logLines.join('')
    expect(log).toContain(`"path":"${address.pathname.replace('/base', '')}"`)
    for (const secret of [API_KEY, TOKEN, signature, 'X-Amz', 'secret-name']) expect(log).not.toContain(secret)
  })
})

describe('a page of another origin', () => {
  it('may send the bearer token in the headers in which it is looked for', async () => {
    const own = await startUnderTest({ bearerHeaders: ['X-Own-Token'] })
    onTestFinished(() => own.close())

    const { headers } = await own.call('OPTIONS', '/upload_videos', undefined, {})

    expect(headers.get('access-control-allow-headers')?.split(', ')).toContain('x-own-token')
  })
})

describe('startService', () => {
  it.each([
    ['port', { port: 70_000 }],
    ['addressLifeMs', { addressLifeMs: 0 }],
    ['addressLifeMs', { addressLifeMs: 8 * 86_400_000 }],
    ['credentials', { credentials: { apiKeys: [], accessTokens: [] } }],
    ['credentials', { credentials: { apiKeys: ['has a space'], accessTokens: [] } }],
    ['publicUrl', { publicUrl: 'ftp://host' }],
    ['publicUrl', { publicUrl: 'https://user:word@host' }],
    ['malformedStatus', { malformedStatus: 500 }],
    ['bodyIdleMs', { bodyIdleMs: 0 }],
    ['bearerHeaders', { bearerHeaders: ['x-token, x-other'] }],
    ['analysisCompletesAfterMs', { analysisCompletesAfterMs: NaN }],
    ['analysisCompletesAfterMs', { analysisCompletesAfterMs: -1 }],
    ['analysisCompletesAfterMs', { analysisCompletesAfterMs: 1e16 }],
    ['endSessionsAfterMs', { endSessionsAfterMs: Infinity }],
    ['endSessionsAfterMs', { endSessionsAfterMs: 1e16 }],
  ])('refuses a wrong %s before it opens anything', async (name, options) => {
    await expect(startService(options)).rejects.toThrow(`startService: ${name} must`)
  })

  it.each(['port', 'metricsPort'])('rejects when the %s is taken, before it makes anything on disk', async (name) => {
    const folder = await mkdtemp(join(tmpdir(), 'service-access-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const dataDir = join(folder, 'new')

    await expect(startService({ port: 0, [name]: service.port, dataDir })).rejects.toThrow('EADDRINUSE')

    expect(await readdir(folder)).toEqual([])
  })

  it('names the command to run when packages are missing', async () => {
    await expect(checkPeers(['fastify', 'not-a-package-of-anyone', '@not-anyone/either'])).rejects.toMatchObject({
      // The command tells it by its code, and not as a mistake of its own to report.
      code: 'ERR_SERVICE_PACKAGES',
      message:
        'The service needs packages that are not installed beside mocap-uplink. Where that is installed (with -g if it was so), run: ' +
        'npm install not-a-package-of-anyone @not-anyone/either',
    })
  })
})
