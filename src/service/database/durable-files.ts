// The files of the embedded database, on the disk before PostgreSQL goes on. PGlite starts it without fsync, and Emscripten's files
// of Node have none: a power cut would take records that were answered for, and could leave a database that does not open.

import { closeSync, fsyncSync, openSync, statSync } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'

import { inParallel } from '../in-parallel.ts'
import { isUnsupported, syncFolder } from '../sync-folder.ts'
import { FILES_AT_ONCE } from './folder-archive.ts'

/** PGlite's own, without the one that turns fsync off (-F), and with the one call that Emscripten hands on to files. */
export const DURABLE_START = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  ...['-c', 'wal_sync_method=fsync'],
]

type Init = NodeFS['init']
/** What PGlite's module and Emscripten's NODEFS have beside their types. */
interface Emscripten {
  readonly NODEFS?: NodeFiles
  readonly FS: { readonly filesystems: { readonly NODEFS: NodeFiles } }
}
interface NodeFiles {
  readonly stream_ops: { fsync?: (stream: { readonly node: object; readonly nfd?: number }) => number }
  realPath(node: object): string
}

/** PGlite's files in a folder, with fsync. */
export class DurableFiles extends NodeFS {
  #failure: unknown

  override async init(...[pglite, options]: Parameters<Init>): ReturnType<Init> {
    const { emscriptenOpts } = await super.init(pglite, options)
    const preRun = [
      ...(emscriptenOpts.preRun ?? []),
      (module: object) => {
        const { NODEFS, FS } = module as Emscripten
        // The second is that of PGlite 0.5.0.
        const files = NODEFS ?? FS.filesystems.NODEFS
        files.stream_ops.fsync = ({ node, nfd }) => {
          try {
            if (nfd === undefined) syncOpened(files.realPath(node))
            else fsyncSync(nfd)
          } catch (error) {
            // PostgreSQL would give up its process here, and PGlite then blocks ours in a loop without end.
            if (!isUnsupported(error) || !isFolder(files.realPath(node))) this.#failure ??= error
          }
          return 0
        }
      },
    ]
    return { emscriptenOpts: { ...emscriptenOpts, preRun } }
  }

  /**
   * Throws once the disk has refused anything. Nothing may be answered for from then on, as the system may have dropped what was
   * written. The next start finds what is on the disk.
   */
  check(): void {
    if (this.#failure === undefined) return
    throw new Error('The disk did not keep what the database wrote. Start the service again.', { cause: this.#failure })
  }
}

/** A folder may have no descriptor there. Windows cannot open one and needs no such step. */
function syncOpened(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Makes a folder durable with all that is in it. What makes a new database asks for nothing of the kind. */
export async function syncTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  await inParallel(FILES_AT_ONCE, entries, (entry) => {
    const path = join(entry.parentPath, entry.name)
    return entry.isDirectory() ? syncFolder(path) : syncFile(path)
  })
  await syncFolder(folder)
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
