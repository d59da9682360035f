// How many columns a text takes on a terminal, and how to make it fit. Counts what a person sees as one character.

/** Created for the first text that needs it, because that takes 8 ms and most texts never need it. */
let graphemes: Intl.Segmenter | undefined

/**
 * Two columns wide, as an emoji or by their block: the blocks of East Asian scripts hold signs of no script as well, such as the ー of
 * every other Japanese word.
 */
const WIDE =
  /[\p{Emoji_Presentation}\u{FE0F}\u{1100}-\u{115F}\u{2329}\u{232A}\u{2E80}-\u{303E}\u{3041}-\u{A4CF}\u{A960}-\u{A97C}\u{AC00}-\u{D7A3}\u{F900}-\u{FAFF}\u{FE10}-\u{FE19}\u{FE30}-\u{FE6B}\u{FF01}-\u{FF60}\u{FFE0}-\u{FFE6}\u{16FE0}-\u{1B2FF}\u{1F200}-\u{1F265}\u{20000}-\u{3FFFD}]/u
/** What is drawn over the character before it, or not at all. */
const WITHOUT_WIDTH = /[\p{Mn}\p{Me}\p{Cf}\p{Cc}]/u

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

/** Signs that a person sees as part of a character, such as a vowel of Thai or Hindi, may have a column of their own. */
function graphemeColumns(grapheme: string): number {
  if (WIDE.test(grapheme)) return 2
  return Array.from(grapheme).filter((sign) => !WITHOUT_WIDTH.test(sign)).length
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
