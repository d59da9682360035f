// Finds the rows whose files have changed since they were chosen, and are now chosen or dropped again.

import type { ChosenFile } from './chosen-files.ts'
import { isSameFile, isSamePlace, namesakesAmong } from './file-identity.ts'
import { needsChoosing, type Item } from './items.ts'

/** Rows, each with the file that is to take its place. */
export type ChosenAgain = ReadonlyMap<Item, ChosenFile>

/**
 * Finds the rows whose file has changed and is now among `files`. A changed file of the row's name and folder replaces the row in
 * two cases. Either the person chose it with the row's own button (`instead`); or it was saved after the row was made, and is known
 * to be the file of that row: by its handle or, if the browser gave none, because the row has failed and asks to be chosen again.
 * Any other file may be the clip of another camera, even in the same place, if another card was put in.
 */
export async function findChosenAgain(
  items: readonly Item[],
  files: readonly ChosenFile[],
  instead: Item | undefined,
): Promise<ChosenAgain> {
  const found = new Map<Item, ChosenFile>()
  const named = namesakesAmong(files)
  for (const item of items) {
    for (const each of named.of(item)) {
      const { file, handle } = each
      if (!isSamePlace(item, each) || isSameFile(item, each)) continue
      // A camera whose clock is wrong may have dated the file in the future.
      const isSavedSince = file.lastModified > item.chosenAtMs && file.lastModified <= Date.now()
      const isIts =
        item === instead ||
        (isSavedSince && (handle && item.handle ? await item.handle.isSameEntry(handle) : needsChoosing(item)))
      if (isIts) found.set(item, each)
    }
  }
  // Filtered last, because some rows may have reached their confirmation meanwhile.
  return new Map([...found].filter(([{ state }]) => state !== 'confirming' && state !== 'confirmed'))
}
