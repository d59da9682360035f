// Databases of the service that are used again: to start PGlite takes 0.7 s of a processor, 1.8 s in a folder, and to empty one 20 ms.

import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { PGlite, type PGliteOptions } from '@electric-sql/pglite'

/** Leaves the tables as the prepared database has them. */
const EMPTY = `
  do $$
  declare one record;
  declare has_rows boolean;
  begin
    for one in select relid::regclass as name from pg_stat_user_tables
      where relname not like 'kysely%' and relname <> 'database_identity'
    loop
      execute format('select exists (select from %s)', one.name) into has_rows;
      if has_rows then execute format('truncate %s cascade', one.name); end if;
    end loop;
    perform setval(seqrelid, seqstart, false) from pg_sequence;
  end $$`

/** By this file the service knows a folder in which it has a database. */
const MARK = 'PG_VERSION'

/** That nobody uses now, and empty. */
const free: PGlite[] = []
/** That nobody uses now, with the records of these folders. */
const ofFolders = new Map<string, PGlite>()
const create = PGlite.create.bind(PGlite) as (options?: PGliteOptions) => Promise<PGlite>

/**
 * Does this with databases that others have left, in place of new ones in memory that begin as the prepared one. With `forFolders`, the
 * prepared one, in place of all in a folder too: their records stay in this process until the folder is removed.
 */
export async function withKeptDatabases<T>(work: () => Promise<T>, forFolders?: Blob): Promise<T> {
  PGlite.create = ((options: PGliteOptions = {}) => {
    const { loadDataDir, dataDir, fs } = options
    if (dataDir !== undefined) return create(options)
    if (fs === undefined) return loadDataDir === undefined ? create(options) : lend(loadDataDir)
    // PGlite's types do not tell where such files are.
    return forFolders === undefined ? create(options) : lend(forFolders, (fs as unknown as { rootDir: string }).rootDir)
  }) as typeof PGlite.create
  try {
    return await work()
  } finally {
    PGlite.create = create as typeof PGlite.create
  }
}

/** A database whose `close` only ends this use of it. */
async function lend(loadDataDir: Blob, folder?: string): Promise<PGlite> {
  for (const [path, database] of ofFolders) {
    if (existsSync(join(path, MARK))) continue
    ofFolders.delete(path)
    await setFree(database)
  }
  const database = ofFolders.get(folder ?? '') ?? free.pop() ?? (await create({ loadDataDir }))
  ofFolders.delete(folder ?? '')
  if (folder !== undefined) await writeFile(join(folder, MARK), '')
  let isOver = false
  const giveBack = async () => {
    isOver = true
    // What one use left half done must not be in the next.
    await database.exec('rollback')
    if (folder === undefined) await setFree(database)
    else ofFolders.set(folder, database)
  }
  return new Proxy(database, {
    get(_, name) {
      if (isOver) throw new Error('PGlite is closed')
      if (name === 'close') return giveBack
      const value: unknown = Reflect.get(database, name, database)
      return typeof value === 'function' ? (value.bind(database) as unknown) : value
    },
  })
}

async function setFree(database: PGlite): Promise<void> {
  await database.exec(EMPTY)
  await database.exec('discard all')
  free.push(database)
}
