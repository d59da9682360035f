// How much structure a reply may have, counted before it is parsed: 64 MiB of brackets take a parser 14 s and two
// gigabytes (measured, Node 20), and what is nested deep enough cannot be written again.

/** Objects and arrays within each other; the interface has six. */
const MOST_LEVELS = 64
/** Brackets and commas together, about as many as values: ten times what 64 MiB of addresses need. */
const MOST_MARKS = 2_000_000

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPENING = [0x5b, 0x7b]
const CLOSING = [0x5d, 0x7d]

/** False for JSON that is deeper or has more values than any reply of the service. What is not JSON is counted too. */
export function isJsonBounded(bytes: Uint8Array): boolean {
  let levels = 0
  let marks = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (OPENING.includes(byte)) {
      levels += 1
      marks += 1
    } else if (CLOSING.includes(byte)) levels -= 1
    else if (byte === COMMA) marks += 1
    if (levels > MOST_LEVELS || marks > MOST_MARKS) return false
  }
  return true
}

/** Where the string that begins here has its closing quote. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    if (bytes[at] === BACKSLASH) at += 1
    else if (bytes[at] === QUOTE) return at
  }
  return bytes.length
}
