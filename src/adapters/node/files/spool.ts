// A private temporary file that grows at its end and can be read anywhere. It goes away with its owner or with the
// process, however that ends, where a file can lose its name while it is open; elsewhere not if the process is killed.

import { rmSync } from 'node:fs'
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { createReadGate } from '../../web/read-gate.ts'
import { descriptors } from '../descriptors.ts'
import { fileProblem } from '../file-problem.ts'
import { readFully, writeFully } from '../positional-io.ts'

export interface Spool {
  readonly path: string
  /**
   * Adds bytes at the end, one call at a time. Settles when the system has them, so a slow disk holds back whoever
   * writes.
   */
  append(bytes: Uint8Array): Promise<void>
  /** Fills `into` from byte `at` on and resolves with the number of bytes read. Reads may run at the same time. */
  read(into: Uint8Array, at: number): Promise<number>
  /** Waits for the calls under way, then closes the file; it and its folder are deleted at the latest now. Idempotent. */
  remove(): Promise<void>
}

/**
 * Makes a spool in a new folder of its own (mode 0700, the file 0600) below `tempDir`. Default: the system's folder for
 * temporary files. Rejects with ERR_UPLOAD_SOURCE_READ, naming the place, if that cannot be written to.
 */
export async function createSpool(tempDir: string = tmpdir(), platform = process.platform): Promise<Spool> {
  const parent = resolve(tempDir)
  const { folder, path, handle } = await createFile(parent)
  // What has no name any more, no kill can leave behind: it may be as large as a night's video.
  if (platform !== 'win32') await removeFolder(folder).catch(() => undefined)
  const gate = createReadGate(`the spool file "${path}"`)
  let sizeBytes = 0
  const onFile = <T>(work: () => Promise<T>): Promise<T> =>
    gate.run(async () => {
      try {
        return await work()
      } catch (error) {
        throw fileProblem(error, path, 'used as a temporary file')
      }
    })

  return {
    path,
    append(bytes) {
      return onFile(async () => {
        await writeFully(handle, bytes, sizeBytes)
        sizeBytes += bytes.byteLength
      })
    },
    read: (into, at) => onFile(() => readFully(handle, into, at)),
    remove() {
      return gate.close(async () => {
        await handle.close()
        await removeFolder(folder)
      })
    },
  }
}

async function createFile(parent: string): Promise<{ folder: string; path: string; handle: FileHandle }> {
  let folder: string | undefined
  try {
    folder = await mkdtemp(join(parent, 'mocap-uplink-'))
    removeAtExit(folder)
    const path = join(folder, 'spool')
    // Who waits does not wait for it to be closed: it is open as long as its session, which may itself be waiting.
    return { folder, path, handle: await descriptors.patiently('file', () => open(path, 'wx+', 0o600)) }
  } catch (error) {
    if (folder !== undefined) await removeFolder(folder)
    throw fileProblem(error, parent, 'used for temporary files')
  }
}

async function removeFolder(folder: string): Promise<void> {
  // Once it is gone, its name may be that of another's folder.
  if (!folders.has(folder)) return
  await rm(folder, { recursive: true, force: true })
  forget(folder)
}

// One listener serves all spools, and only while there are any. It does not run if the process is killed outright.
const folders = new Set<string>()

function removeAtExit(folder: string): void {
  if (folders.size === 0) process.on('exit', removeAll)
  folders.add(folder)
}

function forget(folder: string): void {
  if (folders.delete(folder) && folders.size === 0) process.off('exit', removeAll)
}

function removeAll(): void {
  for (const folder of folders) {
    try {
      rmSync(folder, { recursive: true, force: true })
    } catch {
      // The process is ending: the other folders still have their turn, and nobody is left to be told.
    }
  }
}
