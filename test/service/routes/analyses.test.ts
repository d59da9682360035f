// What becomes of a requested analysis when time passes: this service completes it after as long as its host says. And what its
// segment costs, however many analyses use it.

import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'

import { startUnderTest, type ServiceUnderTest } from '../service-under-test.ts'

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
  expect([await get(), await submit()]).toEqual(['completed', 'completed'])
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
