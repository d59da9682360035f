// How much structure a JSON text has, counted on its bytes before anything is parsed: 64 MiB of brackets take a parser
// 14 s and two gigabytes (measured, Node 20), and what is nested deeply enough cannot be serialised again.

export interface JsonBounds {
  /** Depth of objects and arrays within each other. */
  readonly levels: number
  /** Values of any kind. An empty object or array counts as two. */
  readonly values: number
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Returns the bound that the bytes exceed first, or undefined. Bytes that are not JSON are counted, too. */
export function boundPassed(bytes: Uint8Array, bounds: JsonBounds): keyof JsonBounds | undefined {
  let [levels, values, isInText] = [0, 1, false]
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (isInText) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isInText = false
    } else if (byte === QUOTE) isInText = true
    else if (byte === COMMA) values += 1
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values += 1
      levels += 1
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) levels -= 1
    if (levels > bounds.levels) return 'levels'
    if (values > bounds.values) return 'values'
  }
  return undefined
}
