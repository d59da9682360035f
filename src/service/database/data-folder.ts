// What copies of the service share in a data folder beside the objects: which database the folder belongs to, and the
// secret that signs addresses. Each is made once, whoever comes first, however many come at once.

import { randomBytes, randomUUID } from 'node:crypto'
import { link, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { isCode } from '../error-code.ts'
import type { Database } from './tables.ts'

const SECRET_BYTES = 32

/** The folder holds the objects of another database: what that one knows would look like leftovers to this one. */
export class ForeignDataFolderError extends Error {
  readonly code = 'ERR_SERVICE_DATA_FOREIGN'

  constructor(folder: string) {
    super(
      `The data folder ${folder} belongs to another database. Name the database that it was begun with, or choose ` +
        'another folder. (It was restored or moved on purpose? Then remove its file database-id.)',
    )
    this.name = 'ForeignDataFolderError'
  }
}

/** Makes the folder this database's own. Rejects with ForeignDataFolderError when it is another one's. */
export async function claimDataFolder(folder: string, db: Database): Promise<void> {
  const { id } = await db.selectFrom('database_identity').select('id').executeTakeFirstOrThrow()
  const owner = await madeOnce(join(folder, 'database-id'), Buffer.from(id))
  if (owner.toString() !== id) throw new ForeignDataFolderError(folder)
}

/** The folder's secret, so that addresses outlive a restart and hold at every copy. Only the owner may read it. */
export async function signingSecret(folder: string): Promise<Uint8Array> {
  const path = join(folder, 'signing-key')
  const secret = await madeOnce(path, randomBytes(SECRET_BYTES))
  if (secret.length === SECRET_BYTES) return secret
  throw new Error(`The file ${path} is damaged. Remove it: a new one is made, and addresses that are out die.`)
}

/** The bytes of the file at `path`; where there is none it is made of `bytes`, whole and durable, by one of all who try. */
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
    // Unlike a rename, a link never replaces what another one has made meanwhile.
    await link(aside, path)
  } catch (error) {
    // A disk without links is no disk that copies share: there is nobody to be replaced.
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
