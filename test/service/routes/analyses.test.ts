// What becomes of a requested analysis when time passes: this service completes it after as long as its host says. What its segment
// costs, however many analyses use it. And that of two changes at the same moment none is lost.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { PGlite } from '@electric-sql/pglite'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, inject, it, onTestFinished, vi } from 'vitest'

import { newDatabase, queryOnce } from '../../helpers/postgres-server.ts'
import { startUnderTest, startWithObjectsIn, type ServiceUnderTest } from '../service-under-test.ts'

let service: ServiceUnderTest
beforeAll(async () => {
  service = await startUnderTest({ analysisCompletesAfterMs: 60_000 })
})
afterAll(() => service.close())

it('goes from draft over requested to completed, and a submit of what is completed changes nothing', async () => {
  const made = await service.call('POST', '/player_group_segments', { movement_type_id: 1, dom_hand: 'RHA' })
  const { analysis_segment_id: segment } = made.json as { analysis_segment_id: number }
  const draft = await service.call('POST', '/requested_analyses', {
    ...{ name: 'Report', primary_analysis_segment_id: segment },
  })
  const { id, status } = draft.json as { id: number; status: string }
  const get = async () => ((await service.call('GET', `/requested_analyses/${id}`)).json as { status: string }).status
  const submit = async () =>
    ((await service.call('PATCH', `/requested_analyses/${id}/submit`)).json as { status: string }).status

  expect([status, await get()]).toEqual(['draft', 'draft'])
  expect([await submit(), await submit(), await get()]).toEqual(['requested', 'requested', 'requested'])
  service.advance(59_999)
  expect(await get()).toBe('requested')
  service.advance(1)
  const completed = await service.call('GET', `/requested_analyses/${id}`)
  service.advance(1000)
  const resubmitted = await service.call('PATCH', `/requested_analyses/${id}/submit`)
  expect(completed.json).toMatchObject({ status: 'completed' })
  expect([resubmitted.status, resubmitted.json]).toEqual([200, completed.json])
  expect((await service.call('GET', `/requested_analyses/${id}`)).json).toEqual(completed.json)

  const second = { name: 'Second', primary_analysis_segment_id: segment, status: 'requested' }
  await service.call('POST', '/requested_analyses', second)
  service.advance(60_000)
  const { json } = await service.call('GET', '/requested_analyses')
  expect(json).toMatchObject({ requested_analyses: [{ name: 'Second', status: 'completed' }, { name: 'Report' }] })

  const last = (await service.call('POST', '/requested_analyses', second)).json as { id: number }
  service.advance(60_000)
  const renamed = await service.call('PATCH', `/requested_analyses/${last.id}`, { name: 'Last' })
  expect(renamed.json).toMatchObject({ name: 'Last', status: 'completed' })
})

it('is renamed by its record, as it was answered, also once it is completed, and is completed by no caller', async () => {
  const made = await service.call('POST', '/player_group_segments', { movement_type_id: 1, dom_hand: 'RHA' })
  const { analysis_segment_id: segment } = made.json as { analysis_segment_id: number }
  const report = { name: 'Report', primary_analysis_segment_id: segment }
  const draft = (await service.call('POST', '/requested_analyses', report)).json as { id: number }
  const path = `/requested_analyses/${draft.id}`

  const early = await service.call('PATCH', path, { ...draft, status: 'completed' })
  expect([early.status, early.json]).toMatchObject([422, { error: { fields: [{ field: 'status' }] } }])
  await service.call('PATCH', `${path}/submit`)
  service.advance(60_000)
  const completed = (await service.call('GET', path)).json as object
  service.advance(60_000)
  expect((await service.call('GET', path)).json).toEqual(completed)
  const renamed = await service.call('PATCH', path, { ...completed, name: 'Last' })

  expect([renamed.status, renamed.json]).toMatchObject([200, { name: 'Last', status: 'completed' }])
  expect((await service.call('PATCH', path, { status: 'requested' })).status).toBe(409)
})

it('keeps a byte order mark that its name begins with, in every answer and after a change', async () => {
  const made = await service.call('POST', '/player_group_segments', { movement_type_id: 1, dom_hand: 'RHA' })
  const { analysis_segment_id: segment } = made.json as { analysis_segment_id: number }
  const report = { name: '\ufeffReport', primary_analysis_segment_id: segment }
  const draft = (await service.call('POST', '/requested_analyses', report)).json as { id: number; name: string }
  const path = `/requested_analyses/${draft.id}`
  const submitted = await service.call('PATCH', `${path}/submit`)
  const found = await service.call('GET', path)
  const list = (await service.call('GET', '/requested_analyses')).json as { requested_analyses: { name: string }[] }

  const answers = [draft, submitted.json, found.json, list.requested_analyses[0]] as { name: string }[]
  expect(answers.map(({ name }) => name)).toEqual(answers.map(() => report.name))
})

it('waits for room on a full disk, as whatever writes does, and is read meanwhile', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-analyses-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const options = { analysisCompletesAfterMs: 0 }
  const before = await startWithObjectsIn(dataDir, options)
  await before.call('POST', '/player_group_segments', { movement_type_id: 1, dom_hand: 'RHA' })
  const report = { name: 'Report', primary_analysis_segment_id: 1, status: 'requested' }
  await before.call('POST', '/requested_analyses', report)
  await before.close()

  const full = await startWithObjectsIn(dataDir, { ...options, keepFreeBytes: 2 ** 60 })
  onTestFinished(() => full.close())
  expect((await full.call('PATCH', '/requested_analyses/1/submit')).status).toBe(503)
  const found = await full.call('GET', '/requested_analyses/1')

  expect([found.status, found.json]).toMatchObject([200, { status: 'requested' }])
})

it('fixes its segment, which reads one analysis of those that use it', async () => {
  const made = await service.call('POST', '/player_group_segments', { movement_type_id: 1, dom_hand: 'RHA' })
  const { analysis_segment_id: segment } = made.json as { analysis_segment_id: number }
  for (const name of ['One', 'Two', 'Three'])
    await service.call('POST', '/requested_analyses', { name, primary_analysis_segment_id: segment })
  const queried = vi.spyOn(PGlite.prototype, 'query')

  const { json } = await service.call('PATCH', `/player_group_segments/${segment}`, { dom_hand: 'LHA' })

  expect(json).toMatchObject({ error: { code: 'segment_in_use' } })
  const results = await Promise.all(queried.mock.results.map(({ value }) => value as Promise<{ rows: unknown[] }>))
  const read = results.filter((_, index) => queried.mock.calls[index]![0].includes('from "requested_analyses"'))
  expect(read.map(({ rows }) => rows.length)).toEqual([1])
})

it.skipIf(inject('postgres') === undefined).each([
  ['an analysis', '/requested_analyses/1', { name: 'After' }, '/requested_analyses/1/submit', { status: 'requested' }],
  [
    'a segment',
    '/player_group_segments/2',
    { org_movement_ids: ['m-1'] },
    '/player_group_segments/2',
    { dom_hand: 'LHA' },
  ],
])('keeps both of two changes of %s that come at the same moment', async (_what, path, one, otherPath, other) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-analyses-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const databaseUrl = await newDatabase(inject('postgres')!)
  const onPostgres = await startUnderTest({ dataDir, databaseUrl })
  onTestFinished(() => onPostgres.close())
  const criteria = { movement_type_id: 1, dom_hand: 'RHA' }
  for (let count = 0; count < 2; count += 1) await onPostgres.call('POST', '/player_group_segments', criteria)
  await onPostgres.call('POST', '/requested_analyses', { name: 'Before', primary_analysis_segment_id: 1 })
  // Whoever changes a segment waits here, and whoever changes an analysis waits for its segment.
  const holder = new Client({ connectionString: databaseUrl })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('begin')
  await holder.query('select from player_group_segments for update')
  const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  const waiting = async () => (await queryOnce(databaseUrl, waits)).length

  const first = onPostgres.call('PATCH', path, one)
  await expect.poll(waiting).toBe(1)
  const second = onPostgres.call('PATCH', otherPath, other)
  await expect.poll(waiting).toBe(2)
  await holder.query('commit')

  expect([(await first).status, (await second).status]).toEqual([200, 200])
  expect((await onPostgres.call('PATCH', path, {})).json).toMatchObject({ ...one, ...other })
})

it.skipIf(inject('postgres') === undefined)('completes what is due before it tells or changes it', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-analyses-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const databaseUrl = await newDatabase(inject('postgres')!)
  const onPostgres = await startUnderTest({ dataDir, databaseUrl, analysisCompletesAfterMs: 60_000 })
  onTestFinished(() => onPostgres.close())
  await onPostgres.call('POST', '/player_group_segments', { movement_type_id: 1, dom_hand: 'RHA' })
  const asked = { name: 'Due', primary_analysis_segment_id: 1, status: 'requested' }
  const holder = new Client({ connectionString: databaseUrl })
  await holder.connect()
  onTestFinished(() => holder.end())
  const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

  for (const [method, path, body] of [
    ['GET', ''],
    ['GET', '/2'],
    ['PATCH', '/3', { name: 'Renamed' }],
  ] as const) {
    await onPostgres.call('POST', '/requested_analyses', asked)
    onPostgres.advance(60_000)
    // Whoever completes analyses waits here, and whoever reads them does not.
    await holder.query('begin')
    await holder.query('lock table requested_analyses in share mode')
    const answer = onPostgres.call(method, `/requested_analyses${path}`, body)
    await expect.poll(async () => (await queryOnce(databaseUrl, waits)).length).toBe(1)
    await holder.query('commit')

    const { json } = (await answer) as { json: { requested_analyses?: readonly object[] } }
    expect(json.requested_analyses?.[0] ?? json).toMatchObject({ status: 'completed' })
  }
})
