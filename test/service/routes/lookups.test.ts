// The lists that the interface refers to: the kinds of capture as the host sets them, and the sessions of this service.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'

import { DEVELOPMENT } from '../../../src/service/access/callers.ts'
import type { ServiceOptions } from '../../../src/service/index.ts'
import {
  openCaptureSession,
  openRecordsOf,
  START,
  startUnderTest,
  startWithObjectsIn,
  type ServiceUnderTest,
} from '../service-under-test.ts'

async function start(options: ServiceOptions = {}): Promise<ServiceUnderTest> {
  const service = await startUnderTest(options)
  onTestFinished(() => service.close())
  return service
}

it.each([
  [undefined, [2, false], [67, true]],
  [
    [5, 2, 9],
    [2, true],
    [5, true],
    [9, true],
  ],
])('says of each mocap type once whether it is video: %o', async (videoMocapTypeIds, ...types) => {
  const service = await start(videoMocapTypeIds === undefined ? {} : { videoMocapTypeIds })

  const { json } = await service.call('GET', '/mocap_types')

  const listed = (json as { mocap_types: { id: number; is_video: boolean }[] }).mocap_types
  expect(listed.map(({ id, is_video }) => [id, is_video])).toEqual(types)
})

it('lists the newest sessions first, as they were answered, and the sample behind the last', async () => {
  const service = await start()
  const ids: string[] = []
  for (let count = 0; count < 3; count += 1) {
    service.advance(1_000)
    ids.unshift(await openCaptureSession(service))
  }
  const list = async (query: string) => {
    const { sessions, ...rest } = (await service.call('GET', `/sessions${query}`)).json as {
      sessions: { id: string }[]
      next?: string | null
    }
    return { sessions, ids: sessions.map(({ id }) => id), ...rest }
  }

  const { sessions, ...whole } = await list('')
  expect(whole).toEqual({ ids: [...ids, 'sample-session'] })
  expect(sessions[2]).toEqual({
    ...{ id: ids[2], session_id: ids[2], org_id: 'org-4', mocap_type_id: 2, session_type_id: 1, num_players: 0 },
    ...{ session_date: '2026-11-20', num_movements: 0, status: 'pending' },
    ...{ created_at: new Date(START + 1_000).toISOString(), updated_at: new Date(START + 1_000).toISOString() },
  })
  expect(await list('?limit=3')).toMatchObject({ ids: [...ids, 'sample-session'], next: null })
  const first = await list('?limit=2')
  expect([first.ids, typeof first.next]).toEqual([ids.slice(0, 2), 'string'])
  const last = await list(`?after=${first.next!}`)
  expect([last.ids, last.next]).toEqual([[ids[2], 'sample-session'], null])
})

it('lists a thousand sessions and ten thousand analyses where no page is asked for, the newest ones', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'service-lists-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const db = await openRecordsOf(dataDir)
  const moment = sql`timestamp '2026-11-20' + at * interval '1 second'`
  await sql`
    insert into mocap_sessions (id, owner, org_id, mocap_type_id, session_type_id, session_date, status, created_at, updated_at)
    select 'session-' || at, ${DEVELOPMENT}, 'org-4', 2, 1, '2026-11-20', 'pending', ${moment}, ${moment}
    from generate_series(1, 1001) at`.execute(db)
  await sql`
    insert into player_group_segments (owner, movement_type_id, dom_hand, org_movement_ids, created_at, updated_at)
    values (${DEVELOPMENT}, 1, 'RHA', '[]', now(), now())`.execute(db)
  await sql`
    insert into requested_analyses (owner, name, primary_analysis_segment_id, status, created_at, updated_at)
    select ${DEVELOPMENT}, at::text, 1, 'draft', now(), now() from generate_series(1, 10001) at`.execute(db)
  await db.destroy()
  const service = await startWithObjectsIn(dataDir)
  onTestFinished(() => service.close())

  const { sessions } = (await service.call('GET', '/sessions')).json as { sessions: { id: string }[] }
  const { requested_analyses: analyses } = (await service.call('GET', '/requested_analyses')).json as {
    requested_analyses: { name: string }[]
  }

  const newest = Array.from({ length: 1_000 }, (_, index) => `session-${1_001 - index}`)
  expect(sessions.map(({ id }) => id)).toEqual([...newest, 'sample-session'])
  expect([analyses.length, analyses[0]?.name, analyses.at(-1)?.name]).toEqual([10_000, '10001', '2'])
})
