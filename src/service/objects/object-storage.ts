// The port to whatever keeps the objects: what the routes need from the disk and from an S3-compatible store alike.

import type { Transaction } from 'kysely'

import type { Tables } from '../database/tables.ts'
import type { ObjectKey } from './object-keys.ts'

/** The most that one PUT may carry, as on S3: https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html */
export const MAX_PUT_BYTES = 5 * 1024 ** 3

/** One file of a video session, as storage sees it. */
export interface VideoObject {
  readonly key: ObjectKey
  readonly sizeBytes: number
  readonly partCount: number
  /** The store's id of the multipart upload; null where the file needs none or has none yet. */
  readonly uploadId: string | null
}

export interface ObjectStorage {
  /** Why the store cannot take a file with these numbers; undefined if it can. */
  problemOf(sizeBytes: number, partCount: number): string | undefined
  /**
   * Prepares for the parts of these files and returns the id of each one's upload. Rejects when one could not be made, or with the
   * signal's reason.
   */
  begin(files: readonly VideoObject[], signal: AbortSignal): Promise<readonly (string | null)[]>
  /** PUT addresses of parts 1 to N of each file. Secret. Lets other calls in between. Rejects with the signal's reason. */
  partAddresses(files: readonly VideoObject[], signal: AbortSignal): Promise<string[][]>
  /** Signs the PUT address of a capture file. Rejects where the store has no keys to sign with: nothing may have been done by then. */
  captureSigner(): Promise<(key: ObjectKey) => string>
  /** An address to read an object back. Secret. */
  readAddress(key: ObjectKey): Promise<string>
  /** The sizes of those capture files that were put, by `keyOf`. */
  captureSizes(keys: readonly ObjectKey[]): Promise<ReadonlyMap<string, number>>
  /**
   * Makes one object of the parts, where the store must be told to. It may take minutes, so no transaction is open. `etags` are
   * those of parts 1 to N, without quotes. A repeat succeeds. Throws a Refusal when the stored parts differ.
   */
  readonly assemble?: (file: VideoObject, etags: readonly string[]) => Promise<void>
  /** Checks the parts inside the confirming transaction. Throws a Refusal when the stored parts differ. */
  check(trx: Transaction<Tables>, file: VideoObject, etags: readonly string[]): Promise<void>
  /** Rejects when the store is unavailable. */
  checkReachable(): Promise<void>
  /** Removes the files and all their parts. Anything already gone is no error. Rejects soon after the signal. */
  release(files: readonly VideoObject[], signal?: AbortSignal): Promise<void>
}
