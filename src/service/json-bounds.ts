// What a body may cost, judged on its bytes before anything is made of them: sixteen megabytes of tiny values are gigabytes
// once they are objects, and as many complaints about them are more.

import { MalformedRequest } from './replies.ts'

/** Bodies of the interface have four levels. More than this is an attack on whoever walks through it. */
const MAX_DEPTH = 32
/** A create of the hundred thousand files that a limit may allow at most has six hundred thousand. */
const MAX_VALUES = 1_000_000

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Throws MalformedRequest when it is nested more than 32 levels deep or has more
 * than a million values. Of what is no JSON it says nothing in particular.
 */
export function checkJsonBounds(bytes: Uint8Array): void {
  let [values, depth, isInText] = [1, 0, false]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (isInText) {
      if (byte === BACKSLASH) at++
      else if (byte === QUOTE) isInText = false
    } else if (byte === QUOTE) isInText = true
    else if (byte === COMMA) values++
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values++
      if (++depth > MAX_DEPTH) refuseBody(`nested more than ${MAX_DEPTH} levels deep`)
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--
    if (values > MAX_VALUES) refuseBody(`more than ${MAX_VALUES} values`)
  }
}

function refuseBody(problem: string): never {
  throw new MalformedRequest([{ field: '', problem }])
}
