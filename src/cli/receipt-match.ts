// Finds the file that an entry of a receipt stands for. Names are not enough: two clips of one session may share a name, and
// the service knows a renamed capture with its folder's name in front. So the bytes decide, and each file proves one entry.

import { resolve } from 'node:path'
import type { FoundFile } from '../adapters/node/files/directory.ts'
import type { DeliveredFile } from '../node.ts'
import { proveFile, type FileProof } from './receipt-check.ts'

/** Proves each entry, in order, by the first candidate that matches. If none does, the likeliest one says what is wrong. */
export async function* proveAll(
  delivered: readonly DeliveredFile[],
  files: readonly FoundFile[],
): AsyncGenerator<FileProof> {
  const left = createFilesLeft(files)
  for (const entry of delivered) {
    let proof: FileProof | undefined
    for (const candidate of left.candidatesFor(entry.name)) {
      const tried = await proveFile(entry, candidate.path)
      proof ??= tried
      if (tried.outcome !== 'proven') continue
      left.take(candidate)
      proof = tried
      break
    }
    yield proof ?? (await proveFile(entry, undefined))
  }
}

interface FilesLeft {
  /** Likeliest first: files of that very name, then files renamed by their folder, then by a folder that has another name now. */
  candidatesFor(name: string): Iterable<FoundFile>
  take(file: FoundFile): void
}

/** The files that have proven no entry yet. They are found by name, because a look at every file for every entry would take seconds. */
function createFilesLeft(files: readonly FoundFile[]): FilesLeft {
  const named = new Map<string, Set<FoundFile>>()
  const renamed = new Map<string, Set<FoundFile>>()
  // Once each, even if a path is given twice or lies in a folder that is given too.
  for (const file of new Map(files.map((one) => [resolve(one.path), one])).values()) {
    addTo(named, file.name, file)
    for (const name of namesByFolder(file)) addTo(renamed, name, file)
  }
  return {
    *candidatesFor(name) {
      const byFolder = renamed.get(name) ?? NONE
      yield* named.get(name) ?? NONE
      yield* byFolder
      for (let at = name.indexOf('_'); at >= 0; at = name.indexOf('_', at + 1)) {
        for (const file of named.get(name.slice(at + 1)) ?? NONE) if (!byFolder.has(file)) yield file
      }
    },
    take(file) {
      named.get(file.name)?.delete(file)
      for (const name of namesByFolder(file)) renamed.get(name)?.delete(file)
    },
  }
}

const NONE: ReadonlySet<FoundFile> = new Set()

function addTo(index: Map<string, Set<FoundFile>>, name: string, file: FoundFile): void {
  const known = index.get(name)
  if (known === undefined) index.set(name, new Set([file]))
  else known.add(file)
}

/** `field/cam1/a.mp4` is sent as `cam1_a.mp4`, or with more of its path in front. */
function namesByFolder({ path }: FoundFile): string[] {
  const steps = resolve(path).split(/[/\\]+/)
  return steps.slice(1).map((_, depth) => steps.slice(-depth - 2).join('_'))
}
