// What a terminal shows after a live view was drawn over, and how little is written for it.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { eraseText, redrawText } from '../../../src/cli/views/redraw.ts'

const COLUMNS = 40
const SIZE = { columns: COLUMNS, rows: 24 }
const BOLD = '\x1b[1m'
const strongLast = (lines: readonly string[]) => (line: string, index: number) =>
  index === lines.length - 1 ? `${BOLD}${line}\x1b[22m` : line

/** A terminal of so many rows that knows what the view writes. Each cell is a character, marked where it is bold. */
function terminal(rows: number) {
  const screen: string[][] = [[]]
  const scrolledOff: string[] = []
  let [row, column, isBold] = [0, 0, false]
  const shown = (cells: readonly string[] = []): string =>
    cells
      .join('')
      .replace(/(?:\*.)+/g, (bold) => `<${bold.replaceAll('*', '')}>`)
      .trimEnd()
  const codes: Readonly<Record<string, (count: number) => void>> = {
    A: (count) => (row = Math.max(0, row - count)),
    B: (count) => (row = Math.min(rows - 1, row + count)),
    K: () => (screen[row] ?? []).splice(column),
    J: () => {
      screen[row]?.splice(column)
      screen.splice(row + 1)
    },
    m: (style) => (isBold = style === 1),
  }
  const take = (token: string): void => {
    const [, count, code = ''] = /^\x1b\[(\d*)(.)$/.exec(token) ?? []
    if (token === '\r') column = 0
    else if (token === '\n') {
      column = 0
      row += 1
      if (row === rows) {
        scrolledOff.push(shown(screen.shift() ?? []))
        row -= 1
      }
    } else if (code !== '') codes[code]?.(Number(count || 1))
    else {
      const cells = (screen[row] ??= [])
      cells[column] = isBold ? `*${token}` : token
      column += 1
    }
    screen[row] ??= []
  }
  return {
    write: (text: string) => text.match(/\x1b\[\d*[A-Z]|\x1b\[\d*m|[\s\S]/g)?.forEach(take),
    text: () => [...scrolledOff, ...Array.from(screen, shown)].join('\n').trimEnd(),
  }
}

const asShown = (lines: readonly string[]): string =>
  lines.map((line, index) => (index === lines.length - 1 ? `<${line}>` : line)).join('\n')

describe('a live view that is drawn over', () => {
  const line = fc.constantFrom('a', 'bb', 'a longer one', 'x'.repeat(COLUMNS - 1))
  const frames = fc.array(fc.array(line, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 8 })

  it('shows the new lines and nothing of the old ones, below what was there', () => {
    fc.assert(
      fc.property(frames, fc.integer({ min: 6, max: 9 }), (drawings, rows) => {
        const screen = terminal(rows)
        screen.write('$ mocap-uplink\n')
        let drawn: readonly string[] = []
        for (const lines of drawings) {
          screen.write(redrawText(drawn, lines, { columns: COLUMNS, rows }, strongLast(lines)))
          drawn = lines
          expect(screen.text()).toBe(`$ mocap-uplink\n${asShown(lines)}`)
        }
        screen.write(`${eraseText(drawn, COLUMNS)}done\n`)
        expect(screen.text()).toBe('$ mocap-uplink\ndone')
      }),
    )
  })

  it('writes only the lines that changed', () => {
    const [before, after] = [
      ['one 1 %', 'two 2 %', 'all 3 %'],
      ['one 1 %', 'two 3 %', 'all 3 %'],
    ]
    expect(redrawText(before, after, SIZE, strongLast(after))).toBe('\r\x1b[3A\ntwo 3 %\x1b[K\n\n')
  })

  it('is drawn anew where the window has become too narrow for it', () => {
    const lines = ['x'.repeat(COLUMNS - 1), 'y']
    const narrow = COLUMNS / 2
    expect(redrawText(lines, ['x', 'y'], { ...SIZE, columns: narrow }, (text) => text)).toBe(
      `${eraseText(lines, narrow)}x\ny\n`,
    )
  })

  it('is drawn anew where the window has become too low for it: other lines are in its rows', () => {
    const rows = 6
    const screen = terminal(rows)
    const files = Array.from({ length: 8 }, (_, index) => `file ${index}`)
    const before = [...files, 'all 3 %']
    const after = [...files.slice(0, 3), 'all 4 %']
    screen.write(redrawText([], before, { columns: COLUMNS, rows }, (text) => text))
    screen.write(redrawText(before, after, { columns: COLUMNS, rows }, (text) => text))

    expect(screen.text().split('\n').slice(-4)).toEqual(after)
  })
})
