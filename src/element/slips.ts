// Blocks clicks and keys that nobody meant. The second click of a double click may hit another button than the first, because
// “Cancel” is drawn where “Upload” was. A key that is held goes on pressing whatever gets the focus.

/**
 * Clicks on row buttons that follow each other within this time are one double or triple click, ms. Slower ones all count: rows move
 * up under the pointer, so several can be removed by clicks in one place.
 */
const DOUBLE_CLICK_MS = 300

/** Blocks such clicks and keys within `root`. */
export function guardFromSlips(root: ShadowRoot): void {
  /** When the last click of this series was, blocked or not. Infinity if the series began on anything but a row's button. */
  let rowClickedAtMs = Infinity
  const onClick = (event: Event): void => {
    const { detail, target, timeStamp } = event as MouseEvent
    const isOfRow = (target as Element).matches('.row-button')
    // `detail` counts the clicks of a series. A plain Event, such as a script may dispatch, has none, and for a key it is 0.
    if (detail > 1 && !(isOfRow && timeStamp - rowClickedAtMs >= DOUBLE_CLICK_MS)) {
      event.stopImmediatePropagation()
      rowClickedAtMs = Math.max(rowClickedAtMs, timeStamp)
    } else rowClickedAtMs = isOfRow ? timeStamp : Infinity
  }
  root.addEventListener('click', onClick, true)
  root.addEventListener('keydown', (event) => {
    const { repeat, key } = event as KeyboardEvent
    if (repeat && key === 'Enter') event.preventDefault()
  })
}
