// Ids of capture files that no earlier run of the service has given. A database that was restored from a backup does not know which
// ids came after it, and would give them again: an address that is still out would then store one file's bytes under another's name.

import { sql } from 'kysely'

import { refuseStart } from './migrate.ts'
import type { Database } from './tables.ts'

/**
 * Goes on at the wall time, ms, wherever the ids are behind it: no more than one comes for each ms that the service runs. Those of video
 * files need nothing of the kind, because all of a session's come with its own id. Rejects with ERR_SERVICE_DATABASE for a user who
 * does not own them.
 */
export async function skipGivenIds(db: Database, now: number): Promise<void> {
  await sql`
    select setval('mocap_session_files_id_seq', ${now}::bigint)
    from mocap_session_files_id_seq where last_value < ${now}::bigint`
    .execute(db)
    .catch((error: unknown) => refuseStart('go on with the ids of its database', error))
}
