// Opens only the keys of a service's database, for its administrator: alongside running services where the database is a server,
// and only while none runs where it is embedded.

import { join } from 'node:path'

import { checkDataFolder } from '../database/data-folder.ts'
import { lockDataFolder } from '../database/data-lock.ts'
import { openDatabase } from '../database/database.ts'
import { makeFolder } from '../make-folder.ts'
import type { ServiceOptions } from '../options.ts'
import { createApiKey, listApiKeys, revokeApiKey, type ApiKeyRecord } from './api-keys.ts'

/** Where the keys are: in the service's database, given by the same options. */
export interface KeyRingOptions {
  readonly dataDir?: string | undefined
  /** Secret. */
  readonly databaseUrl?: string | undefined
  /** As in the options of `startService`. */
  readonly preparedDatabase?: ServiceOptions['preparedDatabase'] | undefined
}

export interface KeyRing {
  /** Makes a key for an organisation. `key` is secret and is shown only this once. */
  create(orgId: string, name: string): Promise<ApiKeyRecord & { readonly key: string }>
  /** All keys, oldest first. */
  list(): Promise<ApiKeyRecord[]>
  /** Revokes a key as of the next call made with it. Returns false for an unknown id. */
  revoke(id: string): Promise<boolean>
  close(): Promise<void>
}

export async function openKeys({ dataDir, databaseUrl, preparedDatabase }: KeyRingOptions): Promise<KeyRing> {
  if (databaseUrl !== undefined) {
    // Services may be running.
    const db = await openDatabase({ kind: 'server', url: databaseUrl, connections: 1, whenOlder: 'refuse' })
    return ringOf(db, () => db.destroy())
  }
  if (dataDir === undefined)
    throw new TypeError('openKeyRing: dataDir or databaseUrl must say where the keys are kept.')
  await checkDataFolder(dataDir, 'embedded')
  await makeFolder(dataDir)
  const lock = await lockDataFolder(dataDir)
  try {
    const db = await openDatabase({ kind: 'embedded', folder: join(dataDir, 'db'), prepared: preparedDatabase })
    return ringOf(db, () => db.destroy().finally(() => lock.release()))
  } catch (error) {
    await lock.release()
    throw error
  }
}

function ringOf(db: Awaited<ReturnType<typeof openDatabase>>, close: () => Promise<void>): KeyRing {
  return {
    create: (orgId, name) => createApiKey(db, { orgId, name, now: new Date() }),
    list: () => listApiKeys(db),
    revoke: (id) => revokeApiKey(db, id, new Date()),
    close,
  }
}
