// Lists in pages: whole and in order, whatever is added meanwhile.

import { describe, expect, it } from 'vitest'

import { call, isAbsent, openCapture } from './service-calls.ts'

const MOMENT = '2026-11-20T12:00:00.000Z'
const UUID = '0b6a5e0e-6a53-4f4e-9a55-0a8f0f3f6f10'
const cursor = (...values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url')

/** All ids of a list, newest first, in pages of so many; `between` happens after the first page. */
async function pages(path: string, name: string, limit: number, between: () => Promise<unknown>): Promise<unknown[][]> {
  const found: unknown[][] = []
  for (let next: string | null | undefined; next !== null;) {
    const { status, json } = await call('GET', `${path}?limit=${limit}${next === undefined ? '' : `&after=${next}`}`)
    expect(status).toBe(200)
    const page = json as Record<string, unknown>
    found.push((page[name] as { id: unknown }[]).map(({ id }) => id))
    next = page['next'] as string | null
    if (found.length === 1) await between()
    // What others have made is not paged through to its end: a deployment may hold any number of records.
    if (found.length === 40) break
  }
  return found
}

describe.skipIf(isAbsent)('pages', () => {
  it('of analyses are all of them, newest first, and what is added meanwhile moves none', async () => {
    const { json } = await call('POST', '/player_group_segments', { movement_type_id: 1, dom_hand: 'RHA' })
    const { analysis_segment_id: segment } = json as { analysis_segment_id: number }
    const add = async () => {
      const body = { name: 'conformance page', primary_analysis_segment_id: segment }
      return ((await call('POST', '/requested_analyses', body)).json as { id: number }).id
    }
    const ids: number[] = []
    for (let count = 0; count < 7; count++) ids.unshift(await add())
    let added = 0

    const found = await pages('/requested_analyses', 'requested_analyses', 3, async () => (added = await add()))

    const all = found.flat()
    expect(new Set(all).size).toBe(all.length)
    expect(all.filter((id) => ids.includes(Number(id)))).toEqual(ids)
    expect(all).not.toContain(added)
    expect(found.slice(0, -1).every((page) => page.length === 3)).toBe(true)
    const whole = await call('GET', '/requested_analyses')
    expect(Object.keys(whole.json as object)).toEqual(['requested_analyses'])
  })

  it('of sessions of one moment and of others are all of them, each once', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => openCapture()))
    let added = ''

    const found = await pages('/sessions', 'sessions', 3, async () => (added = await openCapture()))

    const all = found.flat()
    expect(new Set(all).size).toBe(all.length)
    expect(all.filter((id) => ids.includes(String(id))).sort()).toEqual([...ids].sort())
    expect(all).not.toContain(added)
  })

  it.each([
    ['limit', '/requested_analyses?limit=0'],
    ['limit', '/requested_analyses?limit=10001'],
    ['limit', '/sessions?limit=1001'],
    ['limit', '/sessions?limit=ten'],
    ['limit', '/stored?limit=1001'],
    ['limit', '/stored?limit=0x10'],
    ['limit', '/stored?limit='],
    ['limit', '/stored?limit=1&limit=2'],
    ['after', '/stored?after=nobody'],
    ['after', '/requested_analyses?after=12'],
    ['after', '/sessions?after=WyJ4Il0'],
    ['after', `/requested_analyses?after=${cursor(1e99)}`],
    ['after', `/requested_analyses?after=${cursor(1.5)}`],
    ['after', `/requested_analyses?after=${cursor('5')}`],
    ['after', `/sessions?after=${cursor('0000-01-01T00:00:00.000Z', UUID)}`],
    ['after', `/sessions?after=${cursor('2026-13-01T00:00:00.000Z', UUID)}`],
    ...[
      [MOMENT],
      [MOMENT, 'x'],
      [MOMENT, `${UUID}0`],
      [MOMENT, 5],
      [5, UUID],
      [`x${MOMENT}`, UUID],
      [`${MOMENT}x`, UUID],
    ].map((values): [string, string] => ['after', `/sessions?after=${cursor(...values)}`]),
    ...['capture', 'capture-', 'capture-x', 'xvideo-1', 'video-1x', `video-${'9'.repeat(16)}`].map(
      (after): [string, string] => ['after', `/stored?after=${after}`],
    ),
  ])('refuse a wrong %s: %s', async (field, path) => {
    const { status, json } = await call('GET', path)

    expect(status).toBe(422)
    expect((json as { error: { fields: { field: string }[] } }).error.fields.map((one) => one.field)).toEqual([field])
  })
})
