// Opens the database that the settings name, with all migrations done: one that is embedded, or a PostgreSQL server.

import type { PglitePlace } from './pglite-database.ts'
import type { Database } from './tables.ts'

/** Where the database is. */
export type DatabasePlace =
  | ({ readonly kind: 'embedded' } & PglitePlace)
  | {
      readonly kind: 'server'
      /** Secret: it holds the password. */
      readonly url: string
      /** The most connections that are open at once. */
      readonly connections: number
    }

/** Opens the database and brings it to the newest shape. `destroy()` closes it. */
export async function openDatabase(place: DatabasePlace): Promise<Database> {
  // Only the engine that is used needs to be installed.
  if (place.kind === 'server')
    return (await import('./postgres-database.ts')).openPostgres(place.url, place.connections)
  return (await import('./pglite-database.ts')).openPglite(place)
}
