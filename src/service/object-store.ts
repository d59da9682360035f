// Bytes on disk under random names. A blob is written aside, made durable and renamed: it is whole or it is not there.
// What a blob is for is the database's affair; blobs that it does not know are swept at the start.

import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

export interface ReceivedBlob {
  readonly blob: string
  readonly sizeBytes: number
  /** 32 lower-case hex digits. */
  readonly md5: string
}

export interface ObjectStore {
  /** Takes a body of exactly `lengthBytes` at constant memory. Rejects, storing nothing, when it ends otherwise. */
  receive(body: Readable, lengthBytes: number, onBytes?: () => void): Promise<ReceivedBlob>
  /** Opens a blob; what is open can be read to its end whatever happens to the blob's name. */
  open(blob: string): Promise<FileHandle>
  /** Removes blobs; those that are gone already are no error. */
  remove(blobs: readonly string[]): Promise<void>
  /** Removes what an earlier run left half-written, and every blob that is not in `known`. */
  sweep(known: ReadonlySet<string>): Promise<void>
}

/** Opens the store in `folder`, which is made when it is not there. */
export async function createObjectStore(folder: string): Promise<ObjectStore> {
  const incoming = join(folder, 'incoming')
  const stored = join(folder, 'stored')
  await mkdir(incoming, { recursive: true, mode: 0o700 })
  await mkdir(stored, { recursive: true, mode: 0o700 })
  return {
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
    async sweep(known) {
      for (const name of await readdir(incoming)) await rm(join(incoming, name), { force: true })
      for (const name of await readdir(stored)) if (!known.has(name)) await rm(join(stored, name), { force: true })
    },
  }
}

async function write(path: string, body: Readable, onBytes?: () => void): Promise<{ sizeBytes: number; md5: string }> {
  const hash = createHash('md5')
  let sizeBytes = 0
  const file = await open(path, 'wx', 0o600)
  try {
    // A pipeline would destroy the request when the disk fails, and with it the way to answer.
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      onBytes?.()
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

/** Makes a rename durable. Windows cannot open a folder and needs no such step. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
