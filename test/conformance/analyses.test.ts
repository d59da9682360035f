// Segments and requested analyses, and the lists that are only referred to.

import { describe, expect, it } from 'vitest'

import { call, isAbsent } from './service-calls.ts'

const criteria = { movement_type_id: 1, dom_hand: 'RHA', org_movement_ids: ['m-1', 'm-2'] }

async function segment(body: object = criteria): Promise<number> {
  const { json } = await call('POST', '/player_group_segments', body)
  return (json as { analysis_segment_id: number }).analysis_segment_id
}

async function analysis(body: object = {}): Promise<{ id: number; status: string }> {
  const primary = await segment()
  const all = { name: 'conformance report', primary_analysis_segment_id: primary, ...body }
  return (await call('POST', '/requested_analyses', all)).json as { id: number; status: string }
}

describe.skipIf(isAbsent)('player group segments', () => {
  it('answers the record with an integer analysis_segment_id', async () => {
    const { status, json } = await call('POST', '/player_group_segments', criteria)

    const id = (json as { analysis_segment_id: number }).analysis_segment_id
    expect(Number.isInteger(id)).toBe(true)
    expect(status).toBe(200)
    expect(json).toMatchObject({ analysis_segment_id: id, ...criteria })
  })

  it.each([
    ['dom_hand', { movement_type_id: 1, domHand: 'RHA' }],
    ['dom_hand', { movement_type_id: 1, dom_hand: 'right' }],
    ['movement_type_id', { dom_hand: 'LHA' }],
    ['org_movement_ids', { ...criteria, org_movement_ids: 'm-1' }],
    ['', 'movement_type_id=1'],
    ['', ''],
  ])('answers a wrong %s with a body that lacks analysis_segment_id and names it', async (field, body) => {
    const { status, json } = await call('POST', '/player_group_segments', body)

    expect(status).toBe(200)
    expect(Object.keys(json as object)).toEqual(['message', 'errors'])
    expect((json as { errors: { field: string }[] }).errors.map((one) => one.field)).toEqual([field])
  })

  it('updates what is given and keeps the rest', async () => {
    const id = await segment()

    const updated = await call('PATCH', `/player_group_segments/${id}`, { org_movement_ids: ['m-3'] })
    const again = await call('PATCH', `/player_group_segments/${id}`, { dom_hand: 'LHA' })
    const last = await call('PATCH', `/player_group_segments/${id}`, { movement_type_id: 2 })

    expect(updated.status).toBe(200)
    const answered = { analysis_segment_id: id, movement_type_id: 1, dom_hand: 'LHA', org_movement_ids: ['m-3'] }
    expect([again.json, last.json]).toMatchObject([answered, { ...answered, movement_type_id: 2 }])
  })

  it('refuses a malformed update with 422 and an unknown segment with 404', async () => {
    const id = await segment()

    expect((await call('PATCH', `/player_group_segments/${id}`, { dom_hand: 'both' })).status).toBe(422)
    expect((await call('PATCH', '/player_group_segments/999999999', {})).status).toBe(404)
    expect((await call('PATCH', '/player_group_segments/x', {})).status).toBe(404)
  })

  it.each(['primary', 'comparison', 'population'])(
    'keeps movement type and hand of a segment that an analysis uses as its %s, and updates its movements',
    async (role) => {
      const id = await segment()
      await analysis({ [`${role}_analysis_segment_id`]: id })
      const update = (body: object) => call('PATCH', `/player_group_segments/${id}`, body)

      const answers = [await update({ dom_hand: 'LHA' }), await update({ movement_type_id: 2 })]
      expect(answers.map(({ status }) => status)).toEqual([409, 409])
      expect((await update({ ...criteria, org_movement_ids: ['m-3'] })).json).toMatchObject({
        ...{ movement_type_id: 1, dom_hand: 'RHA', org_movement_ids: ['m-3'] },
      })
    },
  )
})

describe.skipIf(isAbsent)('requested analyses', () => {
  it('creates a draft by default and answers the record', async () => {
    const [primary, population] = [await segment(), await segment()]

    const { status, json } = await call('POST', '/requested_analyses', {
      name: 'Hitting "November" é🏏',
      primary_analysis_segment_id: primary,
      population_analysis_segment_id: population,
    })

    expect(status).toBe(200)
    expect(json).toEqual({
      id: (json as { id: number }).id,
      name: 'Hitting "November" é🏏',
      primary_analysis_segment_id: primary,
      comparison_analysis_segment_id: null,
      population_analysis_segment_id: population,
      status: 'draft',
      requested_at: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
      updated_at: (json as { created_at: string }).created_at,
    })
  })

  it('goes from draft to requested, and a repeated submit changes nothing', async () => {
    const { id, status } = await analysis()
    const get = async () => (await call('GET', `/requested_analyses/${id}`)).json as { status: string }
    const submit = async () => (await call('PATCH', `/requested_analyses/${id}/submit`)).json as { status: string }

    expect([status, (await get()).status]).toEqual(['draft', 'draft'])
    const [first, second] = [await submit(), await submit()]
    expect(['requested', 'completed']).toContain(first.status)
    expect({ ...second, status: first.status, updated_at: 0 }).toEqual({ ...first, updated_at: 0 })
  })

  it('creates one that is requested at once', async () => {
    expect((await analysis({ status: 'requested' })).status).toBe('requested')
  })

  it('lists the newest first', async () => {
    const [older, newer] = [await analysis({ name: 'older' }), await analysis({ name: 'newer' })]

    const { json } = await call('GET', '/requested_analyses')

    const list = (json as { requested_analyses: { id: number; name: string }[] }).requested_analyses
    const ours = list.filter(({ id }) => id === newer.id || id === older.id)
    expect(ours.map(({ id, name }) => [id, name])).toEqual([
      [newer.id, 'newer'],
      [older.id, 'older'],
    ])
  })

  it('renames at any time, and changes segments of a draft only', async () => {
    const { id } = await analysis()
    const comparison = await segment()
    const update = (body: object) => call('PATCH', `/requested_analyses/${id}`, body)

    const primary = await segment()
    const segments = { primary_analysis_segment_id: primary, comparison_analysis_segment_id: comparison }
    const changed = await update({ name: 'new name', ...segments })
    await update({ status: 'requested' })

    expect(changed.json).toMatchObject({ name: 'new name', ...segments, status: 'draft' })
    expect((await update({ comparison_analysis_segment_id: await segment() })).status).toBe(409)
    expect((await update({ status: 'draft' })).status).toBe(409)
    // One list has the names of ten thousand.
    expect((await update({ name: 'é'.repeat(513) })).status).toBe(422)
    expect((await update({ name: 'last name' })).json).toMatchObject({ name: 'last name', status: 'requested' })
  })

  it('takes back a record as it answered it, and null for a segment that is not to be there', async () => {
    const made = await analysis({ comparison_analysis_segment_id: await segment() })
    const update = (body: object) => call('PATCH', `/requested_analyses/${made.id}`, body)

    const same = await update(made)
    const without = await update({ comparison_analysis_segment_id: null })
    const sentBack = await update(without.json as object)

    expect([same.status, { ...(same.json as object), updated_at: 0 }]).toEqual([200, { ...made, updated_at: 0 }])
    expect([without.status, sentBack.status]).toEqual([200, 200])
    expect(sentBack.json).toMatchObject({ comparison_analysis_segment_id: null, status: 'draft' })
    expect((await update({ primary_analysis_segment_id: null })).status).toBe(422)
  })

  it.each([
    ['another hand', { movement_type_id: 1, dom_hand: 'LHA' }],
    ['another movement type', { movement_type_id: 2, dom_hand: 'RHA' }],
  ])('refuses segments of %s with 422', async (_what, other) => {
    const body = {
      name: 'conformance report',
      primary_analysis_segment_id: await segment(),
      comparison_analysis_segment_id: await segment(other),
    }

    const { status, json } = await call('POST', '/requested_analyses', body)

    expect([status, (json as { error: { code: string } }).error.code]).toEqual([422, 'segments_disagree'])
  })

  it.each([
    ['no name', { primary_analysis_segment_id: 1 }],
    ['an empty name', { name: '', primary_analysis_segment_id: 1 }],
    ['no primary segment', { name: 'conformance report' }],
    ['a segment id as text', { name: 'conformance report', primary_analysis_segment_id: '1' }],
    ['an unknown segment', { name: 'conformance report', primary_analysis_segment_id: 2_000_000_000 }],
    ['a segment id beyond the database', { name: 'conformance report', primary_analysis_segment_id: 2 ** 53 - 1 }],
    ['another status', { name: 'conformance report', primary_analysis_segment_id: 1, status: 'completed' }],
  ])('refuses %s with 422', async (_what, body) => {
    expect((await call('POST', '/requested_analyses', body)).status).toBe(422)
  })

  it('answers 404 for an unknown analysis, whatever is asked of it', async () => {
    const answers = await Promise.all([
      call('GET', '/requested_analyses/999999999'),
      ...['x', '1.5', '1e0', '0x1', '99999999999'].map((id) => call('GET', `/requested_analyses/${id}`)),
      call('PATCH', '/requested_analyses/999999999', { name: 'x' }),
      call('PATCH', '/requested_analyses/999999999/submit'),
    ])

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
  })
})

describe.skipIf(isAbsent)('the lists that the interface refers to', () => {
  it.each([
    ['/movement_types', 'movement_types'],
    ['/players', 'players'],
    ['/sessions', 'sessions'],
    ['/mocap_types', 'mocap_types'],
    ['/session_types', 'session_types'],
  ])('%s answers records with an id', async (path, field) => {
    const { status, json } = await call('GET', path)

    const list = (json as Record<string, { id: unknown }[]>)[field]!
    expect(status).toBe(200)
    expect(list.length).toBeGreaterThan(0)
    expect(list.every(({ id }) => typeof id === 'string' || typeof id === 'number')).toBe(true)
  })
})
