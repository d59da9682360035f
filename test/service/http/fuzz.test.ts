// The embedded database after fuzzed calls: only when the service has let go of it can anybody look into it.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'

import { createFuzzedCalls, expectAnswer } from '../../conformance/fuzzed-calls.ts'
import { spoilings } from '../../conformance/fuzzed-requests.ts'
import { API_KEY, openRecordsOf, startWithObjectsIn } from '../service-under-test.ts'

it('holds exactly what was answered as made, and no session without files', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-fuzz-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const service = await startWithObjectsIn(dataDir)
  onTestFinished(() => service.close())
  const headers = { 'x-api-key': API_KEY }
  const fuzzed = createFuzzedCalls({ orgId: 'org-4', headers, nextCopy: () => service.url })
  const calls = await fuzzed.prepare()
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...calls), spoilings, async ([method, path, body], spoil) => {
      expectAnswer(await fuzzed.send(method, path, spoil(body)))
    }),
    { numRuns: 300 },
  )
  await service.close()

  const db = await openRecordsOf(dataDir)
  onTestFinished(() => db.destroy())
  const rows = async (statement: string) => (await sql.raw<{ total: number }>(statement).execute(db)).rows
  await fuzzed.expectTablesToHoldWhatWasMade(
    async (table) => (await rows(`select count(*) as total from ${table}`))[0]!.total,
  )
  expect(
    await rows(
      'select id from video_sessions s where not exists (select 1 from video_files f where f.session_id = s.id)',
    ),
  ).toEqual([])
})
