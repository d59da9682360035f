// Whether Files are still what they were when they were chosen. Their size and time never follow the disk. Reading
// does: the platform refuses to read a file that was written to since. So one byte is read to find out: the last one,
// because Firefox reads whatever is there now, and a file that became shorter no longer has it.

import { createGathering } from './gathering.ts'
import { isSeen } from './is-seen.ts'

/**
 * Looks at several files with one read, because each separate read is a walk through three processes. Resolves as soon
 * as the read begins, so that one from a disk that hangs holds up no later look. `reading` gives false unless all files
 * are known to be unchanged. Then each must find out by itself. In a page the read takes the beginning of all files as
 * one Blob: browsers compare size and time of every file of a Blob before they give its first byte.
 */
export const look = /* @__PURE__ */ createGathering((looked: readonly Blob[]) => {
  const files = [...new Set(looked)]
  // A page that is seen is a browser. Other platforms do not promise to check all files of a Blob.
  const isTogether = files.length > 1 && isSeen()
  const reading = isTogether && firstPiece(new Blob(files)).catch(() => false)
  // Wrapped in an object, because a promise would be awaited.
  return Promise.resolve({ reading })
})

/** The bytes that the platform gives first; empty if there are none. Rejects if it cannot read them. */
export async function firstPiece(blob: Blob): Promise<ArrayLike<number>> {
  const reader = blob.stream().getReader()
  const { value = [] } = await reader.read()
  reader.cancel().catch(() => undefined)
  return value
}
