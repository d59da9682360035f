// How many columns a text takes on a terminal, and how to make it fit. Counts what a person sees as one character.

/** Created for the first text that needs it, because that takes 8 ms and most texts never need it. */
let graphemes: Intl.Segmenter | undefined

/** Two columns wide by their script, their form or as an emoji. Everything else that is visible takes one column. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u{FE0F}\u{3000}-\u{303E}\u{FF01}-\u{FF60}\u{FFE0}-\u{FFE6}]/u
/** Half-width forms of wide scripts. */
const HALF_WIDTH = /^[\u{FF61}-\u{FFDC}\u{FFE8}-\u{FFEE}]/u
const INVISIBLE = /^[\p{M}\p{Cf}\p{Cc}]+$/u

/** Columns that a text takes. */
export function columnsOf(text: string): number {
  // Most names are plain ASCII, and the segmenter is about a hundred times slower.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  return pieces(text).reduce((sum, piece) => sum + piece.columns, 0)
}

/** The text in at most `columns`. If it is too long, its middle is left out, because names differ at their ends. */
export function shortenMiddle(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text
  if (columns < 3) return takeColumns(pieces(text), columns)
  const tail = Math.ceil((columns - 1) / 2)
  const all = pieces(text)
  const start = takeColumns(all, columns - 1 - tail)
  const end = takeColumns(all.toReversed(), tail, true)
  return `${start}…${end}`
}

/** The text in exactly `columns`: shortened in the middle, or filled with blanks. */
export function fitColumns(text: string, columns: number): string {
  const short = shortenMiddle(text, columns)
  return short + ' '.repeat(Math.max(0, columns - columnsOf(short)))
}

/** The beginning of a text in at most `columns`. */
export function clip(text: string, columns: number): string {
  return columnsOf(text) <= columns ? text : takeColumns(pieces(text), columns)
}

/** The text in lines of at most `columns`, if its words allow it. Blanks stay, except at a break. */
export function wrapped(text: string, columns: number): string {
  const lines: string[] = []
  for (const paragraph of text.split('\n')) {
    let line = ''
    for (const word of paragraph.match(/ *[^ ]+/g) ?? []) {
      if (line !== '' && columnsOf(line + word) > columns) {
        lines.push(line)
        line = word.trimStart()
      } else line += word
    }
    lines.push(line)
  }
  return lines.join('\n')
}

interface Piece {
  readonly text: string
  readonly columns: number
}

function pieces(text: string): Piece[] {
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return Array.from(graphemes.segment(text), ({ segment }) => ({ text: segment, columns: graphemeColumns(segment) }))
}

function graphemeColumns(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0
  if (HALF_WIDTH.test(grapheme)) return 1
  return WIDE.test(grapheme) ? 2 : 1
}

function takeColumns(from: readonly Piece[], columns: number, isFromEnd = false): string {
  const taken: string[] = []
  let used = 0
  for (const piece of from) {
    if (used + piece.columns > columns) break
    used += piece.columns
    taken.push(piece.text)
  }
  return (isFromEnd ? taken.reverse() : taken).join('')
}
