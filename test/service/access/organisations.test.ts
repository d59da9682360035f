// API keys of organisations: what is kept of them, what they open, and until when.

import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { openAsBlob } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'

import { openKeyRing, type ApiKeyRecord } from '../../../src/service/index.ts'
import { newDatabase } from '../../helpers/postgres-server.ts'
import { startUnderTest, type Answer, type ServiceUnderTest } from '../service-under-test.ts'

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

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'service-organisations-'))
  // A copy of the prepared database, made by a service that has never had a key.
  const preparedDatabase = await openAsBlob(inject('preparedDatabase'))
  await (await startUnderTest({ dataDir, preparedDatabase })).close()
  const ring = await openKeyRing({ dataDir })
  revoked = await ring.create('org-mine', 'lost laptop')
  mine = await ring.create('org-mine', 'capture room')
  // A byte order mark is part of a name.
  theirs = await ring.create('\ufefforg-mine', '\ufeffballpark')
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
    const forms = [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret, 'base64url').toString('hex')]
    const digest = createHash('sha256').update(mine.key).digest('hex')
    const namesWithDigest: string[] = []
    for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const bytes = await readFile(join(entry.parentPath, entry.name))
      expect([entry.name, forms.some((form) => bytes.includes(form))]).toEqual([entry.name, false])
      if (bytes.includes(digest)) namesWithDigest.push(entry.name)
    }
    expect(namesWithDigest).not.toEqual([])
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

  it('open nothing of an organisation whose name differs in what nobody sees', async () => {
    const session = { org_id: 'org-mine', mocap_type_id: 2, session_type_id: 1, session_date: '2026-11-20' }
    const { json } = await as(() => theirs.key)('POST', '/mocap_session', session)

    expect(json).toMatchObject({ error: { code: 'organisation_refused' } })
    expect((await asMine('POST', '/mocap_session', session)).status).toBe(200)
  })

  it('are listed without what opens anything, and are of an organisation and have a name', async () => {
    await service.close()
    const ring = await openKeyRing({ dataDir })
    const list = await ring.list()
    const again = await ring.revoke(revoked.id)
    const unknown = await ring.revoke('0'.repeat(16))
    for (const text of ['', ' ', 'a\nb', 'x'.repeat(257), 'ä'.repeat(129)]) {
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

    // Oldest first, though the database has moved the revoked one behind the others.
    const byAge = [revoked, mine, theirs].sort((a, b) => +a.createdAt - +b.createdAt || (a.id < b.id ? -1 : 1))
    expect(list.map(({ id }) => id)).toEqual(byAge.map(({ id }) => id))
    for (const one of [mine, theirs]) expect({ ...list.find(({ id }) => id === one.id), key: one.key }).toEqual(one)
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
