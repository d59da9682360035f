// The list of rows. However many files there are, a frame makes a limited number of rows, draws for a limited time, and draws only
// rows whose file has changed. The rows of a frame are a group. Of the groups after the first 500 rows, only those near what is in sight
// are laid out. With 5,000 rows each frame had laid out and hit-tested them all, in 60 ms of processor time. `content-visibility` for
// each row alone made the browser check each row in each frame, which took longer than it saved. The first 500 rows do without: a
// screen reader hears of skipped rows too, but other assistive programs do not, as Chromium 156 spares work where it finds no screen
// reader: they counted 40 of 300 files, and found no other.
//
// Of the rows' buttons one alone is a tab stop, or a thousand files would lie between a keyboard and the rest of the page. The arrow
// keys, Home and End go to the others, in the way of a toolbar.

import { build, focusedBeside, removeElement, setAttribute } from './build-element.ts'
import { createFileRow, type FileRow, type Look, type RowAction } from './file-row.ts'
import type { Item } from './items.ts'

/** Rows made in one frame. A row has about 15 nodes. */
const MADE_PER_FRAME = 20
/** Rows that are always laid out, and so told to every assistive program: a night's files. */
const ALWAYS_LAID_OUT = 500
/** The least height of a row, px: what is taken for that of rows that were never in sight. */
const ROW_HEIGHT = 60
/** How much of a frame drawing may take, ms. The browser still has to lay out what was drawn. */
const DRAWING_MS = 4

/** How many buttons a key goes on. */
const STEPS: Readonly<Partial<Record<string, number>>> = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity }

export interface FileList {
  readonly element: HTMLUListElement
  /** Removes a row at once, so that the focus is already where the next key is meant to go. If there is an `heir`, it gets the row. */
  remove(item: Item, heir: Item | undefined): void
  /** Scrolls to a row, within the list only. */
  reveal(item: Item): void
  /** Draws as many rows as there is time for. Returns true if another frame is needed. */
  draw(items: readonly Item[], look: Look): boolean
}

/** `onEmptied` is called when the row that had the focus is gone and no other row can take it. */
export function createFileList(onAction: (item: Item, action: RowAction) => void, onEmptied: () => void): FileList {
  const element = build('ul', 'list', { tabindex: '0', role: 'list' })
  const rows = new Map<Item, FileRow>()
  /** The button that Tab goes to. */
  let stop: HTMLButtonElement | undefined
  const stopAt = (button: HTMLButtonElement | undefined): void => {
    if (stop) stop.tabIndex = -1
    stop = button
    if (stop) stop.tabIndex = 0
  }
  element.addEventListener('focusin', ({ target }) => {
    if (target instanceof HTMLButtonElement) stopAt(target)
  })
  element.addEventListener('keydown', (event) => {
    const { key, target, altKey, ctrlKey, metaKey } = event
    const step = STEPS[key]
    // On the list itself these keys scroll.
    if (!step || target === element || altKey || ctrlKey || metaKey) return
    event.preventDefault()
    go(target as HTMLButtonElement, step)
  })
  /** Moves the focus from this button by so many, as far as there are any. */
  const go = (from: HTMLButtonElement, step: number): void => {
    const buttons = [...element.querySelectorAll<HTMLButtonElement>('button:not([hidden])')]
    const to = buttons[buttons.indexOf(from) + step] ?? buttons.at(step > 0 ? -1 : 0)
    to?.focus()
  }

  const remove = (item: Item, heir: Item | undefined): void => {
    const row = rows.get(item)
    if (!row) return
    rows.delete(item)
    if (heir && !rows.has(heir)) return void rows.set(heir, row)
    // To the next button or, from the last one, to the one before.
    for (const step of [1, -1]) if (focusedBeside(element) === row.button) go(row.button, step)
    const group = row.element.parentElement
    removeElement(row.element, onEmptied)
    if (!group?.firstChild) group?.remove()
  }
  /** Rows drawn in frames that had no time for the rest. The rest comes first, even if these have changed again meanwhile. */
  const drawn = new Set<Item>()
  return {
    element,
    remove,
    reveal(item) {
      const row = rows.get(item)?.element
      if (row) element.scrollTop += row.getBoundingClientRect().top - element.getBoundingClientRect().top
    },
    draw(items, look) {
      setAttribute(element, 'aria-label', look.words.files)
      const here = new Set(items)
      // An heir that is not here either comes up in its turn.
      for (const item of rows.keys()) if (!here.has(item)) remove(item, item.replacedBy)
      // Read first: a button that is hidden loses the focus as soon as anybody asks for it.
      const focused = focusedBeside(element)
      const untilMs = performance.now() + DRAWING_MS
      const made: HTMLElement[] = []
      const isRest = drawn.size > 0
      const isWhole = items.every((item) => {
        let row = rows.get(item)
        if (!row) {
          if (made.length === MADE_PER_FRAME) return false
          row = createFileRow(onAction)
          rows.set(item, row)
          made.push(row.element)
        }
        if (drawn.has(item) || !row.draw(item, look)) return true
        drawn.add(item)
        return performance.now() < untilMs
      })
      if (isWhole) drawn.clear()
      // New rows are drawn before they are in the page, and are put there together.
      if (made[0]) {
        const group = build('div', '', {}, ...made)
        if (rows.size - made.length >= ALWAYS_LAID_OUT)
          group.style.cssText = `content-visibility:auto;contain-intrinsic-size:auto ${made.length * ROW_HEIGHT}px`
        element.append(group)
      }
      element.hidden = rows.size === 0
      if (!stop || stop.hidden || !element.contains(stop)) {
        const isFocused = stop === focused
        stopAt([...rows.values()].find(({ button }) => !button.hidden)?.button)
        // The button that had the focus is hidden now, which would drop it to the top of the page.
        if (isFocused) element.focus()
      }
      return isRest || !isWhole
    },
  }
}
