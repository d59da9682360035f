// Lists in pages, on both databases: whole and in order, whatever is added meanwhile.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'

import { newDatabase } from '../helpers/postgres-server.ts'
import { openCaptureSession, startUnderTest, type ServiceUnderTest } from './service-under-test.ts'

const server = inject('postgres')

describe.each([
  { engine: 'PGlite', url: undefined, isThere: true },
  { engine: 'PostgreSQL', url: server, isThere: server !== undefined },
])('pages on $engine', ({ url, isThere }) => {
  let service: ServiceUnderTest
  let dataDir: string
  beforeAll(async () => {
    if (!isThere) return
    dataDir = await mkdtemp(join(tmpdir(), 'service-paging-'))
    service = await startUnderTest({ dataDir, ...(url === undefined ? {} : { databaseUrl: await newDatabase(url) }) })
  })
  afterAll(async () => {
    if (!isThere) return
    await service.close()
    await rm(dataDir, { recursive: true })
  })

  /** All pages of a list, one after another; `between` happens after the first. */
  async function pages(path: string, name: string, between: () => Promise<unknown>): Promise<unknown[][]> {
    const found: unknown[][] = []
    for (let next: string | null | undefined; next !== null;) {
      const { status, json } = await service.call('GET', `${path}?limit=3${next === undefined ? '' : `&after=${next}`}`)
      expect(status).toBe(200)
      const page = json as Record<string, unknown>
      found.push((page[name] as { id: unknown }[]).map(({ id }) => id))
      next = page['next'] as string | null
      if (found.length === 1) await between()
    }
    return found
  }

  it.skipIf(!isThere)('of analyses are all of them, newest first, and what is added meanwhile moves none', async () => {
    const { json } = await service.call('POST', '/player_group_segments', { movement_type_id: 1, dom_hand: 'RHA' })
    const segment = (json as { analysis_segment_id: number }).analysis_segment_id
    const add = () => service.call('POST', '/requested_analyses', { name: 'n', primary_analysis_segment_id: segment })
    const ids: unknown[] = []
    for (let count = 0; count < 7; count++) ids.unshift(((await add()).json as { id: number }).id)

    const found = await pages('/requested_analyses', 'requested_analyses', add)

    expect(found).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)])
    const whole = await service.call('GET', '/requested_analyses')
    expect(Object.keys(whole.json as object)).toEqual(['requested_analyses'])
    expect((whole.json as { requested_analyses: unknown[] }).requested_analyses).toHaveLength(8)
  })

  it.skipIf(!isThere)('of sessions of one moment and of others are all of them, each once', async () => {
    const ids: string[] = []
    for (let count = 0; count < 8; count++) {
      if (count === 5) service.advance(1)
      ids.push(await openCaptureSession(service))
    }
    const add = () => {
      service.advance(1)
      return openCaptureSession(service)
    }

    const found = await pages('/sessions', 'sessions', add)

    expect(found.map((page) => page.length)).toEqual([3, 3, 3])
    expect(found.flat().slice(0, 3).sort()).toEqual(ids.slice(5).sort())
    expect(found.flat().sort()).toEqual([...ids, 'sample-session'].sort())
  })

  it.skipIf(!isThere).each([
    ['limit', '/requested_analyses?limit=0'],
    ['limit', '/requested_analyses?limit=10001'],
    ['limit', '/sessions?limit=1001'],
    ['limit', '/sessions?limit=ten'],
    ['after', '/requested_analyses?after=12'],
    ['after', '/sessions?after=WyJ4Il0'],
    ['after', `/requested_analyses?after=${Buffer.from('[1e99]').toString('base64url')}`],
  ])('refuse a wrong %s: %s', async (field, path) => {
    const { status, json } = await service.call('GET', path)

    expect(status).toBe(422)
    expect((json as { error: { fields: { field: string }[] } }).error.fields.map((one) => one.field)).toEqual([field])
  })
})
