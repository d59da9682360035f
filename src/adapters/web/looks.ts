// Whether Files are still what they were when they were chosen. Their size and time never follow the disk; what does follow is
// reading: the platform refuses to read a file that was written to since. So a byte is read to find out: the last one, since
// Firefox reads whatever is there now, and a file that became shorter has it no more.

import { createGathering } from './gathering.ts'
import { isSeen } from './is-seen.ts'

/** A file that is looked at. */
export interface Looked {
  readonly blob: Blob
  lastByte?: Blob
}

/**
 * Looks at several files by one read: each read of its own is a walk through three processes. Resolves with the read as it
 * begins, so that one of a disk that hangs holds up no later look; that read says whether all are known to be what they were, and
 * where they are not, each finds out by itself. In a page it is the beginning of all files together: browsers compare size and
 * time of every file of a Blob before they give its first byte.
 */
export const look = /* @__PURE__ */ createGathering((looked: readonly Looked[]) => {
  const files = [...new Set(looked)]
  // A page that is seen is a browser; others do not promise that a Blob of many is looked at whole.
  const isTogether = files.length > 1 && isSeen()
  const reading = isTogether ? canBeRead(new Blob(files.map(({ blob }) => blob))) : Promise.resolve(false)
  // In an object: a promise would be waited for.
  return Promise.resolve({ reading })
})

/** The same slice each time: making one holds the page up until another process of the browser has answered. */
export function lastByteOf(one: Looked): Blob {
  return (one.lastByte ??= one.blob.slice(-1))
}

/** Reads what the platform gives at once. */
async function canBeRead(blob: Blob): Promise<boolean> {
  const reader = blob.stream().getReader()
  try {
    await reader.read()
    reader.cancel().catch(() => undefined)
    return true
  } catch {
    return false
  }
}
