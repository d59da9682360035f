// The port to whatever keeps the objects: what the routes ask of the disk and of an S3-compatible store alike.

import type { Transaction } from 'kysely'

import type { Tables } from '../database/tables.ts'
import type { ObjectKey } from './object-keys.ts'

/** One file of a video session, as storage sees it. */
export interface VideoObject {
  readonly key: ObjectKey
  readonly sizeBytes: number
  readonly partCount: number
  /** The store's own name of the multipart upload; null where the file needs none, or before it has one. */
  readonly uploadId: string | null
}

export interface ObjectStorage {
  /** What the store cannot take about a file that is to be announced; undefined when it can. */
  problemOf(sizeBytes: number, partCount: number): string | undefined
  /**
   * Makes ready for the parts of these files; the id of each one's upload. Rejects when one could not be made, or with the
   * signal's reason.
   */
  begin(files: readonly VideoObject[], signal: AbortSignal): Promise<readonly (string | null)[]>
  /** PUT addresses of parts 1 to N of each file. Secret. Others are answered meanwhile; rejects with the signal's reason. */
  partAddresses(files: readonly VideoObject[], signal: AbortSignal): Promise<string[][]>
  /** The same of capture files, one each, in their order. */
  captureAddresses(keys: readonly ObjectKey[], signal: AbortSignal): Promise<string[]>
  /** An address to read an object back. Secret. */
  readAddress(key: ObjectKey): Promise<string>
  /** Sizes of those of these capture files that were put, by `keyOf`. */
  captureSizes(keys: readonly ObjectKey[]): Promise<ReadonlyMap<string, number>>
  /**
   * Makes one object of the parts, where the store needs to be told so; it may take minutes, so no transaction is open.
   * `etags` are those of parts 1 to N, without quotes. A repeat succeeds. Throws a Refusal when the parts are not these.
   */
  readonly assemble?: (file: VideoObject, etags: readonly string[]) => Promise<void>
  /** Judges the parts inside the confirming transaction. Throws a Refusal when they are not these. */
  check(trx: Transaction<Tables>, file: VideoObject, etags: readonly string[]): Promise<void>
  /** Rejects when the store is away. */
  checkReachable(): Promise<void>
  /** Removes the files and all parts of theirs; what is gone already is no error. */
  release(files: readonly VideoObject[]): Promise<void>
}
