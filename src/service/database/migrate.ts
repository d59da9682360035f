// Brings a database to the schema of this build, and leaves alone one on which another build may be running.

import { Migrator, sql } from 'kysely'

import { migrations } from './migrations.ts'
import type { Database } from './tables.ts'

/** What happens to a database of an older version: `upgrade`, or `refuse` it where older services may be running on it. */
export type WhenOlder = 'upgrade' | 'refuse'

/**
 * Runs all missing steps in one transaction and under a lock, so that one of several processes runs them while the others wait.
 * Rejects, with nothing changed, when a step fails or another version has been there.
 */
export async function migrate(db: Database, whenOlder: WhenOlder = 'upgrade'): Promise<void> {
  const provider = { getMigrations: () => Promise.resolve({ ...migrations }) }
  await sql`select 1`.execute(db).catch((error: unknown) => refuseStart('open its database', error))
  const failure = await checkVersion(db, whenOlder).then(
    async () => (await new Migrator({ db, provider }).migrateToLatest()).error,
    (error: unknown) => error,
  )
  if (failure !== undefined) refuseStart('bring its database to the newest shape', failure)
}

/** Throws ERR_SERVICE_DATABASE in the database's words. */
export function refuseStart(what: string, cause: unknown): never {
  const error = new Error(`The service could not ${what}: ${reasonOf(cause)}.`, { cause })
  throw Object.assign(error, { code: 'ERR_SERVICE_DATABASE' })
}

const GO_ON = 'Start that version, or restore the backup that was made before it was first started'

/** Rejects when a step was taken that is none of ours, which Kysely would call corrupted, or when some are missing and may not be run. */
async function checkVersion(db: Database, whenOlder: WhenOlder): Promise<void> {
  const table = await sql`select where to_regclass('kysely_migration') is not null`.execute(db)
  if (table.rows.length === 0) return checkEncoding(db)
  const { rows: taken } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  const stranger = taken.findLast(({ name }) => !Object.hasOwn(migrations, name))
  if (stranger !== undefined)
    throw new Error(`a newer version of the service has used it (step ${stranger.name}). ${GO_ON}`)
  const isOlder = taken.length > 0 && taken.length < Object.keys(migrations).length
  if (isOlder && whenOlder === 'refuse')
    throw new Error(
      'an older version of the service uses it. Take the command of that version, or start this service first',
    )
}

/** Rejects for a new database that lacks letters: each call with such a name would fail, and no other. SQL_ASCII keeps bytes as they come. */
async function checkEncoding(db: Database): Promise<void> {
  const { rows } = await sql<{ name: string }>`select current_setting('server_encoding') as name`.execute(db)
  const name = rows[0]?.name ?? ''
  if (!/^(?:UTF8|SQL_ASCII)$/.test(name))
    throw new Error(`its encoding ${name} lacks letters. Create it with the encoding UTF8`)
}

/** Whoever starts the service must learn of a wrong host, user or right from this. A database's words hold no password. */
function reasonOf(error: unknown): string {
  const { message, code } = error as { readonly message?: string; readonly code?: string }
  // Of a host with several addresses, Node reports a code without a message.
  return message || code || String(error)
}
