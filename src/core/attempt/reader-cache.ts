// The open sources of one session. A source is opened for the first attempt that needs it and closed when no attempt of its
// file is under way, so that ten thousand files, a backoff or a pause hold no handles.

import { isPromise } from '../is-promise.ts'
import type { PlannedFile, Reader, Source } from '../ports.ts'
import { unlessAborted } from '../unless-aborted.ts'

export interface ReaderCache {
  /**
   * Opens the reader or shares it; each call needs one `release`. Rejects as `Source.open` does, or with the signal's reason
   * when that fires first: a file on a mount that is gone may neither open nor fail.
   */
  acquire(fileIndex: number, signal: AbortSignal): Promise<Reader> | Reader
  /** Never rejects. Undefined: there is nothing to wait for. A source that is still opening is closed once it is open. */
  release(fileIndex: number): Promise<void> | undefined
}

interface Entry {
  /** The reader, or a promise of it while it opens. */
  opening: Promise<Reader> | Reader
  users: number
}

/** Opens a source, which must still be what was planned. Rejects as `Source.open` does. */
export function openPlanned(
  source: Pick<Source, 'open'>,
  { sizeBytes, modifiedAtMs }: PlannedFile,
): ReturnType<Source['open']> {
  return source.open({ sizeBytes, ...(modifiedAtMs === undefined ? {} : { modifiedAtMs }) })
}

export function createReaderCache(open: (fileIndex: number) => ReturnType<Source['open']>): ReaderCache {
  // By index, not in a Map, which would keep the readers of ended attempts: see onAbort.
  const entries: (Entry | undefined)[] = []

  return {
    acquire(fileIndex, signal) {
      const entry = (entries[fileIndex] ??= { opening: open(fileIndex), users: 0 })
      const { opening } = entry
      entry.users += 1
      if (!isPromise(opening)) return opening
      return unlessAborted(
        opening.then((reader) => (entry.opening = reader)),
        signal,
      )
    },
    release(fileIndex) {
      const entry = entries[fileIndex]
      if (!entry) return undefined
      entry.users -= 1
      if (entry.users > 0) return undefined
      entries[fileIndex] = undefined
      return closeOpened(entry.opening)
    },
  }
}

/**
 * Closes what was opened, or what is opening, once it is open. Never rejects: whoever opened it heard why that failed, and a
 * handle that was only read from loses nothing when its close fails.
 */
export async function closeOpened(opening: Promise<Reader> | Reader): Promise<void> {
  try {
    await (await opening).close()
  } catch {
    // See above.
  }
}
