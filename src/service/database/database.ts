// Opens the database that the settings name, fully migrated: the embedded one or a PostgreSQL server.

import type { WhenOlder } from './migrate.ts'
import type { PglitePlace } from './pglite-database.ts'
import type { Database } from './tables.ts'

/** Where the database is. */
export type DatabasePlace =
  | ({ readonly kind: 'embedded' } & PglitePlace)
  | {
      readonly kind: 'server'
      /** Secret, because it holds the password. */
      readonly url: string
      /** The most connections open at the same time. */
      readonly connections: number
      /** Default upgrade. */
      readonly whenOlder?: WhenOlder
    }

/** Opens the database and migrates it to the newest schema. `destroy()` closes it. */
export async function openDatabase(place: DatabasePlace): Promise<Database> {
  // Only the engine in use needs to be installed.
  if (place.kind === 'server')
    return (await import('./postgres-database.ts')).openPostgres(place.url, place.connections, place.whenOlder)
  return (await import('./pglite-database.ts')).openPglite(place)
}
