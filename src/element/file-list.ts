// The list of rows. However many files there are, a frame makes and draws only a bounded number of rows, and only those
// whose file has changed. All are laid out: with `content-visibility` the browser asks in each frame of every row whether it is
// in view, which took longer than it saved (half as long again with a thousand rows, measured).

import { build, removeElement, setAttribute } from './build-element.ts'
import { createFileRow, type FileRow, type Look, type RowAction } from './file-row.ts'
import type { Item } from './items.ts'

/** Rows made, and rows drawn anew, in one frame; a row is some 15 nodes. */
const ROWS_PER_FRAME = 20

export interface FileList {
  readonly element: HTMLUListElement
  add(items: readonly Item[]): void
  remove(item: Item): void
  /** Something of this file has changed. */
  mark(item: Item): void
  markAll(): void
  /** Scrolls to a row, within the list only. */
  reveal(item: Item): void
  /** Draws what is due; true when another frame is needed. */
  draw(look: Look): boolean
}

/** `onEmptied` hears that the row which had the focus is gone, and no other row can take it. */
export function createFileList(onAction: (item: Item, action: RowAction) => void, onEmptied: () => void): FileList {
  const element = build('ul', 'list', { tabindex: '0', role: 'list' })
  const rows = new Map<Item, FileRow>()
  const awaited = new Set<Item>()
  const changed = new Set<Item>()

  return {
    element,
    add(items) {
      for (const item of items) awaited.add(item)
    },
    remove(item) {
      awaited.delete(item)
      changed.delete(item)
      const row = rows.get(item)
      if (row === undefined) return
      rows.delete(item)
      const neighbour = row.element.nextElementSibling ?? row.element.previousElementSibling
      removeElement(row.element, () => {
        const next = neighbour?.querySelector<HTMLButtonElement>('button:not([hidden])')
        if (next === null || next === undefined) onEmptied()
        else next.focus()
      })
    },
    mark(item) {
      changed.add(item)
    },
    markAll() {
      for (const item of rows.keys()) changed.add(item)
    },
    reveal(item) {
      const row = rows.get(item)?.element
      if (row !== undefined) element.scrollTop = row.offsetTop - element.offsetTop
    },
    draw(look) {
      setAttribute(element, 'aria-label', look.texts.files)
      const made = take(awaited, ROWS_PER_FRAME).map((item) => {
        const row = createFileRow(item, onAction)
        rows.set(item, row)
        changed.delete(item)
        row.draw(look)
        return row.element
      })
      if (made.length > 0) element.append(...made)
      for (const item of take(changed, ROWS_PER_FRAME)) rows.get(item)?.draw(look)
      element.hidden = rows.size === 0
      return awaited.size > 0 || [...changed].some((item) => rows.has(item))
    },
  }
}

/** Takes the first of a set out of it. */
function take<T>(set: Set<T>, count: number): T[] {
  const taken: T[] = []
  for (const each of set) {
    if (taken.length === count) break
    taken.push(each)
    set.delete(each)
  }
  return taken
}
