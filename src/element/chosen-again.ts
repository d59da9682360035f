// Which of the rows are meant by files that were chosen or dropped, though these are others by now.

import { addUnder, isSameFile, isSamePlace, presentOf } from './acceptance.ts'
import type { ChosenFile } from './chosen-files.ts'
import { needsChoosing, type Item } from './items.ts'

/** Rows, each with the file that is to have its place. */
export type ChosenAgain = ReadonlyMap<Item, ChosenFile>

/**
 * Rows whose file has changed since, and is among `files`: what was saved since the row was made, and lies in its very place, where
 * browsers give handles, or has its name, elsewhere, when the row has come to ask for it; or whatever has its name where it was asked
 * for `instead`. All else of its name may be the clip of another camera, also in its very place, where another card was put in.
 */
export async function findChosenAgain(
  items: readonly Item[],
  files: readonly ChosenFile[],
  instead: Item | undefined,
): Promise<ChosenAgain> {
  const found = new Map<Item, ChosenFile>()
  // Thousands may be dropped onto thousands.
  const byName = new Map<string, readonly ChosenFile[]>()
  for (const each of files) addUnder(byName, each.file.name, each)
  for (const item of items) {
    const { chosen, chosenAtMs, present } = item
    for (const each of byName.get(present.fileName) ?? []) {
      const { file, handle, path } = each
      if (!isSamePlace(present.location, path) || isSameFile(present, presentOf(each))) continue
      // A camera whose clock is wrong may have recorded it tomorrow.
      const isSavedSince = file.lastModified > chosenAtMs && file.lastModified <= Date.now()
      const isItsPlace = async () =>
        handle && chosen?.handle ? chosen.handle.isSameEntry(handle) : needsChoosing(item)
      if (item === instead || (isSavedSince && (await isItsPlace()))) found.set(item, each)
    }
  }
  // Asked last: meanwhile some may have come to their confirmation.
  return new Map([...found].filter(([{ state }]) => state !== 'confirming' && state !== 'confirmed'))
}
