// Bytes on disk under random names. A blob is written aside, made durable and renamed, so it exists whole or not at all. The
// database knows what each blob is for; blobs it does not know are swept at the start.

import { createHash, randomUUID } from 'node:crypto'
import { access, constants, open, opendir, rename, rm, stat, utimes, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

import { makeFolder } from '../make-folder.ts'
import { syncFolder } from '../sync-folder.ts'

export interface ReceivedBlob {
  readonly blob: string
  readonly sizeBytes: number
  /** 32 lower-case hex digits. */
  readonly md5: string
}

/** May be asynchronous. */
type OnBytes = (bytes: number) => unknown

export interface SweepOptions {
  /** Which of these blobs, at most a thousand, are still in use. */
  known(blobs: readonly string[]): Promise<ReadonlySet<string>>
  /** Spares what changed more recently than this, ms: longer than any pause in a body. 0 spares nothing, as nobody else writes. */
  readonly graceMs: number
}

export interface ObjectStore {
  /**
   * Stores a body of exactly `lengthBytes` at constant memory. Rejects and stores nothing when its length differs, or when `onBytes`
   * rejects, which is asked before bytes are written.
   */
  receive(body: Readable, lengthBytes: number, onBytes?: OnBytes): Promise<ReceivedBlob>
  /** Opens a blob. An open blob can be read to its end even if it is removed. */
  open(blob: string): Promise<FileHandle>
  /** Removes blobs. Those already gone are no error. */
  remove(blobs: readonly string[]): Promise<void>
  /** Removes what an earlier run left half-written, and every blob that is not in use. */
  sweep(options: SweepOptions): Promise<void>
  /** Rejects when the folder is missing or not writable. */
  checkReachable(): Promise<void>
}

/** Opens the store in `folder`, which is created if it is missing. */
export async function createObjectStore(folder: string): Promise<ObjectStore> {
  const incoming = join(folder, 'incoming')
  const stored = join(folder, 'stored')
  await makeFolder(incoming)
  await makeFolder(stored)
  return {
    checkReachable: () => access(incoming, constants.W_OK | constants.X_OK),
    async receive(body, lengthBytes, onBytes) {
      const blob = randomUUID()
      const path = join(incoming, blob)
      try {
        const { sizeBytes, md5 } = await write(path, body, onBytes)
        if (sizeBytes !== lengthBytes) throw new Error(`The body ended after ${sizeBytes} of ${lengthBytes} bytes.`)
        await rename(path, join(stored, blob))
        await syncFolder(stored)
        return { blob, sizeBytes, md5 }
      } catch (error) {
        await rm(path, { force: true })
        throw error
      }
    },
    open: (blob) => open(join(stored, blob), 'r'),
    async remove(blobs) {
      for (const blob of blobs) await rm(join(stored, blob), { force: true })
    },
    async sweep({ known, graceMs }) {
      const changedBefore = graceMs === 0 ? Infinity : (await timeOn(incoming)) - graceMs
      for await (const names of batches(incoming)) await removeOld(incoming, names, changedBefore)
      for await (const names of batches(stored)) {
        const counting = await known(names)
        const unknown = names.filter((name) => !counting.has(name))
        await removeOld(stored, unknown, changedBefore)
      }
    },
  }
}

/** The time of the disk, which dates the changes on it: the clock of this machine may be days ahead. Long ago if it cannot be had. */
async function timeOn(folder: string): Promise<number> {
  const now = new Date()
  // A change that takes no space.
  const { ctimeMs } = await utimes(folder, now, now).then(
    () => stat(folder),
    () => ({ ctimeMs: 0 }),
  )
  return ctimeMs
}

const BATCH = 1_000

/** The names of the files in a folder, of which there may be a million. A folder in it is no blob: some file servers make their own. */
async function* batches(folder: string): AsyncGenerator<string[]> {
  let names: string[] = []
  for await (const entry of await opendir(folder)) {
    if (entry.isDirectory()) continue
    names.push(entry.name)
    if (names.length < BATCH) continue
    yield names
    names = []
  }
  if (names.length > 0) yield names
}

/** A rename counts as a change, so a blob that was just stored is not old. */
async function removeOld(folder: string, names: readonly string[], changedBefore: number): Promise<void> {
  for (const name of names) {
    const path = join(folder, name)
    const { ctimeMs = Infinity } = (await stat(path).catch(() => undefined)) ?? {}
    if (ctimeMs <= changedBefore) await rm(path, { force: true })
  }
}

async function write(path: string, body: Readable, onBytes?: OnBytes): Promise<{ sizeBytes: number; md5: string }> {
  const hash = createHash('md5')
  let sizeBytes = 0
  const file = await open(path, 'wx', 0o600)
  try {
    // A pipeline would destroy the request when the disk fails, and with it the way to answer.
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      await onBytes?.(chunk.length)
      hash.update(chunk)
      sizeBytes += chunk.length
      await file.writeFile(chunk)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return { sizeBytes, md5: hash.digest('hex') }
}
