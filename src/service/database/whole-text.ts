// Reads a text column with every character of it, whichever database holds it.

import { sql, type AliasedRawBuilder } from 'kysely'

/**
 * The column under a name. PGlite reads a text without the byte order mark that it may begin with, such as the first name
 * of a list that Windows wrote. Two files of a session could then have one name. Inside JSON, the mark stays.
 */
export function wholeText<A extends string>(column: string, alias: A): AliasedRawBuilder<string, A> {
  return sql<string>`to_jsonb(${sql.ref(column)})`.as(alias)
}
