// A PostgreSQL server, for any number of processes at once. Nothing waits forever, neither for a connection nor for a lock nor for
// an answer, and the server ends a transaction that its process has forgotten.

import { Kysely, PostgresDialect, type Driver, type PostgresPool, type PostgresPoolClient } from 'kysely'
import { Pool, types, type PoolConfig } from 'pg'

import { CommitInDoubtError } from './database-errors.ts'
import { migrate, type WhenOlder } from './migrate.ts'
import type { Database, Tables } from './tables.ts'

const TIMEOUTS = {
  connectionTimeoutMillis: 10_000,
  // Our own timeout, for a server that vanished silently. It is longer than the server's, whose error says more.
  query_timeout: 35_000,
} as const satisfies PoolConfig

/** The server's own, ms. */
const SERVER_TIMEOUTS = {
  lock_timeout: 10_000,
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 60_000,
} as const

/** PostgreSQL's number for its type bigint. */
const BIGINT = 20

/**
 * Connects with at most `connections` and migrates the database to the newest schema. If several processes do so at the same time,
 * one migrates while the others wait. Rejects when the server is unreachable or refuses.
 */
export async function openPostgres(url: string, connections: number, whenOlder?: WhenOlder): Promise<Database> {
  // Another process's migration may take long, and so may our own, so only the connection has a timeout.
  const { connectionTimeoutMillis } = TIMEOUTS
  const migrating = connect({ connectionString: url, max: 1, connectionTimeoutMillis })
  try {
    await migrate(migrating, whenOlder)
  } finally {
    await migrating.destroy()
  }
  // A server may hang as soon as it has let us in.
  const beginning = { text: settingsOf(url), query_timeout: connectionTimeoutMillis }
  return connect({
    connectionString: url,
    max: connections,
    ...TIMEOUTS,
    verify: (client, done) => client.query(beginning, done),
  })
}

/**
 * Statements, because PgBouncer refuses a connection that begins with such settings. The URL's own timeouts stay. pg takes URLs that
 * are none for others, such as those without a host.
 */
function settingsOf(url: string): string {
  const said = new URLSearchParams(url.split('?')[1])
  const unsaid = Object.entries(SERVER_TIMEOUTS).filter(([name]) => !said.has(name))
  return [
    ...unsaid.map(([name, ms]) => `set ${name} = ${ms}`),
    // Whoever has waited for a row lock must see what its holder did. A database may have another default.
    "set default_transaction_isolation = 'read committed'",
  ].join(';')
}

function connect(config: PoolConfig): Database {
  const pool = new Pool({
    application_name: 'mocap-uplink',
    keepAlive: true,
    idleTimeoutMillis: 30_000,
    // Our 64-bit integers are ids and sizes, all of them exact as numbers. PGlite returns numbers too.
    types: {
      getTypeParser: (oid, format): unknown =>
        (oid as number) === BIGINT && format !== 'binary' ? Number : types.getTypeParser(oid, format),
    },
    ...config,
  })
  // A broken connection fails the query it carries, if any. Without these listeners it would end the process.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => void client.on('error', () => undefined))
  return new Kysely<Tables>({ dialect: new DoubtingDialect({ pool: withoutLateConnections(pool) }) })
}

/**
 * Gives up a connection on which an answer did not come in time, which pg itself does not: whatever comes next would wait behind it
 * forever if the server vanished, or be part of a transaction that the server begins after all.
 */
function withoutLateConnections(pool: Pool): PostgresPool {
  return {
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect()
      let late: Error | undefined
      const query = async (text: string, values: unknown[] = []): Promise<unknown> => {
        if (late !== undefined) throw late
        try {
          return await client.query(text, values)
        } catch (error) {
          if (error instanceof Error && error.message === 'Query read timeout') late = error
          throw error
        }
      }
      const release = (isToEnd?: boolean): void => client.release(isToEnd === true || late !== undefined)
      // Kysely asks for cursors only of those who give it some.
      return { query: query as PostgresPoolClient['query'], release }
    },
  }
}

/** pg refuses a statement so, and sends nothing, where it has heard the connection's end, as of a server that is stopped. */
const UNSENT = / is not queryable$/

/**
 * Tells a transaction that was surely not done from one whose commit had no answer: the first may be repeated, as a connection that
 * breaks earlier takes all of it back.
 */
class DoubtingDialect extends PostgresDialect {
  override createDriver(): Driver {
    const driver = super.createDriver()
    const commit = driver.commitTransaction.bind(driver)
    const rollBack = driver.rollbackTransaction.bind(driver)
    driver.commitTransaction = async (connection) => {
      try {
        await commit(connection)
      } catch (cause) {
        // Only what the server itself says has a severity.
        const isUndone = cause instanceof Error && ('severity' in cause || UNSENT.test(cause.message))
        throw isUndone ? cause : new CommitInDoubtError(cause)
      }
    }
    // Fails on a broken connection alone, and the error before it says more.
    driver.rollbackTransaction = (connection) => rollBack(connection).catch(() => undefined)
    return driver
  }
}
