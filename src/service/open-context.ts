// Opens what a service stands on: its folder, database, objects and signers. Each step notes how to undo it, for a service that
// stops or cannot start.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { ServiceContext } from './context.ts'
import { checkDataFolder, claimDataFolder, signingSecret, tieToFolder } from './database/data-folder.ts'
import { lockDataFolder } from './database/data-lock.ts'
import { openDatabase, type DatabasePlace } from './database/database.ts'
import { diskRoom, freeBytes } from './database/disk-room.ts'
import { skipGivenIds } from './database/fresh-ids.ts'
import type { Database } from './database/tables.ts'
import { createAnswerMemory } from './http/answer-memory.ts'
import { makeFolder } from './make-folder.ts'
import { createObjectStore } from './objects/object-store.ts'
import { createSigner, type Signer } from './objects/signing.ts'
import { createAddressSigner } from './s3/s3-addresses.ts'
import type { S3Settings } from './s3/s3-settings.ts'
import { s3Storage } from './s3/s3-storage.ts'
import type { ServiceSettings } from './settings.ts'

/** Other copies may be writing to a shared folder. This is far longer than a body may pause. */
const SHARED_GRACE_MS = 24 * 3_600_000

export interface Opened {
  readonly context: ServiceContext & { listensAt: string; stopping: boolean }
  /** Makes a signer with the folder's secret for addresses with this lifetime. */
  readonly signerFor: (lifeSeconds: number) => Signer
}

/** What undoes the steps taken so far; run it in reverse order. */
export type Undo = (() => Promise<void>)[]

/** Rejects when a step fails. What was opened before is in `undo`. */
export async function openContext(settings: ServiceSettings, undo: Undo): Promise<Opened> {
  const folder = settings.dataDir ?? (await mkdtemp(join(tmpdir(), 'mocap-uplink-')))
  if (settings.dataDir === undefined) undo.push(() => rm(folder, { recursive: true, force: true }))
  const { databaseUrl, jwt } = settings
  await checkDataFolder(folder, databaseUrl === undefined ? 'embedded' : 'server')
  await makeFolder(folder)
  // A database server keeps its clients apart itself, so many copies may share the folder.
  if (databaseUrl === undefined) {
    const lock = await lockDataFolder(folder)
    undo.push(() => lock.release())
  }
  const db = await openDatabase(placeOf(settings))
  undo.push(() => db.destroy())
  // An embedded database is in its folder, and with a bucket there are no objects in a folder.
  const isShared = databaseUrl !== undefined && settings.s3 === undefined
  await (isShared ? tieToFolder(folder, db) : claimDataFolder(folder, db))
  await skipGivenIds(db, Math.floor(settings.now()))
  const store = await createObjectStore(join(folder, 'objects'))
  await store.sweep({
    known: (blobs) => knownBlobs(db, blobs),
    graceMs: databaseUrl === undefined ? 0 : SHARED_GRACE_MS,
  })
  const secret = await signingSecret(folder)
  const room = settings.dataDir === undefined ? undefined : diskRoom(() => freeBytes(folder), settings.keepFreeBytes)
  const signerFor = (lifeSeconds: number) => createSigner({ secret, lifeSeconds, now: settings.now })
  const bucket = settings.s3 === undefined ? undefined : await bucketStorage(settings, settings.s3, undo)
  const context: Opened['context'] = {
    bucket,
    settings,
    db,
    store,
    room,
    roomForRecords: databaseUrl === undefined ? room : undefined,
    // Only a service that accepts such tokens needs the package for them.
    tokenCheck: jwt && (await import('./access/access-tokens.ts')).tokenCheck(jwt, settings.now),
    signer: signerFor(settings.addressLifeSeconds),
    answers: createAnswerMemory(settings.limits.bodyBytes),
    listensAt: '',
    stopping: false,
    isStopping: () => context.stopping,
    publicUrl: () => settings.publicUrl ?? context.listensAt,
  }
  return { context, signerFor }
}

async function bucketStorage(settings: ServiceSettings, s3: S3Settings, undo: Undo) {
  // Only a service with a bucket needs the SDK.
  const { openBucket } = await import('./s3/s3-bucket.ts')
  const bucket = openBucket(s3)
  undo.push(() => {
    bucket.close()
    return Promise.resolve()
  })
  const { place, region } = s3
  const { addressLifeSeconds: lifeSeconds } = settings
  // The store judges addresses by its own clock, as it does the SDK's calls, which follow it.
  const now = () => settings.now() + bucket.clockAheadMs()
  const storage = s3Storage(bucket, createAddressSigner({ place, region, lifeSeconds, now }), settings.now)
  // Tells its time. Captures alone, and files of one part, need no call before their addresses are made.
  void storage.checkReachable().catch(() => undefined)
  return storage
}

function placeOf({ databaseUrl, databaseConnections, dataDir, ...rest }: ServiceSettings): DatabasePlace {
  if (databaseUrl !== undefined) return { kind: 'server', url: databaseUrl, connections: databaseConnections }
  return {
    kind: 'embedded',
    folder: dataDir === undefined ? undefined : join(dataDir, 'db'),
    prepared: rest.preparedDatabase,
    keepFreeBytes: rest.keepFreeBytes,
  }
}

async function knownBlobs(db: Database, blobs: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('objects').select('blob').where('blob', 'in', blobs).execute()
  return new Set(rows.map(({ blob }) => blob))
}
