// The text that changes what a live view shows on a terminal from some lines to others. Rows that stay are passed over: a view that
// is drawn ten times a second goes over the same line as the upload, where a person watches by ssh.

import { columnsOf } from './text-width.ts'

const NEXT_ROW = '\n'

/**
 * Goes from just below `drawn` to just below `lines`. `size`: that of the window now; `isWhole`: all is drawn anew. `styled`: what is
 * written for the line at an index, as wide as the line itself.
 */
export function redrawText(
  drawn: readonly string[],
  lines: readonly string[],
  { columns, rows, isWhole }: { readonly columns: number; readonly rows: number; readonly isWhole?: boolean },
  styled: (line: string, index: number) => string,
): string {
  // What takes more rows than it has lines, or than there are, because the window is smaller now, is drawn anew.
  const isAnew = isWhole === true || drawn.length >= rows || drawn.some((line) => columnsOf(line) > columns)
  const kept = isAnew ? [] : drawn
  const start = isAnew ? eraseText(drawn, columns) : upBy(kept.length)
  const end = lines.length < kept.length ? '\x1b[J' : ''
  const written = lines.map((line, index) => {
    if (kept[index] === line && isLast(kept, index) === isLast(lines, index)) return NEXT_ROW
    return `${styled(line, index)}${index < kept.length ? '\x1b[K' : ''}${NEXT_ROW}`
  })
  return start + written.join('') + end
}

/**
 * Goes back to the first row of what was drawn and clears from there. After a resize a line may take more than one row, so the
 * rows are counted with the present width. The first row is cleared by itself, because a terminal that is cleared from its very
 * first row on may keep all of that, as tmux does, and its scrollback would fill with every drawing.
 */
export function eraseText(drawn: readonly string[], columns: number): string {
  if (drawn.length === 0) return ''
  const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(columnsOf(line) / columns)), 0)
  return `${upBy(rows)}\x1b[K\x1b[B\x1b[J\x1b[A`
}

function upBy(rows: number): string {
  return rows === 0 ? '' : `\r\x1b[${rows}A`
}

/** The last line is drawn in another style than those above. */
function isLast(lines: readonly string[], index: number): boolean {
  return index === lines.length - 1
}
