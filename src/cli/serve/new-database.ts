// What a new database begins with: an empty one, which the build has put beside the command. Making one takes PGlite three seconds.

import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'

/**
 * An archive of an empty database, 40 MB. Undefined where that is damaged or not beside the command, as when somebody has bundled it: then
 * one is made.
 */
export async function readNewDatabase(
  archive = new URL('./new-database.tar.br', import.meta.url),
): Promise<Blob | undefined> {
  try {
    return new Blob([await promisify(brotliDecompress)(await readFile(archive))])
  } catch {
    return undefined
  }
}
