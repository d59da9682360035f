// What a hand does that nobody meant: the second click of a double click, which may meet another button than the first, as
// “Cancel” is drawn where “Upload” was; and a key that is held, which goes on pressing whatever gets the focus.

/**
 * Rows move up under the pointer, so that several are removed by clicks in one place. Those that follow each other within this are one
 * double click all the same, or a triple one, ms.
 */
const DOUBLE_CLICK_MS = 300

/** Keeps slips from what is within `root`. */
export function guardFromSlips(root: ShadowRoot): void {
  /** When the last click was, which may have been none that is heard; Infinity where it began on another button. */
  let rowClickedAtMs = Infinity
  const onClick = (event: Event): void => {
    const { detail, target, timeStamp } = event as MouseEvent
    const isOfRow = (target as Element).matches('.row-button')
    // A plain Event, such as a script may send, has no count, and a key none above 0.
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
