// What copies of the service share in a data folder besides the objects: which database the folder belongs to, and the secret that
// signs addresses. Each is made exactly once, by whoever comes first, even if many come at the same time.

import { randomBytes, randomUUID } from 'node:crypto'
import { link, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { isCode } from '../error-code.ts'
import type { Database } from './tables.ts'

const SECRET_BYTES = 32

/** The folder holds the objects of another database; to this one they would look like leftovers. */
class ForeignDataFolderError extends Error {
  readonly code = 'ERR_SERVICE_DATA_FOREIGN'

  constructor(folder: string) {
    super(
      `The data folder ${folder} belongs to another database. Name the database that it was begun with, or choose ` +
        'another folder. (It was restored or moved on purpose? Then remove its file database-id.)',
    )
    this.name = 'ForeignDataFolderError'
  }
}

/** Claims the folder for this database. Rejects with ForeignDataFolderError when it belongs to another one. */
export async function claimDataFolder(folder: string, db: Database): Promise<void> {
  const { id } = await db.selectFrom('database_identity').select('id').executeTakeFirstOrThrow()
  const owner = await madeOnce(join(folder, 'database-id'), Buffer.from(id))
  if (owner.toString() !== id) throw new ForeignDataFolderError(folder)
}

/** The folder's secret, so that addresses survive a restart and are valid at every copy. Only the owner may read the file. */
export async function signingSecret(folder: string): Promise<Uint8Array> {
  const path = join(folder, 'signing-key')
  const secret = await madeOnce(path, randomBytes(SECRET_BYTES))
  if (secret.length === SECRET_BYTES) return secret
  throw new Error(`The file ${path} is damaged. Remove it: a new one is made, and addresses that are out die.`)
}

/** Reads the file at `path`. If there is none, one of the processes that try makes it from its `bytes`, complete and durable. */
async function madeOnce(path: string, bytes: Uint8Array): Promise<Buffer> {
  const known = await readIfThere(path)
  if (known !== undefined) return known
  const aside = `${path}.${randomUUID()}`
  const file = await open(aside, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    // Unlike a rename, a link never replaces a file that another process has made meanwhile.
    await link(aside, path)
  } catch (error) {
    // Copies cannot share a disk without hard links, so here a rename replaces nobody's file.
    if (!isCode(error, 'EEXIST')) await rename(aside, path)
  } finally {
    await rm(aside, { force: true })
  }
  return readFile(path)
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}
