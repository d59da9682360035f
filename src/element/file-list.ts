// The list of rows. However many files there are, a frame makes a limited number of rows, draws for a limited time, and draws only
// rows whose file has changed. All rows are laid out: with `content-visibility` the browser checks in each frame whether each row
// is in view, which took longer than it saved (half as long again with a thousand rows, measured).
//
// Of the rows' buttons one alone is a tab stop, or a thousand files would lie between a keyboard and the rest of the page. The arrow
// keys, Home and End go to the others, in the way of a toolbar.

import { build, focusedBeside, removeElement, setAttribute } from './build-element.ts'
import { createFileRow, type FileRow, type Look, type RowAction } from './file-row.ts'
import type { Item } from './items.ts'

/** Rows made in one frame. A row has about 15 nodes. */
const MADE_PER_FRAME = 20
/** How much of a frame drawing may take, ms. The browser still has to lay out what was drawn. */
const DRAWING_MS = 4

const SHOWN_BUTTON = 'button:not([hidden])'
/** How many buttons a key goes on. */
const STEPS: Readonly<Partial<Record<string, number>>> = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity }

export interface FileList {
  readonly element: HTMLUListElement
  /** Removes a row at once, so that the focus is already where the next key is meant to go. */
  remove(item: Item): void
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
    stop?.setAttribute('tabindex', '-1')
    stop = button
    stop?.setAttribute('tabindex', '0')
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
    const buttons = [...element.querySelectorAll<HTMLButtonElement>(SHOWN_BUTTON)]
    const at = buttons.indexOf(target as HTMLButtonElement) + step
    buttons.at(Math.min(Math.max(at, 0), buttons.length - 1))?.focus()
  })

  const remove = (item: Item): void => {
    const row = rows.get(item)?.element
    if (!row) return
    rows.delete(item)
    const neighbour = row.nextElementSibling ?? row.previousElementSibling
    removeElement(row, () => {
      const button = neighbour?.querySelector<HTMLButtonElement>(SHOWN_BUTTON)
      if (button) button.focus()
      else onEmptied()
    })
  }
  /** Rows drawn in frames that had no time for the rest. The rest comes first, even if these have changed again meanwhile. */
  const drawn = new Set<Item>()
  return {
    element,
    remove,
    reveal(item) {
      const row = rows.get(item)?.element
      if (row) element.scrollTop = row.offsetTop - element.offsetTop
    },
    draw(items, look) {
      setAttribute(element, 'aria-label', look.words.files)
      const here = new Set(items)
      for (const item of rows.keys()) if (!here.has(item)) remove(item)
      // Read first: a button that is hidden loses the focus as soon as anybody asks for it.
      const focused = focusedBeside(element)
      const untilMs = performance.now() + DRAWING_MS
      const made: HTMLElement[] = []
      const isRest = drawn.size > 0
      const isWhole = items.every((item) => {
        let row = rows.get(item)
        if (!row) {
          if (made.length === MADE_PER_FRAME) return false
          row = createFileRow(item, onAction)
          rows.set(item, row)
          made.push(row.element)
        }
        if (drawn.has(item) || !row.draw(look)) return true
        drawn.add(item)
        return performance.now() < untilMs
      })
      if (isWhole) drawn.clear()
      // New rows are drawn before they are in the page, and are put there together.
      element.append(...made)
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
