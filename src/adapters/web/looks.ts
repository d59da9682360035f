// Whether Files are still what they were when they were chosen. Their size and time never follow the disk; what does follow is
// reading: the platform refuses to read a file that was written to since. So the first byte is read to find out.

import { learnFacts } from './file-facts.ts'
import { createGathering } from './gathering.ts'
import { isSeen } from './is-seen.ts'

/** A file that is looked at. */
export interface Looked {
  readonly blob: Blob
  firstByte?: Blob
  /**
   * All files that were first looked at along with it, as one Blob: browsers compare size and time of every one of them before
   * they give its first byte. Making it costs the page many times what reading its beginning does.
   */
  group?: Blob | undefined
}

/**
 * Looks at several files by few reads. Resolves with the read as it begins, so that one of a disk that hangs holds up no later
 * look; that read says whether all are what they were.
 */
export const look = /* @__PURE__ */ createGathering(async (looked: readonly Looked[]) => {
  const files = [...new Set(looked)]
  await learnFacts(files.map(({ blob }) => blob))
  // A page that is seen is a browser; others do not promise that a group is looked at whole.
  if (isSeen()) group(files.filter((one) => one.group === undefined))
  const groups = new Set(files.map((one) => one.group))
  const alone = groups.delete(undefined) ? files.filter((one) => one.group === undefined) : []
  const reads: Promise<unknown>[] = [...groups].map(readBeginning)
  for (const one of alone) reads.push(firstByteOf(one).arrayBuffer())
  return {
    reading: Promise.all(reads).then(
      () => true,
      () => false,
    ),
  }
})

/** The same slice each time: making one holds the page up until another process of the browser has answered. */
export function firstByteOf(one: Looked): Blob {
  return (one.firstByte ??= one.blob.slice(0, 1))
}

function group(files: readonly Looked[]): void {
  if (files.length < 2) return
  const blob = new Blob(files.map((one) => one.blob))
  for (const one of files) one.group = blob
}

/** Reads what the platform gives at once. */
async function readBeginning(blob: Blob | undefined): Promise<void> {
  const reader = blob?.stream().getReader()
  await reader?.read()
  reader?.cancel().catch(() => undefined)
}
