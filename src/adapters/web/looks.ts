// Whether Files are still what they were when they were chosen. Their size and time never follow the disk. Reading
// does: the platform refuses to read a file that was written to since. So one byte is read to find out: the last one,
// because Firefox reads whatever is there now, and a file that became shorter no longer has it.

import { createGathering } from './gathering.ts'
import { isSeen } from './is-seen.ts'

/** A file to look at. */
export interface Looked {
  readonly blob: Blob
  lastByte?: Blob
}

/**
 * Looks at several files with one read, because each separate read is a walk through three processes. Resolves as soon
 * as the read begins, so that one from a disk that hangs holds up no later look. `reading` says whether all files are
 * known to be unchanged. If they are not, each must find out by itself. In a page the read takes the beginning of all
 * files as one Blob: browsers compare size and time of every file of a Blob before they give its first byte.
 */
export const look = /* @__PURE__ */ createGathering((looked: readonly Looked[]) => {
  const files = [...new Set(looked)]
  // A page that is seen is a browser. Other platforms do not promise to check all files of a Blob.
  const isTogether = files.length > 1 && isSeen()
  const reading = isTogether ? canBeRead(new Blob(files.map(({ blob }) => blob))) : Promise.resolve(false)
  // Wrapped in an object, because a promise would be awaited.
  return Promise.resolve({ reading })
})

/** Returns the same slice each time: making one blocks the page until another process of the browser has answered. */
export function lastByteOf(one: Looked): Blob {
  return (one.lastByte ??= one.blob.slice(-1))
}

/** Whether the platform gives a first piece of the bytes. */
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
