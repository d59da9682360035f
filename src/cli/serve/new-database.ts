// What a new database begins with: an empty one, which the build has put beside the command. Making one takes PGlite three seconds.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'

/** Where the database is or will be: in memory if neither is given. */
interface DatabasePlace {
  readonly dataDir?: string | undefined
  readonly databaseUrl?: string | undefined
}

/**
 * An archive of an empty database, 40 MB, for a service that has none yet. Undefined if it has one, or a server for it, and where the
 * archive is damaged or not beside the command, as when somebody has bundled it: then one is made.
 */
export async function newDatabaseFor(
  { dataDir, databaseUrl }: DatabasePlace,
  archive = new URL('./new-database.tar.br', import.meta.url),
): Promise<Blob | undefined> {
  if (databaseUrl !== undefined || (dataDir !== undefined && isMade(join(dataDir, 'db')))) return undefined
  try {
    return new Blob([await promisify(brotliDecompress)(await readFile(archive))])
  } catch {
    return undefined
  }
}

/** Of a start that was killed meanwhile, the service finds the mark and begins again. */
function isMade(folder: string): boolean {
  return existsSync(join(folder, 'PG_VERSION')) && !existsSync(`${folder}.making`)
}
