// Source over a regular file: one handle per opening, reads at positions, and a check that the path still means that file.

import type { BigIntStats } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { basename, resolve } from 'node:path'

import { invalid, isUploadError } from '../../core/errors.ts'
import type { Reader, Source, SourceIdentity } from '../../core/ports.ts'
import { createReadGate } from '../web/read-gate.ts'
import { endedEarly, requirePosition, requireSame, sourceChanged } from '../web/source-identity.ts'
import { errorCode, fileProblem, notAFile } from './file-problem.ts'
import { readFully } from './positional-read.ts'

export interface FileSourceOptions {
  /** The name sent to the service. Default: the last part of the path. */
  readonly name?: string
}

/**
 * Uploads the file at `path`, which is resolved against the working folder of this moment; links are followed. Whatever
 * is missing, not readable by this user or not a regular file rejects with ERR_UPLOAD_SOURCE_READ at `describe`.
 */
export function fileSource(path: string, options: FileSourceOptions = {}): Source {
  if (path === '') invalid('fileSource: the path is empty. Pass the path of a file.')
  const location = resolve(path)

  return {
    name: options.name ?? basename(location),
    location,
    async describe(signal) {
      signal?.throwIfAborted()
      // Opening is the only check of permission that holds for every file system; nothing is read.
      const { handle, facts } = await openRegularFile(location)
      await handle.close()
      return identityOf(facts)
    },
    async open(expected) {
      const { handle, facts } = await openRegularFile(location)
      try {
        requireSame(location, expected, identityOf(facts))
      } catch (error) {
        await handle.close()
        throw error
      }
      return fileReader(location, handle, facts)
    },
  }
}

function fileReader(location: string, handle: FileHandle, opened: BigIntStats): Reader {
  const gate = createReadGate(`the reader of "${location}"`)

  return {
    read(into, at) {
      return gate.run(async () => {
        requirePosition(at)
        const filled = await readFully(handle, into, at).catch((error: unknown) => {
          throw fileProblem(error, location, `read at byte ${at}`)
        })
        if (filled < into.byteLength) throw endedEarly(location, at, into.byteLength, filled)
      })
    },
    verify() {
      return gate.run(() => verifyPath(location, opened))
    },
    close() {
      return gate.close(() => handle.close())
    },
  }
}

/**
 * Looks at the path, not at the handle: a file moved over this one leaves the handle on the old bytes, and a resume
 * would read the new ones. An open file keeps its number also on drives that give out numbers as they go.
 */
async function verifyPath(location: string, opened: BigIntStats): Promise<void> {
  const found = await stat(location, { bigint: true }).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') throw sourceChanged(location, 'it was moved or deleted', error)
    throw fileProblem(error, location, 'looked at')
  })
  requireSame(location, identityOf(opened), identityOf(found))
  if (found.ino !== opened.ino || found.dev !== opened.dev) {
    throw sourceChanged(location, 'another file was put in its place')
  }
  if (found.mtimeNs !== opened.mtimeNs) throw sourceChanged(location, 'it was written to')
}

/** Looks before it opens, because opening a pipe would wait for its writer. */
async function openRegularFile(location: string): Promise<{ handle: FileHandle; facts: BigIntStats }> {
  let handle: FileHandle | undefined
  try {
    requireRegular(location, await stat(location))
    handle = await open(location, 'r')
    const facts = await handle.stat({ bigint: true })
    requireRegular(location, facts)
    return { handle, facts }
  } catch (error) {
    await handle?.close()
    throw isUploadError(error) ? error : fileProblem(error, location, 'read')
  }
}

function requireRegular(location: string, facts: Pick<BigIntStats, 'isFile' | 'isDirectory' | 'isFIFO'>): void {
  if (facts.isFile()) return
  if (facts.isDirectory()) throw notAFile(location, 'a folder (name the files in it)')
  if (facts.isFIFO()) throw notAFile(location, 'a pipe (pass it as a stream, or save it to a file first)')
  throw notAFile(location, 'a device or socket')
}

function identityOf(facts: BigIntStats): SourceIdentity {
  return { sizeBytes: Number(facts.size), modifiedAtMs: Number(facts.mtimeMs) }
}
