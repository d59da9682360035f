// Storage on the service's own disk: addresses lead back to the service, and database rows say which objects exist.

import type { ServiceContext } from '../context.ts'
import { addressOf, keyOf } from './object-keys.ts'
import type { ObjectStorage, VideoObject } from './object-storage.ts'
import { addressesOfParts } from './part-addresses.ts'
import { checkParts, type StoredPart } from './part-check.ts'

/** Keys per statement. */
const BATCH = 1_000

export function diskStorage(context: Pick<ServiceContext, 'db' | 'store' | 'signer' | 'publicUrl'>): ObjectStorage {
  const { db, store } = context
  return {
    problemOf: () => undefined,
    begin: (files) => Promise.resolve(files.map(() => null)),
    partAddresses: (files, signal) =>
      addressesOfParts(files, ({ key }, partNumber) => addressOf(context, 'PUT', key, partNumber), signal),
    captureSigner: () => Promise.resolve((key) => addressOf(context, 'PUT', key)),
    readAddress: (key) => Promise.resolve(addressOf(context, 'GET', key)),
    async captureSizes(keys) {
      if (keys.length === 0) return new Map()
      const wanted = keys.map(keyOf)
      const rows = await db.selectFrom('objects').select(['key', 'size_bytes']).where('key', 'in', wanted).execute()
      return new Map(rows.map(({ key, size_bytes }) => [key, size_bytes]))
    },
    async check(trx, file, etags) {
      const rows = await trx
        .selectFrom('objects')
        .select(['part_number', 'md5', 'size_bytes'])
        .where('key', '=', keyOf(file.key))
        .execute()
      const stored = rows.map((row): StoredPart => ({
        partNumber: row.part_number,
        etag: row.md5,
        sizeBytes: row.size_bytes,
      }))
      checkParts(stored, etags, file.sizeBytes)
    },
    checkReachable: () => store.checkReachable(),
    async release(files: readonly VideoObject[], signal?: AbortSignal) {
      for (let start = 0; start < files.length; start += BATCH) {
        signal?.throwIfAborted()
        const keys = files.slice(start, start + BATCH).map(({ key }) => keyOf(key))
        const removed = await db.deleteFrom('objects').where('key', 'in', keys).returning('blob').execute()
        await store.remove(removed.map(({ blob }) => blob))
      }
    },
  }
}
