// Whatever comes in, at whatever route: the service never fails, and nothing is ever half made.

import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'

import { queryOnce } from '../helpers/postgres-server.ts'
import { createFuzzedCalls, expectAnswer, FILE } from './fuzzed-calls.ts'
import { ODD_IDS, spoilings, targets } from './fuzzed-requests.ts'
import { sendRaw } from './plain-http.ts'
import { isAbsent, nextCopy, target } from './service-calls.ts'

describe.skipIf(isAbsent)('fuzzed requests', () => {
  let fuzzed: ReturnType<typeof createFuzzedCalls>
  beforeAll(() => {
    fuzzed = createFuzzedCalls({ ...target().fuzzed, nextCopy })
  })

  it('with any value in the place of any field are answered, never failed', async () => {
    const calls = await fuzzed.prepare()
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...calls), spoilings, async ([method, path, body], spoil) => {
        expectAnswer(await fuzzed.send(method, path, spoil(body)))
      }),
      { numRuns: 400 },
    )
  })

  it('at any path with any query are answered, never failed', async () => {
    // Each odd id at each place that takes one: chance alone comes by too seldom.
    for (const place of ['player_group_segments', 'requested_analyses', 'upload_videos']) {
      for (const odd of ODD_IDS) {
        for (const method of ['GET', 'PATCH', 'DELETE']) {
          const { status, text } = await fuzzed.send(method, `/${place}/${odd}`)
          expect(status, `${method} /${place}/${odd}: ${text}`).toBeLessThan(500)
        }
      }
    }
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE', 'PUT'), targets, async (method, path) => {
        const { status, text } = await fuzzed.send(method, path)
        expect(status).toBeGreaterThanOrEqual(200)
        expect(status, text).toBeLessThan(500)
      }),
      { numRuns: 300 },
    )
  })

  it('of the largest sizes are taken whole or refused whole', async () => {
    const files = (total: number, extra: object) =>
      Array.from({ length: total }, (_, index) => ({ ...FILE, file_id: index, ...extra }))
    const many = await fuzzed.post('/upload_videos', { ...fuzzed.video, files: files(10_000, { number_of_chunks: 1 }) })
    if (many.status === 200) expect(many.json['pre_signed_urls']).toHaveLength(10_000)
    else expect(many.text).toContain('too_many_files')
    const beyond = await fuzzed.post('/upload_videos', {
      ...fuzzed.video,
      files: files(100_001, { number_of_chunks: 1 }),
    })
    expect([422, 413]).toContain(beyond.status)
    expect(beyond.text).toMatch(/too_many_files|body_too_large/)
    // More addresses than one answer holds.
    const long = { number_of_chunks: 10_000, file_size_bytes: 6e10 }
    expect((await fuzzed.post('/upload_videos', { ...fuzzed.video, files: files(11, long) })).text).toContain(
      'expected at most 100000',
    )

    const { id } = (await fuzzed.post('/mocap_session', fuzzed.session)).json
    const register = (filenames: string[]) => fuzzed.post('/mocap_session_file', { session_id: id, filenames })
    const names = Array.from({ length: 10_000 }, (_, index) => `${index}.action`)
    // The last name is taken already: none of the others is registered.
    expect((await register(['9999.action'])).status).toBe(200)
    expect([409, 422]).toContain((await register(names)).status)
    expect((await register(names.slice(0, 10))).status).toBe(200)
  })

  it('that are too deep, too large or no text are refused whole', async () => {
    for (const depth of [33, 1_000_000]) {
      const deep = await fuzzed.send('POST', '/mocap_session', '['.repeat(depth) + ']'.repeat(depth))
      expect([deep.status, deep.text]).toEqual([422, expect.stringContaining('nested more than 32 levels deep')])
    }
    // Complaints about each of so many values would take more memory than a copy has.
    const many = await fuzzed.send('POST', '/upload_videos', `{"files":[${'1,'.repeat(3_000_000)}1]}`)
    expect([many.status, many.text]).toEqual([expect.any(Number), expect.not.stringContaining('pre_signed_urls')])
    expect(many.status).toBeLessThan(500)
    const garbled = Buffer.from(JSON.stringify({ ...fuzzed.session, org_id: 'é' }), 'latin1')
    const notText = await fuzzed.send('POST', '/mocap_session', garbled)
    expect([notText.status, notText.text]).toEqual([422, expect.stringContaining('the body is not UTF-8')])
    // What is announced is enough to be refused by: the body itself need not come.
    const large = await sendRaw(nextCopy(), {
      ...{ method: 'POST', path: '/mocap_session' },
      headers: { ...target().fuzzed.headers, 'content-type': 'application/json', expect: '100-continue' },
      announcedBytes: 300 * 1024 ** 2,
    })
    expect([large.status, large.text]).toEqual([413, expect.stringContaining('body_too_large')])
  })

  it('leave nothing half made: the tables hold exactly what was answered as made', async ({ skip }) => {
    const { databaseUrl, fuzzed: of } = target()
    if (databaseUrl === undefined) return skip('The suite may not look into the database.')
    await fuzzed.expectTablesToHoldWhatWasMade(async (table) => {
      const rows = await queryOnce(databaseUrl, `select count(*) as total from ${table} where owner = '${of.orgId}'`)
      return Number(rows[0]!['total'])
    })
  })

  it('have opened sessions that can all be cancelled', async () => {
    for (const id of fuzzed.videoSessions)
      expect((await fuzzed.send('DELETE', `/upload_videos/${id}`)).status).toBe(200)
  })
})
