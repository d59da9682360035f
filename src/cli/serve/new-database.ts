// What a new database begins with: an empty one, which the build has put beside the command. Making one takes PGlite three seconds.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'

import { errorCode } from '../../adapters/node/file-problem.ts'

/** Where the database is or will be: in memory if neither is given. */
interface DatabasePlace {
  readonly dataDir?: string | undefined
  readonly databaseUrl?: string | undefined
}

/**
 * An archive of an empty database, 40 MB, for a service that has none yet. Undefined if it has one, or a server for it, and where the
 * archive is not beside the command, as when somebody has bundled it.
 */
export async function newDatabaseFor(
  { dataDir, databaseUrl }: DatabasePlace,
  archive = new URL('./new-database.tar.br', import.meta.url),
): Promise<Blob | undefined> {
  if (databaseUrl !== undefined) return undefined
  if (dataDir !== undefined && existsSync(join(dataDir, 'db'))) return undefined
  try {
    return new Blob([await promisify(brotliDecompress)(await readFile(archive))])
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
