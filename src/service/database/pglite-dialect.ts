// Kysely on PGlite: PostgreSQL's own compiler, adapter and introspector over a driver with one connection.

import type { PGlite } from '@electric-sql/pglite'
import {
  CompiledQuery,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely'

/**
 * After how many uses of the connection all is brought from the log to the files. PostgreSQL has a process for that, and PGlite has
 * none: its log would grow by a kilobyte with each object until the service is stopped, and a start after a kill reads all of it. More
 * often would make the log longer: a page is written to it whole when it first changes after that.
 */
const CHECKPOINT_EVERY = 20_000

/**
 * A dialect for an open PGlite. Destroying the Kysely instance closes the database. `check` throws where an answer of the database
 * must not be relied on; nor is it closed then, which would take what it wrote for complete. `needRoom` rejects where its disk is too
 * full for what nobody has asked for.
 */
export function pgliteDialect(
  database: PGlite,
  check: () => void = () => undefined,
  needRoom: () => Promise<void> = () => Promise.resolve(),
): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => pgliteDriver(database, check, needRoom),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

function pgliteDriver(database: PGlite, check: () => void, needRoom: () => Promise<void>): Driver {
  const connection = pgliteConnection(database, check)
  // PGlite has one session. Whoever holds the connection holds all of it, or other queries would end up inside the holder's
  // transaction. The rest wait in the order in which they came.
  let isTaken = false
  let uses = 0
  const waiting: (() => void)[] = []
  const run = async (statement: string) => {
    await connection.executeQuery(CompiledQuery.raw(statement))
  }
  /** Those who only read come here too, and on a full disk it would block the whole process for good. */
  const checkpoint = async () => {
    await needRoom()
    await run('checkpoint')
  }
  return {
    init: () => database.waitReady,
    acquireConnection: async () => {
      if (isTaken) await new Promise<void>((resolve) => waiting.push(resolve))
      isTaken = true
      return connection
    },
    releaseConnection: async () => {
      uses += 1
      // What stops it for long stops what comes next as well, which says so.
      if (uses % CHECKPOINT_EVERY === 0) await checkpoint().catch(() => undefined)
      const next = waiting.shift()
      if (next === undefined) isTaken = false
      else next()
    },
    beginTransaction: (_, { isolationLevel }) =>
      run(isolationLevel === undefined ? 'begin' : `start transaction isolation level ${isolationLevel}`),
    commitTransaction: () => run('commit'),
    rollbackTransaction: () => run('rollback'),
    async destroy() {
      check()
      await database.close()
    },
  }
}

function pgliteConnection(database: PGlite, check: () => void): DatabaseConnection {
  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const result = await database.query<R>(query.sql, [...query.parameters])
      check()
      return { rows: result.rows, numAffectedRows: BigInt(result.affectedRows ?? 0) }
    },
    streamQuery() {
      throw new Error('PGlite has no cursors: select with a limit instead.')
    },
  }
}
