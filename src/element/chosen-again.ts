// Finds the rows whose files have changed since they were chosen, and are now chosen or dropped again.

import { addUnder, isSameFile, isSamePlace, presentOf } from './acceptance.ts'
import type { ChosenFile } from './chosen-files.ts'
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
  // Indexed by name, because thousands of files may be dropped onto thousands of rows.
  const byName = new Map<string, readonly ChosenFile[]>()
  for (const each of files) addUnder(byName, each.file.name, each)
  for (const item of items) {
    const { chosen, chosenAtMs } = item
    for (const each of byName.get(item.fileName) ?? []) {
      const { file, handle, path } = each
      if (!isSamePlace(item.location, path) || isSameFile(item, presentOf(each))) continue
      // A camera whose clock is wrong may have dated the file in the future.
      const isSavedSince = file.lastModified > chosenAtMs && file.lastModified <= Date.now()
      const isIts =
        item === instead ||
        (isSavedSince && (handle && chosen?.handle ? await chosen.handle.isSameEntry(handle) : needsChoosing(item)))
      if (isIts) found.set(item, each)
    }
  }
  // Filtered last, because some rows may have reached their confirmation meanwhile.
  return new Map([...found].filter(([{ state }]) => state !== 'confirming' && state !== 'confirmed'))
}
