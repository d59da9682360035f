// The rows of a list: one for each file. A file that is chosen again takes the row that it had before.

import { addUnder, isSameFile, isSamePlace } from './acceptance.ts'
import type { ChosenAgain } from './chosen-again.ts'
import type { ChosenFile } from './chosen-files.ts'
import { isOnItsWay, isReady, isReplaceable, newItem, type Item } from './items.ts'

export interface Rows {
  items(): readonly Item[]
  /** See `UploadList.add`. */
  add(files: readonly ChosenFile[], again?: ChosenAgain): void
  put(added: readonly Item[]): void
  /** Removes a file. The one whose row it had taken comes back. */
  remove(item: Item): void
  /** A file that failed or was cancelled leaves its row to the one chosen again in its place meanwhile, if there is one. */
  giveWay(item: Item): void
  keep(isKept: (item: Item) => boolean): void
}

/** `carried`: the files of all uploads, also those that no longer have a row. */
export function createRows(carried: () => readonly Item[]): Rows {
  let items: readonly Item[] = []
  /** Files chosen again in place of files under way. Those keep their rows, or they would go on unseen and take their share of the line. */
  const heirs = new WeakMap<Item, Item>()
  const formerOf = (item: Item): Item | undefined => carried().find(({ replacedBy }) => replacedBy === item)
  /** A file that was never begun is gone. Only the one that it had replaced can come back. */
  const inherit = (same: Item, item: Item): void => {
    const former = isReady(same) ? formerOf(same) : same
    if (former) former.replacedBy = item
  }
  const put = (added: readonly Item[]): void => {
    items = [...items, ...added]
  }
  return {
    items: () => items,
    add(files, again) {
      // Indexed by name, because thousands of files may be added to thousands of rows.
      const byName = new Map<string, readonly Item[]>()
      for (const each of items) addUnder(byName, each.present.fileName, each)
      const added = files.map((chosen) => newItem(chosen.file.name, chosen.file.size, chosen))
      // They go together, because thousands of files that were given up may be added again.
      const gone = new Set<Item>()
      for (const item of added) {
        const { present: own, chosen } = item
        for (const each of byName.get(own.fileName) ?? []) {
          const { present } = each
          const isAgain = isReplaceable(each) && isSamePlace(present.location, own.location) && isSameFile(present, own)
          if (!isAgain && again?.get(each) !== chosen) continue
          // A file that is under way keeps its row for now. One that was chosen in its place before, and has not begun, gives way at once.
          if (isOnItsWay(each)) heirs.set(each, item)
          else {
            inherit(each, item)
            gone.add(each)
          }
        }
      }
      items = items.filter((item) => !gone.has(item))
      put(added)
    },
    put,
    remove(item) {
      const former = formerOf(item)
      items = items.filter((other) => other !== item)
      if (!former) return
      former.replacedBy = undefined
      put([former])
    },
    giveWay(item) {
      const heir = heirs.get(item)
      if (!heir || !items.includes(heir)) return
      items = items.filter((other) => other !== item)
      inherit(item, heir)
    },
    keep(isKept) {
      items = items.filter(isKept)
    },
  }
}
