// Whatever comes in, at whatever route, on either database: the service never fails, and nothing is ever half made.

import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { PGlite } from '@electric-sql/pglite'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'

import { newDatabase, queryOnce } from '../helpers/postgres-server.ts'
import { API_KEY, startUnderTest, type ServiceUnderTest } from './service-under-test.ts'

const server = inject('postgres')

const SESSION = { org_id: 'org-4', mocap_type_id: 2, session_date: '2026-11-20', session_type_id: 1 }
const FILE = { raw_file_name: 'a.mp4', file_size_bytes: 9, number_of_chunks: 3, file_id: 1, frame_rate: 240 }
const VIDEO = { files: [FILE], movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20', session_type_id: 2 }
const SEGMENT = { movement_type_id: 1, dom_hand: 'RHA', org_movement_ids: ['m-1'] }
const UUID = '0b6a5e0e-6a53-4f4e-9a55-0a8f0f3f6f10'

describe.each([
  { engine: 'PGlite', url: undefined, isThere: true },
  { engine: 'PostgreSQL', url: server, isThere: server !== undefined },
])('on $engine, fuzzed requests', ({ engine, url, isThere }) => {
  let service: ServiceUnderTest
  let dataDir: string
  let databaseUrl: string | undefined
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  /** What was answered as made. */
  const made = {
    mocap_sessions: 0,
    mocap_session_files: 0,
    player_group_segments: 0,
    video_sessions: 0,
    video_files: 0,
  }

  beforeAll(async () => {
    if (!isThere) return
    dataDir = await mkdtemp(join(tmpdir(), 'service-fuzz-'))
    databaseUrl = url === undefined ? undefined : await newDatabase(url)
    service = await startUnderTest({ dataDir, ...(databaseUrl === undefined ? {} : { databaseUrl }) })
  })
  afterAll(async () => {
    if (!isThere) return
    agent.destroy()
    await service.close()
    await rm(dataDir, { recursive: true })
  })

  /** Sends the target and the bytes exactly as they are. */
  async function send(
    method: string,
    path: string,
    body?: Uint8Array | string,
  ): Promise<{ status: number; text: string }> {
    const { hostname, port } = new URL(service.url)
    const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const length = body === undefined ? 0 : Buffer.byteLength(body)
      const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json', 'content-length': String(length) }
      const message = request({ hostname, port, method, path, headers, agent }, (reply) => {
        const chunks: Buffer[] = []
        reply.on('data', (chunk: Buffer) => chunks.push(chunk))
        reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
        reply.on('error', reject)
      })
      message.on('error', reject)
      message.end(body)
    })
    count(method, path, answer)
    return answer
  }

  function count(method: string, path: string, { status, text }: { status: number; text: string }): void {
    if (method !== 'POST' || status !== 200) return
    const json = JSON.parse(text) as Record<string, unknown>
    if ('errors' in json) return
    if (path === '/mocap_session') made.mocap_sessions += 1
    if (path === '/mocap_session_file') made.mocap_session_files += Object.keys(json).length
    if (path === '/player_group_segments') made.player_group_segments += 1
    if (path !== '/upload_videos') return
    made.video_sessions += 1
    made.video_files += (json['pre_signed_urls'] as unknown[]).length
  }

  /** An answer that is no failure, in a form that a client can read. */
  function expectAnswer({ status, text }: { status: number; text: string }): void {
    expect(status).toBeGreaterThanOrEqual(200)
    expect(status, text).toBeLessThan(500)
    expect(text).toMatch(/^[{[<]/)
  }

  /** The sessions, segments and files that the bodies speak of, so that some of them are about something that exists. */
  async function prepare() {
    const json = async (path: string, body: object) =>
      JSON.parse((await send('POST', path, JSON.stringify(body))).text) as Record<string, unknown>
    const { id } = await json('/mocap_session', SESSION)
    const { analysis_segment_id: segment } = await json('/player_group_segments', SEGMENT)
    const video = await json('/upload_videos', VIDEO)
    const [file] = video['pre_signed_urls'] as { session_file_id: number }[]
    const analysis = { name: 'n', primary_analysis_segment_id: segment, status: 'draft' }
    const confirm = {
      upload_session_id: video['upload_session_id'],
      affected_file_id: file!.session_file_id,
      file_part_info: [{ etag: 'e', part_number: 1 }],
      upload_successful: true,
    }
    return [
      ['POST', '/mocap_session', SESSION],
      ['POST', '/mocap_session_file', { session_id: id, filenames: ['a.action', 'b.action'], reprocess: true }],
      ['POST', '/player_group_segments', SEGMENT],
      ['PATCH', '/player_group_segments/1', SEGMENT],
      ['POST', '/requested_analyses', analysis],
      ['PATCH', '/requested_analyses/1', analysis],
      ['PATCH', '/requested_analyses/1/submit', {}],
      ['POST', '/upload_videos', VIDEO],
      ['PATCH', '/upload_videos', confirm],
      ['DELETE', `/upload_videos/${UUID}`, {}],
    ] as const
  }

  it.skipIf(!isThere)(
    'with any value in the place of any field are answered, never failed',
    { timeout: 180_000 },
    async () => {
      const calls = await prepare()
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...calls), spoilings, async ([method, path, body], spoil) => {
          expectAnswer(await send(method, path, spoil(body)))
        }),
        { numRuns: 400 },
      )
    },
  )

  it.skipIf(!isThere)('at any path with any query are answered, never failed', { timeout: 180_000 }, async () => {
    // Each odd id at each place that takes one: chance alone comes by too seldom.
    for (const place of ['player_group_segments', 'requested_analyses', 'upload_videos']) {
      for (const odd of ODD_IDS) {
        for (const method of ['GET', 'PATCH', 'DELETE']) {
          const { status, text: said } = await send(method, `/${place}/${odd}`)
          expect(status, `${method} /${place}/${odd}: ${said}`).toBeLessThan(500)
        }
      }
    }
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE', 'PUT'), targets, async (method, target) => {
        const answer = await send(method, target)
        expect(answer.status).toBeGreaterThanOrEqual(200)
        expect(answer.status, answer.text).toBeLessThan(500)
      }),
      { numRuns: 300 },
    )
  })

  it.skipIf(!isThere)('of the largest sizes are taken whole or refused whole', { timeout: 180_000 }, async () => {
    const files = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...FILE, raw_file_name: `${index}.mp4`, file_id: index }))
    const video = (count: number) => send('POST', '/upload_videos', JSON.stringify({ ...VIDEO, files: files(count) }))
    const many = await video(10_000)
    expect((JSON.parse(many.text) as { pre_signed_urls: unknown[] }).pre_signed_urls).toHaveLength(10_000)
    expect((await video(10_001)).text).toContain('too_many_files')
    const long = { ...FILE, file_size_bytes: 10_000, number_of_chunks: 10_000 }
    const longs = Array.from({ length: 11 }, (_, index) => ({ ...long, file_id: index }))
    // More addresses than one answer holds.
    const addresses = await send('POST', '/upload_videos', JSON.stringify({ ...VIDEO, files: longs }))
    expect(addresses.text).toContain('expected at most 100000')

    const { id } = JSON.parse((await send('POST', '/mocap_session', JSON.stringify(SESSION))).text) as { id: string }
    const names = (count: number) => Array.from({ length: count }, (_, index) => `${index}.action`)
    const register = (filenames: string[]) =>
      send('POST', '/mocap_session_file', JSON.stringify({ session_id: id, filenames }))
    expect((await register(names(10_001))).status).toBe(422)
    // The last name is taken already: none of the others is registered.
    expect((await register(['9999.action'])).status).toBe(200)
    expect((await register(names(10_000))).status).toBe(409)

    for (const depth of [33, 1_000_000]) {
      const deep = await send('POST', '/mocap_session', '['.repeat(depth) + ']'.repeat(depth))
      expect([deep.status, deep.text]).toEqual([422, expect.stringContaining('nested more than 32 levels deep')])
    }
    const large = await send(
      'POST',
      '/mocap_session',
      JSON.stringify({ ...SESSION, org_id: 'x'.repeat(17 * 1024 ** 2) }),
    ).catch(() => ({ status: 413 }))
    expect(large.status).toBe(413)
    const garbled = Buffer.from(JSON.stringify({ ...SESSION, org_id: 'é' }), 'latin1')
    expect((await send('POST', '/mocap_session', garbled)).text).toContain('the body is not UTF-8')
  })

  it.skipIf(!isThere)('leave nothing half made: the tables hold exactly what was answered as made', async () => {
    expect(Object.values(made).every((total) => total > 0)).toBe(true)
    await service.close()
    const database = engine === 'PGlite' ? await PGlite.create({ dataDir: join(dataDir, 'db') }) : undefined
    const rows = async (statement: string): Promise<Record<string, unknown>[]> =>
      database === undefined
        ? await queryOnce(databaseUrl!, statement)
        : (await database.query<Record<string, unknown>>(statement)).rows
    const totals: Record<string, number> = {}
    for (const table of Object.keys(made)) {
      totals[table] = Number((await rows(`select count(*) as total from ${table}`))[0]!['total'])
    }
    // Registering again what is registered makes no row: names are counted by session below.
    const { mocap_session_files: registered, ...counted } = made
    expect(registered).toBeGreaterThanOrEqual(totals['mocap_session_files']!)
    expect(totals).toMatchObject(counted)
    expect(
      await rows(
        'select id from video_sessions s where not exists (select 1 from video_files f where f.session_id = s.id)',
      ),
    ).toEqual([])
    await database?.close()
  })
})

const text = fc.oneof(
  fc.constantFrom('', '\0', 'a\0b', '\ud800', '\udfff.mp4', '../x', '.', '2026-02-30', '2026-11-20', '١', '1e9', UUID),
  fc.constantFrom("'; drop table objects; --", '%00', '\u202e', 'x'.repeat(3_000), '\u{1f3c0}'.repeat(600)),
  fc.string({ unit: 'binary' }),
)
const number = fc.oneof(
  fc.constantFrom(0, -0, -1, 0.5, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 63, 1e308, -1e308, 5e-324),
  fc.integer(),
)
/** Texts and numbers that have broken a service somewhere, lists, objects, and anything else that JSON can say. */
const value: fc.Arbitrary<unknown> = fc.oneof(
  text,
  number,
  fc.constantFrom(null, true, false, [], {}, [[]], [null], { length: 3 }),
  fc.array(fc.oneof(text, number), { maxLength: 5 }),
  fc.jsonValue({ maxDepth: 4 }),
)

type Spoiling = (body: object) => Uint8Array | string

/** Puts a value in the place of one of the body's fields at any depth, takes one away, adds one, or spoils the bytes. */
const spoilings: fc.Arbitrary<Spoiling> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(fc.nat(), value).map(
      ([place, put]): Spoiling =>
        (body) =>
          replaced(body, place, put),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat().map(
      (place): Spoiling =>
        (body) =>
          replaced(body, place, undefined),
    ),
  },
  {
    weight: 1,
    arbitrary: value.map(
      (put): Spoiling =>
        (body) =>
          JSON.stringify({ ...body, extra: put, ['__proto__']: put }),
    ),
  },
  {
    weight: 1,
    arbitrary: value.map(
      (put): Spoiling =>
        () =>
          JSON.stringify(put),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 6 })).map(([at, bytes]): Spoiling => (body) => {
      const whole = Buffer.from(JSON.stringify(body))
      whole.set(bytes.subarray(0, whole.length), at % Math.max(1, whole.length - bytes.length))
      return whole
    }),
  },
  {
    weight: 1,
    arbitrary: fc.uint8Array({ maxLength: 50 }).map(
      (bytes): Spoiling =>
        () =>
          bytes,
    ),
  },
  // What is right is in the mix, so that the wrong meets a database with something in it.
  { weight: 1, arbitrary: fc.constant<Spoiling>((body) => JSON.stringify(body)) },
)

/** The text of the body with one of all its fields, at any depth, replaced by a value, or left out. */
function replaced(body: object, place: number, put: unknown): string {
  const copy = JSON.parse(JSON.stringify(body)) as Record<string, unknown>
  const places: { holder: Record<string, unknown>; name: string }[] = []
  const look = (holder: Record<string, unknown>): void => {
    for (const [name, inner] of Object.entries(holder)) {
      places.push({ holder, name })
      if (typeof inner === 'object' && inner !== null) look(inner as Record<string, unknown>)
    }
  }
  look(copy)
  const chosen = places[place % Math.max(1, places.length)]
  if (chosen !== undefined) chosen.holder[chosen.name] = put
  return JSON.stringify(copy)
}

const ODD_IDS = [
  ...['0', '1', '-1', '2147483647', '2147483648', '9999999999', '99999999999999999999', '1e3', '%00', '%ff', 'submit'],
  ...['%e2%80%ae', '..%2f..', UUID, `${UUID.slice(1)}%00`, 'x'.repeat(201), '%zz', '%'],
]
const id = fc.constantFrom(...ODD_IDS)
const queried = fc.oneof(
  fc.constantFrom('', '0', '-1', '1', '1e3', '1000', '10001', '%00', '%ff', 'capture-1', 'video-x'),
  fc.base64String(),
)
const cursor = fc
  .array(fc.oneof(value, number), { maxLength: 3 })
  .map((values) => Buffer.from(JSON.stringify(values)).toString('base64url'))
const targets = fc.oneof(
  fc
    .tuple(fc.constantFrom('/player_group_segments/', '/requested_analyses/', '/upload_videos/'), id)
    .map((two) => two.join('')),
  id.map((one) => `/requested_analyses/${one}/submit`),
  fc
    .tuple(fc.constantFrom('/stored', '/sessions', '/requested_analyses'), queried, fc.oneof(queried, cursor))
    .map(([path, limit, after]) => `${path}?limit=${limit}&after=${after}&limit=${limit}`),
  fc
    .tuple(fc.constantFrom('/stored', '/sessions', '/requested_analyses'), cursor)
    .map(([path, after]) => `${path}?after=${after}`),
  fc.tuple(id, id).map(([one, two]) => `/objects/videos/${one}/${two}?partNumber=${two}&X-Amz-Signature=${one}`),
  fc.constantFrom('/', '//', '/%00', '/upload_videos', '/mocap_session', '/healthz?x', '/objects/', '/__proto__'),
)
