// A PostgreSQL server, for any number of processes at once. Nothing waits for ever: neither for a connection nor for a
// lock nor for an answer, and a transaction that its process has forgotten is ended by the server.

import { Kysely, PostgresDialect } from 'kysely'
import { Pool, types, type PoolConfig } from 'pg'

import { migrate } from './migrations.ts'
import type { Database, Tables } from './tables.ts'

const TIMEOUTS = {
  connectionTimeoutMillis: 10_000,
  lock_timeout: 10_000,
  statement_timeout: 30_000,
  // Ours, for a server that is gone without a word: later than the server's own, which says more.
  query_timeout: 35_000,
  idle_in_transaction_session_timeout: 60_000,
} as const satisfies PoolConfig

/** The number that PostgreSQL has for its type bigint. */
const BIGINT = 20

/**
 * Connects with at most `connections` and brings the database to the newest shape. Of several processes that do so at
 * once one migrates while the others wait. Rejects when the server is not there or refuses.
 */
export async function openPostgres(url: string, connections: number): Promise<Database> {
  // The wait for another one's migration may be long, and so may a step of our own: no timeout but that for the connection.
  const { connectionTimeoutMillis } = TIMEOUTS
  const migrating = connect({ connectionString: url, max: 1, connectionTimeoutMillis })
  try {
    await migrate(migrating)
  } finally {
    await migrating.destroy()
  }
  return connect({ connectionString: url, max: connections, ...TIMEOUTS })
}

function connect(config: PoolConfig): Database {
  const pool = new Pool({
    application_name: 'mocap-uplink',
    keepAlive: true,
    idleTimeoutMillis: 30_000,
    // Our 64-bit integers are ids and sizes, all of them exact as numbers: PGlite gives numbers as well.
    types: {
      getTypeParser: (oid, format): unknown =>
        (oid as number) === BIGINT && format !== 'binary' ? Number : types.getTypeParser(oid, format),
    },
    ...config,
  })
  // A connection that breaks fails the query that it carries, if any; without listeners it would end the process.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => void client.on('error', () => undefined))
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}
