// The OpenAPI document says what the contract, the client and the service do, and is shown without any script.

import { readdir, readFile } from 'node:fs/promises'

import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { openApiDocument } from '../../../scripts/openapi-document.ts'
import { routes } from '../../../src/client/contract/routes.ts'
import { answerTo, API_KEY, openCaptureSession, startUnderTest, type ServiceUnderTest } from '../service-under-test.ts'

interface Described {
  readonly operationId: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly { readonly name: string }[]
  readonly responses: Readonly<Record<string, unknown>>
}
interface Document {
  readonly openapi: string
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

const root = new URL('../../../', import.meta.url)
const read = async (path: string): Promise<unknown> => JSON.parse(await readFile(new URL(path, root), 'utf8'))

let service: ServiceUnderTest
let committed: Document
beforeAll(async () => {
  service = await startUnderTest()
  committed = (await read('src/service/openapi.json')) as Document
})
afterAll(() => service.close())

/** A judge of bodies by the document's schemas: Fastify's validator, told to change nothing in order to please. */
const judge = fastify({
  ajv: { customOptions: { coerceTypes: false, useDefaults: false, removeAdditional: false, validateFormats: false } },
})

/** What is wrong with a body by the schema of that name; undefined when nothing is. */
async function problemWith(schema: string, body: unknown): Promise<string | undefined> {
  const url = `/${schema}`
  const payload = JSON.stringify(body)
  const reply = await judge.inject({ method: 'POST', url, payload, headers: { 'content-type': 'application/json' } })
  expect([200, 400]).toContain(reply.statusCode)
  return reply.statusCode === 200 ? undefined : reply.body
}

const titleOf = (operation: string, part: string): string =>
  operation.replace(/(?:^|\.)(.)/g, (_, first: string) => first.toUpperCase()) + part

describe('the OpenAPI document', () => {
  beforeAll(() => {
    // A parsed __proto__ is an ordinary field here, as it is at the service.
    judge.removeContentTypeParser('application/json')
    judge.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) =>
      done(null, JSON.parse(String(text))),
    )
    for (const [name, schema] of Object.entries(committed.components.schemas)) {
      judge.post(`/${name}`, { schema: { body: schema } }, () => 'right')
    }
  })
  afterAll(() => judge.close())

  it('that is committed is the one that the contract makes (npm run openapi)', async () => {
    const { version } = (await read('package.json')) as { version: string }

    expect(committed).toEqual(JSON.parse(JSON.stringify(openApiDocument(version))))
  })

  it('has every operation of the client, at its path, and each once', () => {
    for (const [name, { method, path }] of Object.entries(routes)) {
      expect(committed.paths[path]?.[method.toLowerCase()]?.operationId).toBe(name)
    }
    const ids = Object.values(committed.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('has the errors and the defaults that the interface shows', () => {
    for (const [name, { method, path }] of Object.entries(routes)) {
      const { responses } = committed.paths[path]![method.toLowerCase()]!
      expect(Object.keys(responses)).toEqual(
        expect.arrayContaining([/^videoUploads/.test(name) ? '401' : '403', '500']),
      )
    }
    const { MocapSessionFilesRegisterRequest: names, RequestedAnalysesCreateRequest: analysis } =
      committed.components.schemas
    expect(names).toMatchObject({ properties: { reprocess: { default: false } } })
    expect(analysis).toMatchObject({ properties: { status: { default: 'draft' } } })
  })

  it('has the refusal of a page that there is not', async () => {
    const paged = Object.entries(committed.paths).filter(([, { get }]) =>
      get?.parameters?.some(({ name }) => name === 'limit'),
    )
    expect(paged).toHaveLength(3)
    for (const [path, { get }] of paged) {
      const { status } = await service.call('GET', `${path}?limit=0`)
      expect(Object.keys(get!.responses)).toContain(String(status))
    }
  })

  it('takes the requests and replies that the client is held to, and no others', async () => {
    const folder = new URL('test/client/fixtures/', root)
    let judged = 0
    for (const file of await readdir(folder)) {
      const fixture = JSON.parse(await readFile(new URL(file, folder), 'utf8')) as {
        request: { method: string; path: string; body?: unknown }
        reply: { body?: unknown }
      }
      const operation = Object.keys(routes).find(
        (name) => file === `${name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}.json`,
      )!
      for (const [part, body] of [
        ['Request', fixture.request.body],
        ['Reply', fixture.reply.body],
      ] as const) {
        if (body === undefined || body === null || body === '') continue
        judged += 1
        expect(await problemWith(titleOf(operation, part), body)).toBeUndefined()
        expect(await problemWith(titleOf(operation, part), 'a text')).toBeDefined()
      }
    }
    expect(judged).toBeGreaterThan(15)
    const wrong = {
      files: [{ raw_file_name: 'a/b.mp4', file_size_bytes: 1, number_of_chunks: 1 }],
      movement_type_id: 1,
    }
    const rest = { player_id: 'p', session_date: '2026-11-20', session_type_id: 1 }
    expect(await problemWith('VideoUploadsCreateRequest', { ...wrong, ...rest })).toContain('raw_file_name')
    expect(await problemWith('VideoUploadsCreateRequest', { ...rest, files: [], movement_type_id: 1 })).toContain(
      'files',
    )
  })

  it('describes what the service answers, and nothing that it does not have', async () => {
    const id = await openCaptureSession(service)
    const registered = await service.call('POST', '/mocap_session_file', { session_id: id, filenames: ['a.action'] })
    const refused = await service.call('POST', '/mocap_session', {})
    expect(await problemWith('MocapSessionFilesRegisterReply', registered.json)).toBeUndefined()
    const malformed = await service.call('POST', '/upload_videos', {})
    expect(await problemWith('Error', refused.json)).toBeUndefined()
    expect(await problemWith('Malformed', malformed.json)).toBeUndefined()
    for (const [path, methods] of Object.entries(committed.paths)) {
      for (const method of Object.keys(methods)) {
        const { text } = await service.call(method.toUpperCase(), path.replace(/\{[^}]*\}/, '1'))
        expect(text, `${method} ${path}`).not.toContain('no such operation')
      }
    }
  })

  const answering = (status: string): string[] =>
    Object.entries(committed.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { responses }]) => status in responses)
        .map(([method]) => `${method} ${path}`),
    )

  it('says of each operation that names a record, and of no other, that there may be no such record', () => {
    expect(answering('404').toSorted()).toEqual([
      'delete /upload_videos/{upload_session_id}',
      'get /requested_analyses/{requested_analysis_id}',
      'patch /player_group_segments/{player_group_segment_id}',
      'patch /requested_analyses/{requested_analysis_id}',
      'patch /requested_analyses/{requested_analysis_id}/submit',
      'patch /upload_videos',
      'post /mocap_session_file',
    ])
  })

  it('says of those that what is there may forbid, and of no other, that it may', () => {
    expect(answering('409').toSorted()).toEqual([
      'patch /player_group_segments/{player_group_segment_id}',
      'patch /requested_analyses/{requested_analysis_id}',
      'patch /upload_videos',
      'post /mocap_session_file',
      'post /upload_videos',
    ])
  })

  it('has what is answered to a Content-Type that cannot be read', async () => {
    for (const [path, methods] of Object.entries(committed.paths))
      for (const [method, { responses }] of Object.entries(methods)) {
        if (method === 'get') continue
        const at = path.replace(/\{.*?\}/g, '1')
        const headers = { 'x-api-key': API_KEY, 'content-type': 'not one' }
        const { status } = await answerTo(service.url + at, { method: method.toUpperCase(), headers, body: 'x' })
        expect([method, path, Object.keys(responses)]).toEqual([method, path, expect.arrayContaining([String(status)])])
      }
  })

  it('says that names are not registered twice, unless to be sent again', async () => {
    const { description } = committed.paths['/mocap_session_file']!['post'] as { description?: string }
    const body = { session_id: await openCaptureSession(service), filenames: ['a.action'] }
    const register = async (extra: object) =>
      (await service.call('POST', '/mocap_session_file', { ...body, ...extra })).status

    expect(description).toBe('A repetition is refused with 409 (`duplicate_file`), unless `reprocess` is true.')
    expect([await register({}), await register({}), await register({ reprocess: true })]).toEqual([200, 409, 200])
  })

  it.each(['/healthz', '/readyz'])('has what supervisors ask, which needs no credential: %s', async (path) => {
    const { security, responses } = committed.paths[path]!['get']!

    expect(security).toEqual([])
    expect(Object.keys(responses)).toContain(String((await service.call('GET', path, undefined, {})).status))
  })

  it.each(['https://service.example/', 'https://proxy.example/below/a/path/'])(
    'names the service where the document is, also below a path of a proxy: %s',
    (place) => {
      expect(committed.servers.map(({ url }) => new URL(url, `${place}openapi.json`).href)).toEqual([place])
    },
  )

  it('is served to anybody as it is committed, and shown on a page that runs nothing', async () => {
    const served = await service.call('GET', '/openapi.json', undefined, {})
    const page = await service.call('GET', '/docs', undefined, {})

    expect(served.json).toEqual(committed)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]{43}='; /)
    expect(page.text).not.toMatch(/<script|\son\w+=|https?:\/\//)
    for (const path of Object.keys(committed.paths)) expect(page.text).toContain(path)
  })
})
