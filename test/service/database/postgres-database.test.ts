// How the service uses the connections to a PostgreSQL server.

import { EventEmitter, once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

import { sql } from 'kysely'
import { expect, inject, it, onTestFinished, vi } from 'vitest'

import { openPostgres } from '../../../src/service/database/postgres-database.ts'
import { newDatabase, queryOnce } from '../../helpers/postgres-server.ts'

const server = inject('postgres')

it.skipIf(server === undefined)(
  'limits how long the server waits, also through a pooler that takes no such settings of a connection',
  async () => {
    const url = await behind(await newDatabase(server!), (near, far) => {
      near.once('data', (beginning) => {
        if (beginning.includes('timeout')) near.destroy()
        far.write(beginning)
        near.pipe(far).pipe(near)
      })
    })

    const db = await openPostgres(url, 1)
    onTestFinished(() => db.destroy())

    const names = ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout']
    const settings = await sql`
      select name, setting || unit as value from pg_settings where name in (${sql.join(names)}) order by name`.execute(
      db,
    )
    expect(settings.rows.map((row) => Object.values(row as object).join(' '))).toEqual([
      'idle_in_transaction_session_timeout 60000ms',
      'lock_timeout 10000ms',
      'statement_timeout 30000ms',
    ])
  },
)

it.skipIf(server === undefined)(
  'sees in a transaction what another one has committed by then, whatever the database does by default',
  async () => {
    const url = await newDatabase(server!)
    const name = new URL(url).pathname.slice(1)
    await queryOnce(url, `alter database ${name} set default_transaction_isolation = 'repeatable read'`)
    const db = await openPostgres(url, 2)
    onTestFinished(() => db.destroy())

    const seen = await db.transaction().execute(async (trx) => {
      const look = () => trx.selectFrom('database_identity').select('folder_id').executeTakeFirst()
      const before = await look()
      await db.updateTable('database_identity').set({ folder_id: 'of another' }).execute()
      return [before, await look()]
    })

    expect(seen).toEqual([{ folder_id: null }, { folder_id: 'of another' }])
  },
)

it.skipIf(server === undefined)('takes every URL that pg takes, and lets the timeouts in it stand', async () => {
  const { username, password, hostname, port, pathname } = new URL(await newDatabase(server!))
  // Without a host before the path, as for a socket, this is no URL for others.
  const url = `postgres://${username}:${password}@${pathname}?host=${hostname}&port=${port}&lock_timeout=7000`

  const db = await openPostgres(url, 1)
  onTestFinished(() => db.destroy())

  expect((await sql`show lock_timeout`.execute(db)).rows).toEqual([{ lock_timeout: '7s' }])
  expect((await sql`show statement_timeout`.execute(db)).rows).toEqual([{ statement_timeout: '30s' }])
})

it.skipIf(server === undefined)('waits no longer for a server that hangs once it has let us in', async () => {
  const told = new EventEmitter()
  const url = await behind(await newDatabase(server!), (near, far) => {
    near.on('data', (bytes) => (bytes.includes('set lock_timeout') ? told.emit('asked') : far.write(bytes)))
    far.pipe(near)
  })
  const db = await openPostgres(url, 1)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())

  const asked = once(told, 'asked')
  const answer = sql`select 1`.execute(db).catch((error: unknown) => error)
  await asked
  vi.advanceTimersByTime(10_000)

  expect(await answer).toMatchObject({ message: 'Query read timeout' })
})

/** The URL of a database behind something that `joins` each connection to one with the server. */
async function behind(database: string, joins: (near: Socket, far: Socket) => void): Promise<string> {
  const url = new URL(database)
  const { port, hostname } = url
  const between = createServer((near) => {
    const far = connect(Number(port), hostname)
    joins(near, far)
    near.on('error', () => undefined).on('close', () => far.destroy())
    far.on('error', () => undefined)
  })
  await once(between.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void between.close())
  url.port = String((between.address() as AddressInfo).port)
  return url.href
}
