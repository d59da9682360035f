// Open sources of one session: a handle is opened for the first attempt that needs it and closed when no attempt of its
// file is under way, so that ten thousand files, a backoff or a pause hold no handles.

import type { Reader, Source, SourceIdentity } from './ports.ts'

export interface ReaderCache {
  /** Opens or shares the reader; each call needs one `release`. Rejects as Source.open does. */
  acquire(fileIndex: number): Promise<Reader>
  release(fileIndex: number): Promise<void>
}

interface Entry {
  readonly fileIndex: number
  readonly opening: Promise<Reader>
  users: number
}

export function createReaderCache(
  sourceOf: (fileIndex: number) => { readonly source: Source; readonly expected: SourceIdentity },
): ReaderCache {
  // As many as there are attempts; a list, so that an outgrown table of a Map keeps no closed reader.
  let entries: readonly Entry[] = []
  const find = (fileIndex: number): Entry | undefined => entries.find((entry) => entry.fileIndex === fileIndex)

  return {
    acquire(fileIndex) {
      const known = find(fileIndex)
      if (known !== undefined) {
        known.users += 1
        return known.opening
      }
      const { source, expected } = sourceOf(fileIndex)
      const entry: Entry = { fileIndex, opening: source.open(expected), users: 1 }
      entries = [...entries, entry]
      return entry.opening
    },
    async release(fileIndex) {
      const entry = find(fileIndex)
      if (entry === undefined) return
      entry.users -= 1
      if (entry.users > 0) return
      entries = entries.filter((other) => other !== entry)
      // Who acquired it heard why it could not be opened. A handle that was only read from loses nothing when its close fails.
      await entry.opening.then((reader) => reader.close()).catch(() => undefined)
    },
  }
}
