// What copies of the service share in a data folder besides the objects: which database the folder belongs to, by which id that
// database knows the folder, and the secret that signs addresses. Each is made exactly once, by whoever comes first, even if many come
// at the same time.

import { randomBytes, randomUUID } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { link, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { isCode } from '../error-code.ts'
import { syncFolder } from '../sync-folder.ts'
import type { Database } from './tables.ts'

const SECRET_BYTES = 32

const IDENTITY = 'database-id'
const FOLDER = 'folder-id'
const SIGNING_KEY = 'signing-key'
/** What a service makes in a folder, and what a new disk has in it. Systems keep things of theirs under names with a dot. */
const OWN_NAMES =
  /^(?:\..*|lost\+found|db(?:\.making)?|objects|lock|beacons|(?:database-id|folder-id|signing-key)(?:\.[\da-f-]{36})?)$/

/** The folder belongs to another database, to which its objects are no leftovers, or to another program. */
class ForeignDataFolderError extends Error {
  readonly code = 'ERR_SERVICE_DATA_FOREIGN'

  constructor(message: string) {
    super(message)
    this.name = 'ForeignDataFolderError'
  }
}

function belongsToAnother(folder: string): ForeignDataFolderError {
  return new ForeignDataFolderError(
    `The data folder ${folder} belongs to another database. Name the database that it was begun with, or choose ` +
      'another folder. (It was restored or moved on purpose? Then remove its file database-id.)',
  )
}

/**
 * Rejects with ForeignDataFolderError, before anything is made, when the folder is another program's or visibly another database's.
 * A folder that a service has begun may have anything else in it.
 */
export async function checkDataFolder(folder: string, database: 'embedded' | 'server'): Promise<void> {
  const names = await namesIn(folder)
  if (names.includes(IDENTITY)) {
    if (database === 'embedded' && !names.includes('db')) throw belongsToAnother(folder)
    return
  }
  // Whoever restored a folder on purpose has removed its identity.
  if (names.includes(SIGNING_KEY)) return
  const stranger = names.find((name) => !OWN_NAMES.test(name))
  if (stranger === undefined) return
  const what = `The folder ${folder} has something else in it: ${JSON.stringify(stranger)}.`
  throw new ForeignDataFolderError(`${what} Choose an empty folder for the data, or a new one.`)
}

/**
 * Claims the folder for this database. Rejects with ForeignDataFolderError when it belongs to another one, or when nobody has claimed
 * it and its objects are unknown to this one.
 */
export async function claimDataFolder(folder: string, db: Database): Promise<void> {
  const { id } = await db.selectFrom('database_identity').select('id').executeTakeFirstOrThrow()
  const owner = await madeOnce(join(folder, IDENTITY), async () => {
    await checkObjects(folder, db)
    return Buffer.from(id)
  })
  if (owner.toString() !== id) throw belongsToAnother(folder)
}

/** Objects looked up before an unclaimed folder is believed. */
const SAMPLE = 1_000

/** Whoever removed the identity may have named the wrong database all the same, and its start would remove all objects as leftovers. */
async function checkObjects(folder: string, db: Database): Promise<void> {
  const blobs = (await blobsIn(folder)).slice(0, SAMPLE)
  if (blobs.length === 0) return
  const known = await db.selectFrom('objects').select('blob').where('blob', 'in', blobs).executeTakeFirst()
  if (known !== undefined) return
  throw new ForeignDataFolderError(
    `The data folder ${folder} has objects of which this database knows nothing. Name the database that it was begun ` +
      'with. (Nobody needs them any more? Then remove its folder objects.)',
  )
}

/**
 * Ties a database to the folder with its objects. Rejects with ForeignDataFolderError if they are in another folder: copies that share
 * the database and not the folder would not find each other's objects. Claims the folder, after a look that makes nothing.
 */
export async function tieToFolder(folder: string, db: Database): Promise<void> {
  const known = async (): Promise<string | null> =>
    (await db.selectFrom('database_identity').select('folder_id').executeTakeFirstOrThrow()).folder_id
  const path = join(folder, FOLDER)
  const refuseOther = (own: Buffer | undefined, id: string | null): void => {
    if (id !== null && own?.toString().trim() !== id) throw isElsewhere(folder, id)
  }
  // In this order: the file is there before the database knows of it.
  const before = await known()
  const found = await readIfThere(path)
  refuseOther(found, before)
  if (before === null && found === undefined && (await lacksAll(folder, db))) throw isElsewhere(folder, randomUUID())
  await claimDataFolder(folder, db)
  const own = await madeOnce(path, () => Promise.resolve(Buffer.from(randomUUID())))
  // Of copies that begin at once, one comes first.
  const first = db.updateTable('database_identity').set({ folder_id: own.toString().trim() })
  await first.where('folder_id', 'is', null).execute()
  refuseOther(own, await known())
}

/** True if there are objects and none is here: a database of an earlier version may meet a new folder first, or a disk not mounted. */
async function lacksAll(folder: string, db: Database): Promise<boolean> {
  const some = await db.selectFrom('objects').select('blob').limit(1).executeTakeFirst()
  return some !== undefined && (await blobsIn(folder)).length === 0
}

function isElsewhere(folder: string, id: string): ForeignDataFolderError {
  return new ForeignDataFolderError(
    `The database keeps its objects in another folder than ${folder}. Give all copies the same folder, on a disk that each of ` +
      `them mounts, or a bucket. (That folder is lost, and this one is to take its place? Then write ${id} into its file ${FOLDER}.)`,
  )
}

/** The folder's secret, so that addresses survive a restart and are valid at every copy. Only the owner may read the file. */
export async function signingSecret(folder: string): Promise<Uint8Array> {
  const path = join(folder, SIGNING_KEY)
  const secret = await madeOnce(path, () => Promise.resolve(randomBytes(SECRET_BYTES)))
  if (secret.length === SECRET_BYTES) return secret
  throw new Error(`The file ${path} is damaged. Remove it: a new one is made, and addresses that are out die.`)
}

/** Reads the file at `path`. If there is none, one of the processes that try makes it of its `bytes`, complete and durable. */
async function madeOnce(path: string, bytes: () => Promise<Uint8Array>): Promise<Buffer> {
  const known = await readIfThere(path)
  if (known !== undefined) return known
  const made = await bytes()
  const aside = `${path}.${randomUUID()}`
  const file = await open(aside, 'wx', 0o600)
  try {
    await file.writeFile(made)
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
  await syncFolder(dirname(path))
  return readFile(path)
}

/** A folder among them is no blob: some file servers make their own. */
async function blobsIn(folder: string): Promise<string[]> {
  const entries = await entriesIn(join(folder, 'objects', 'stored'))
  return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name)
}

async function namesIn(folder: string): Promise<string[]> {
  return (await entriesIn(folder)).map(({ name }) => name)
}

async function entriesIn(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    // A file in its place is reported where the folder is made.
    if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR')) return []
    throw error
  })
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}
