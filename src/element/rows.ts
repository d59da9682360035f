// The rows of a list: one for each file. A file that is chosen again takes the row that it had before.

import type { ChosenAgain } from './chosen-again.ts'
import type { ChosenFile } from './chosen-files.ts'
import { isSameFile, isSamePlace, namesakesAmong } from './file-identity.ts'
import { isOnItsWay, isReady, isReplaceable, newItem, type Item } from './items.ts'

export interface Rows {
  items(): readonly Item[]
  /** See `UploadList.add`. */
  add(files: readonly ChosenFile[], again?: ChosenAgain): void
  put(added: readonly Item[]): void
  /** Removes a file. The one whose row it had taken comes back, and is returned. */
  remove(item: Item): Item | undefined
  /** A file that failed or was cancelled leaves its row to the one chosen again in its place meanwhile, if there is one. */
  giveWay(item: Item): void
  keep(isKept: (item: Item) => boolean): void
}

export function createRows(): Rows {
  const rows = new Set<Item>()
  /** The rows as a list. Made when it is asked for, because thousands of files may leave their rows one by one. */
  let list: readonly Item[] | undefined
  const put = (item: Item): void => {
    rows.add(item)
    list = undefined
  }
  const take = (item: Item): void => {
    rows.delete(item)
    list = undefined
  }
  const inherit = (same: Item, item: Item): void => {
    take(same)
    same.replacedBy = item
    // A file that was never begun is gone. Only the one that it had replaced can come back.
    const former = isReady(same) ? same.former : same
    if (former) item.former = former
  }
  return {
    items: () => (list ??= [...rows]),
    add(files, again) {
      const named = namesakesAmong([...rows])
      for (const chosen of files) {
        const item = newItem(chosen)
        for (const each of named.of(item)) {
          const isAgain = isReplaceable(each) && isSamePlace(each, item) && isSameFile(each, item)
          if (!isAgain && again?.get(each) !== chosen) continue
          // A file that is under way keeps its row for now. One that was chosen in its place before, and has not begun, gives way at once.
          if (isOnItsWay(each)) each.heir = item
          else inherit(each, item)
        }
        put(item)
      }
    },
    put: (added) => added.forEach(put),
    remove(item) {
      take(item)
      const { former } = item
      if (former) {
        former.replacedBy = undefined
        put(former)
      }
      return former
    },
    giveWay(item) {
      if (item.heir && rows.has(item.heir)) inherit(item, item.heir)
    },
    keep(isKept) {
      for (const item of rows)
        if (!isKept(item)) take(item)
        else if (item.former && !isKept(item.former)) item.former = undefined
    },
  }
}
