// Databases of other versions of the service: an older one is brought up to date with what is in it, a newer one is left alone.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Kysely, Migrator, PostgresDialect } from 'kysely'
import { Pool } from 'pg'
import { expect, inject, it, onTestFinished } from 'vitest'

import { DEVELOPMENT } from '../../../src/service/access/callers.ts'
import { migrations } from '../../../src/service/database/migrations.ts'
import { openKeyRing } from '../../../src/service/index.ts'
import { newDatabase, queryOnce } from '../../helpers/postgres-server.ts'
import { startUnderTest } from '../service-under-test.ts'

const server = inject('postgres')

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'service-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

async function databaseOfFirstVersion(): Promise<string> {
  const databaseUrl = await newDatabase(server!)
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: new Pool({ connectionString: databaseUrl }) }),
  })
  const provider = { getMigrations: () => Promise.resolve({ ...migrations }) }
  await new Migrator({ db, provider }).migrateTo('0001-first')
  await db.destroy()
  return databaseUrl
}

it.skipIf(server === undefined)('a database of the first version is taken over with everything in it', async () => {
  const databaseUrl = await databaseOfFirstVersion()
  const [id, at] = ['00000000-0000-4000-8000-00000000000', `'2026-11-01T10:00:00Z'`]
  for (const statement of [
    `insert into mocap_sessions values ('${id}1', 'org-4', 2, 1, '2026-11-01', 0, 0, 'pending', ${at}, ${at})`,
    `insert into mocap_session_files (session_id, position, name, registered_at) values ('${id}1', 0, 'a.action', ${at})`,
    `insert into objects values ('captures/${id}1/1', 1, 'blob-1', 5, '5d41402abc4b2a76b9719d911017c592', ${at})`,
    `insert into player_group_segments (movement_type_id, dom_hand, org_movement_ids, created_at, updated_at)
     values (1, 'RHA', '["m"]', ${at}, ${at})`,
    `insert into requested_analyses (name, primary_analysis_segment_id, status, created_at, updated_at)
     values ('Report', 1, 'draft', ${at}, ${at})`,
    `insert into video_sessions values ('${id}2', 1, 'p-17', '2026-11-01', 2, false, ${at}), ('${id}3', 1, 'p-17', '2026-11-01', 2, false, ${at})`,
    `insert into video_files (session_id, raw_file_name, file_size_bytes, number_of_chunks, status, confirmation)
     values ('${id}2', 'a.mp4', 5, 1, 'confirmed', '["5d"]'), ('${id}3', 'b.mp4', 5, 1, 'pending', null)`,
  ])
    await queryOnce(databaseUrl, statement)

  const dataDir = await newFolder()
  // Its object is there, or the folder would not be taken for the one of this database.
  await mkdir(join(dataDir, 'objects', 'stored'), { recursive: true })
  await writeFile(join(dataDir, 'objects', 'stored', 'blob-1'), 'hello')
  const service = await startUnderTest({ dataDir, databaseUrl })
  onTestFinished(() => service.close())
  const { items } = (await service.call('GET', '/stored')).json as { items: { file_name: string }[] }
  const { sessions } = (await service.call('GET', '/sessions')).json as { sessions: { id: string }[] }
  const again = await service.call('POST', '/mocap_session_file', { session_id: `${id}1`, filenames: ['a.action'] })

  expect(items.map(({ file_name }) => file_name)).toEqual(['a.action', 'a.mp4'])
  expect(sessions[0]).toMatchObject({ id: `${id}1`, org_id: 'org-4' })
  expect((await service.call('GET', '/requested_analyses/1')).json).toMatchObject({ name: 'Report', status: 'draft' })
  expect(again.status).toBe(409)
  expect(await queryOnce(databaseUrl, 'select owner, is_open from video_sessions order by id')).toEqual([
    { owner: DEVELOPMENT, is_open: false },
    { owner: DEVELOPMENT, is_open: true },
  ])
})

it.skipIf(server === undefined)(
  'a database that a newer version has used is not touched, and what to do is said',
  async () => {
    const databaseUrl = await newDatabase(server!)
    const dataDir = await newFolder()
    await (await startUnderTest({ dataDir, databaseUrl })).close()
    await queryOnce(databaseUrl, `insert into kysely_migration values ('9999-of-tomorrow', 'now')`)

    const start = startUnderTest({ dataDir, databaseUrl })

    await expect(start).rejects.toMatchObject({
      code: 'ERR_SERVICE_DATABASE',
      message:
        'The service could not bring its database to the newest shape: a newer version of the service has used it (step ' +
        '9999-of-tomorrow). Start that version, or restore the backup that was made before it was first started.',
    })
  },
)

it.skipIf(server === undefined)(
  'a database on which an older service may be running is not changed to manage its keys',
  async () => {
    const databaseUrl = await databaseOfFirstVersion()

    await expect(openKeyRing({ databaseUrl })).rejects.toMatchObject({
      code: 'ERR_SERVICE_DATABASE',
      message: expect.stringMatching(
        /: an older version of the service uses it\. Take the command of that version/,
      ) as string,
    })

    expect(await queryOnce(databaseUrl, 'select name from kysely_migration')).toEqual([{ name: '0001-first' }])
    const keys = await openKeyRing({ databaseUrl: await newDatabase(server!) })
    expect(await keys.list()).toEqual([])
    await keys.close()
  },
)
