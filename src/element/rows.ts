// The rows of a list: one for each file, and what is chosen again has the row of what it was before.

import { isSameFile, isSamePlace } from './acceptance.ts'
import type { ChosenAgain } from './chosen-again.ts'
import type { ChosenFile } from './chosen-files.ts'
import { isReady, isReplaceable, newItem, type Item } from './items.ts'

export interface Rows {
  items(): readonly Item[]
  /** See `UploadList.add`. */
  add(files: readonly ChosenFile[], again?: ChosenAgain): void
  put(added: readonly Item[]): void
  /** What it had taken the row of is there again. */
  remove(item: Item): void
  /** A file that has come to nothing leaves its row to what was chosen again in its place meanwhile, where something was. */
  giveWay(item: Item): void
  keep(isKept: (item: Item) => boolean): void
}

/** What is on its way no more, or not yet. */
const OVER = ['ready', 'failed', 'cancelled']

/** `carried`: the files of all uploads, those that have no row any more as well. */
export function createRows(carried: () => readonly Item[]): Rows {
  let items: readonly Item[] = []
  /** What was chosen again in place of a file that is under way: unseen it would go on, and take its share of the line. */
  const heirs = new WeakMap<Item, Item>()
  const formerOf = (item: Item): Item | undefined => carried().find(({ replacedBy }) => replacedBy === item)
  const giveWay = (same: Item, item = heirs.get(same)): void => {
    if (!item || !items.includes(item)) return
    items = items.filter((other) => other !== same)
    // One that was never begun is gone: only what it had taken the place of can come back.
    const former = isReady(same) ? formerOf(same) : same
    if (former) former.replacedBy = item
  }
  const put = (added: readonly Item[]): void => {
    items = [...items, ...added]
  }
  return {
    items: () => items,
    add(files, again) {
      const added = files.map((chosen) => newItem(chosen.file.name, chosen.file.size, chosen))
      put(added)
      for (const item of added) {
        const { present: own, chosen } = item
        const isAgain = (each: Item): boolean =>
          isReplaceable(each) && isSamePlace(each.present.location, own.location) && isSameFile(each.present, own)
        const same = items.filter((each) => again?.get(each) === chosen || isAgain(each))
        // What is under way keeps its row for now, and stands before what was chosen in its place already: that gives way at once.
        const over = same.find(({ state }) => OVER.includes(state))
        if (over) giveWay(over, item)
        for (const each of same) if (!OVER.includes(each.state)) heirs.set(each, item)
      }
    },
    put,
    remove(item) {
      const former = formerOf(item)
      items = items.filter((other) => other !== item)
      if (!former) return
      former.replacedBy = undefined
      put([former])
    },
    giveWay: (item) => giveWay(item),
    keep(isKept) {
      items = items.filter(isKept)
    },
  }
}
