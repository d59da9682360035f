// Two organisations at one service: call by call, what belongs to one is for the other what does not exist.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { openAsBlob } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'

import { routes } from '../../src/client/contract/routes.ts'
import { newDatabase } from '../helpers/postgres-server.ts'
import { openKeyRing, type ApiKeyRecord } from '../../src/service/index.ts'
import {
  openVideoSession,
  put,
  register,
  startUnderTest,
  type Answer,
  type ServiceUnderTest,
} from './service-under-test.ts'

const NOBODY = '00000000-0000-4000-8000-000000000000'
const UNKNOWN = 2_000_000_000

let dataDir: string
let service: ServiceUnderTest
let mine: ApiKeyRecord & { key: string }
let theirs: ApiKeyRecord & { key: string }
let revoked: ApiKeyRecord & { key: string }
const logLines: string[] = []

const as =
  (key: () => string) =>
  (method: string, path: string, body?: unknown): Promise<Answer> =>
    service.call(method, path, body, { 'x-api-key': key() })
const asMine = as(() => mine.key)
const asTheirs = as(() => theirs.key)

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'service-organisations-'))
  // A copy of the prepared database, made by a service that has never had a key.
  const preparedDatabase = await openAsBlob(inject('preparedDatabase'))
  await (await startUnderTest({ dataDir, preparedDatabase })).close()
  const ring = await openKeyRing({ dataDir })
  mine = await ring.create('org-mine', 'capture room')
  theirs = await ring.create('org-theirs', 'ballpark')
  revoked = await ring.create('org-mine', 'lost laptop')
  await ring.revoke(revoked.id)
  await ring.close()
  service = await startUnderTest({
    dataDir,
    credentials: 'managed',
    log: { write: (line) => void logLines.push(line) },
  })
})
afterAll(async () => {
  await service.close()
  await rm(dataDir, { recursive: true })
})

describe('API keys', () => {
  it('are in the database as digests only, and in no line of the log', async () => {
    await asMine('GET', '/players')
    const secret = mine.key.split('_').slice(2).join('_')
    expect(secret).toHaveLength(43)
    for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const bytes = await readFile(join(entry.parentPath, entry.name))
      expect([entry.name, bytes.includes(secret)]).toEqual([entry.name, false])
    }
    expect(logLines.join('')).not.toContain(secret)
  })

  it('open nothing when they are revoked, cut, joined of two, or in the place of a token', async () => {
    const statusOf = async (headers: Record<string, string>) =>
      (await service.call('GET', '/requested_analyses', undefined, headers)).status
    const [prefix, , ...rest] = mine.key.split('_')

    expect(await statusOf({ 'x-api-key': mine.key })).toBe(200)
    for (const key of [
      revoked.key,
      mine.key.slice(0, -1),
      `${mine.key}x`,
      mine.key.toUpperCase(),
      [prefix, theirs.id, ...rest].join('_'),
      [prefix, '0'.repeat(16), ...rest].join('_'),
      mine.id,
    ]) {
      expect(await statusOf({ 'x-api-key': key })).toBe(403)
    }
    expect(await statusOf({ authorization: `Bearer ${mine.key}` })).toBe(403)
  })

  it('are listed without what opens anything, and are of an organisation and have a name', async () => {
    await service.close()
    const ring = await openKeyRing({ dataDir })
    const list = await ring.list()
    const again = await ring.revoke(revoked.id)
    const unknown = await ring.revoke('0'.repeat(16))
    for (const text of ['', ' ', 'a\nb', 'x'.repeat(257)]) {
      await expect(ring.create(text, 'name')).rejects.toThrow('The organisation of a key must be')
      await expect(ring.create('org', text)).rejects.toThrow('The name of a key must be')
    }
    const afterwards = await ring.list()
    await ring.close()
    service = await startUnderTest({
      dataDir,
      credentials: 'managed',
      log: { write: (line) => void logLines.push(line) },
    })

    expect(list.map(({ id }) => id).sort()).toEqual([mine.id, theirs.id, revoked.id].sort())
    expect({ ...list.find(({ id }) => id === mine.id), key: mine.key }).toEqual(mine)
    expect([again, unknown]).toEqual([true, false])
    expect(afterwards).toEqual(list)
    expect(service.credentials).toEqual({ apiKeys: [], accessTokens: [] })
  })

  it('are kept by one process where the database is embedded, and need to be told where', async () => {
    await expect(openKeyRing({ dataDir })).rejects.toMatchObject({ code: 'ERR_SERVICE_DATA_IN_USE' })
    await expect(openKeyRing({})).rejects.toThrow('dataDir or databaseUrl')
  })
})

const server = inject('postgres')
describe.skipIf(server === undefined)('API keys in a PostgreSQL server', () => {
  it('are made and revoked beside a running service, for the next call with them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'service-keys-'))
    const databaseUrl = await newDatabase(server!)
    const at = await startUnderTest({ dataDir: folder, databaseUrl, credentials: 'managed' })
    const ring = await openKeyRing({ databaseUrl })
    try {
      const { id, key } = await ring.create('org-new', 'beside')
      const list = async () => (await at.call('GET', '/requested_analyses', undefined, { 'x-api-key': key })).status

      expect(await list()).toBe(200)
      expect(await ring.revoke(id)).toBe(true)
      expect(await list()).toBe(403)
    } finally {
      await ring.close()
      await at.close()
      await rm(folder, { recursive: true })
    }
  })
})

interface Holdings {
  readonly sessionId: string
  readonly segmentId: number
  readonly analysisId: number
  readonly videoId: string
  readonly fileId: number
  readonly etag: string
}

/** One of everything, with bytes. */
async function holdingsOf(call: typeof asMine, orgId: string): Promise<Holdings> {
  const at = { ...service, call }
  const session = await call('POST', '/mocap_session', {
    ...{ org_id: orgId, mocap_type_id: 2, session_date: '2026-11-20', session_type_id: 1 },
  })
  const sessionId = (session.json as { id: string }).id
  const names = await register(at, sessionId, [`${orgId}.action`])
  await put(names[`${orgId}.action`]!, orgId)
  const segment = await call('POST', '/player_group_segments', { movement_type_id: 1, dom_hand: 'RHA' })
  const segmentId = (segment.json as { analysis_segment_id: number }).analysis_segment_id
  const analysis = await call('POST', '/requested_analyses', { name: orgId, primary_analysis_segment_id: segmentId })
  const analysisId = (analysis.json as { id: number }).id
  const video = await openVideoSession(at, [{ bytes: 1, chunks: 1, name: `${orgId}.mp4` }])
  const stored = await put(video.files[0]!.urls[0]!, 'v')
  const etag = stored.headers.get('etag')!
  return { sessionId, segmentId, analysisId, videoId: video.sessionId, fileId: video.files[0]!.id, etag }
}

describe('another organisation', () => {
  let held: Holdings
  let own: Holdings
  beforeAll(async () => {
    held = await holdingsOf(asTheirs, 'org-theirs')
    own = await holdingsOf(asMine, 'org-mine')
  })

  const segmentUse = (field: string) => (id: unknown) =>
    asMine('POST', '/requested_analyses', { name: 'n', primary_analysis_segment_id: own.segmentId, [field]: id })
  const segmentChange = (field: string) => (id: unknown) =>
    asMine('PATCH', `/requested_analyses/${own.analysisId}`, { [field]: id })
  const confirm = (extra: object) =>
    asMine('PATCH', '/upload_videos', {
      ...{ affected_file_id: held.fileId, upload_session_id: held.videoId, upload_successful: true },
      file_part_info: [{ etag: held.etag, part_number: 1 }],
      ...extra,
    })

  /** Every place of an operation in which an id travels: the call with that id, their id, one that nobody has. */
  const places: [string, (id: unknown) => Promise<Answer>, () => unknown, unknown][] = [
    [
      'mocapSessions.create: org_id',
      (id) =>
        asMine('POST', '/mocap_session', {
          ...{ org_id: id, mocap_type_id: 2, session_date: '2026-11-20', session_type_id: 1 },
        }),
      () => 'org-theirs',
      'org-of-nobody',
    ],
    [
      'mocapSessionFiles.register: session_id',
      (id) =>
        asMine('POST', '/mocap_session_file', { session_id: id, filenames: ['org-theirs.action'], reprocess: true }),
      () => held.sessionId,
      NOBODY,
    ],
    [
      'playerGroupSegments.update: id',
      (id) => asMine('PATCH', `/player_group_segments/${String(id)}`, { dom_hand: 'LHA' }),
      () => held.segmentId,
      UNKNOWN,
    ],
    ['requestedAnalyses.create: primary', segmentUse('primary_analysis_segment_id'), () => held.segmentId, UNKNOWN],
    [
      'requestedAnalyses.create: comparison',
      segmentUse('comparison_analysis_segment_id'),
      () => held.segmentId,
      UNKNOWN,
    ],
    [
      'requestedAnalyses.create: population',
      segmentUse('population_analysis_segment_id'),
      () => held.segmentId,
      UNKNOWN,
    ],
    [
      'requestedAnalyses.get: id',
      (id) => asMine('GET', `/requested_analyses/${String(id)}`),
      () => held.analysisId,
      UNKNOWN,
    ],
    [
      'requestedAnalyses.update: id',
      (id) => asMine('PATCH', `/requested_analyses/${String(id)}`, { name: 'taken' }),
      () => held.analysisId,
      UNKNOWN,
    ],
    ['requestedAnalyses.update: primary', segmentChange('primary_analysis_segment_id'), () => held.segmentId, UNKNOWN],
    [
      'requestedAnalyses.update: comparison',
      segmentChange('comparison_analysis_segment_id'),
      () => held.segmentId,
      UNKNOWN,
    ],
    [
      'requestedAnalyses.update: population',
      segmentChange('population_analysis_segment_id'),
      () => held.segmentId,
      UNKNOWN,
    ],
    [
      'requestedAnalyses.submit: id',
      (id) => asMine('PATCH', `/requested_analyses/${String(id)}/submit`),
      () => held.analysisId,
      UNKNOWN,
    ],
    ['videoUploads.confirm: session', (id) => confirm({ upload_session_id: id }), () => held.videoId, NOBODY],
    [
      'videoUploads.confirm: file',
      (id) => confirm({ upload_session_id: own.videoId, affected_file_id: id }),
      () => held.fileId,
      UNKNOWN,
    ],
    [
      'videoUploads.confirm: failed',
      (id) => confirm({ upload_session_id: id, upload_successful: false }),
      () => held.videoId,
      NOBODY,
    ],
    ['videoUploads.cancel: id', (id) => asMine('DELETE', `/upload_videos/${String(id)}`), () => held.videoId, NOBODY],
  ]

  it.each(places)(
    'is told of %s exactly what it is told of an id of nobody',
    async (_place, call, theirId, nobodys) => {
      const ofTheirs = await call(theirId())
      const ofNobody = await call(nobodys)

      expect(ofTheirs.status).toBeGreaterThanOrEqual(400)
      expect(ofTheirs.status).toBe(ofNobody.status)
      expect(ofTheirs.text.replaceAll(String(theirId()), 'ID')).toBe(ofNobody.text.replaceAll(String(nobodys), 'ID'))
    },
  )

  it.each([
    ['/requested_analyses', 'requested_analyses'],
    ['/requested_analyses?limit=1000', 'requested_analyses'],
    ['/sessions', 'sessions'],
    ['/sessions?limit=1000', 'sessions'],
    ['/stored', 'items'],
    ['/stored?limit=1000&after=capture-0', 'items'],
    ['/stored?after=video-0', 'items'],
  ])('sees nothing of it in %s', async (path, list) => {
    await asTheirs('PATCH', '/upload_videos', {
      ...{ affected_file_id: held.fileId, upload_session_id: held.videoId, upload_successful: true },
      file_part_info: [{ etag: held.etag, part_number: 1 }],
    })
    const seen = await asMine('GET', path)
    const owners = await asTheirs('GET', path)

    expect((owners.json as Record<string, unknown[]>)[list]!.length).toBeGreaterThan(0)
    expect(owners.text).toMatch(new RegExp(`${held.sessionId}|${held.videoId}|"name":"org-theirs"`))
    expect(seen.status).toBe(200)
    for (const theirThing of [held.sessionId, held.videoId, 'org-theirs']) expect(seen.text).not.toContain(theirThing)
    expect(owners.text + seen.text).not.toContain('"owner"')
  })

  it('has every operation of the interface in these tests', () => {
    const judged = new Set(places.map(([place]) => place.split(':')[0]))
    // None takes an id of a record: what is made names none of ours, and the list is judged as a list.
    const withoutIds = ['playerGroupSegments.create', 'requestedAnalyses.list', 'videoUploads.create']
    expect([...judged, ...withoutIds].sort()).toEqual(Object.keys(routes).sort())
  })

  it('has changed nothing of theirs by all of that', async () => {
    const analysis = await asTheirs('GET', `/requested_analyses/${held.analysisId}`)
    const segment = await asTheirs('PATCH', `/player_group_segments/${held.segmentId}`, {})
    const stored = (await asTheirs('GET', '/stored')).json as { items: { file_name: string; url: string }[] }

    expect(analysis.json).toMatchObject({ name: 'org-theirs', status: 'draft' })
    expect(segment.json).toMatchObject({ dom_hand: 'RHA' })
    expect(stored.items.map(({ file_name: name }) => name).sort()).toEqual(['org-theirs.action', 'org-theirs.mp4'])
    for (const { url } of stored.items) expect((await fetch(url)).status).toBe(200)
  })
})
