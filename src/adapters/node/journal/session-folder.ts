// The folder name of a session's key. Any string is a key: a path, a reserved name, `__proto__`, keys that differ only
// in case, half of a surrogate pair. Names use only what every file system keeps distinct and as written: a-z, 0-9, -
// and %.

import { createHash } from 'node:crypto'

const PREFIX = 'session-'
/** Some encrypting file systems accept names of at most 143 bytes. */
const LONGEST_ENCODED = 120
/** Marks a name that is cut off. No encoded key contains it, because there a % is followed by hex digits or u. */
const CUT = '%-'

/**
 * Returns one name for each key. For a key that is too long it has the beginning and a SHA-256, and the key cannot be
 * read from the name.
 */
export function folderOfKey(key: string): string {
  const encoded = key.replace(/[^a-z0-9-]/g, encodeUnit)
  if (encoded.length <= LONGEST_ENCODED) return PREFIX + encoded
  const digest = createHash('sha256').update(encoded).digest('hex')
  return `${PREFIX}${encoded.slice(0, LONGEST_ENCODED - digest.length - CUT.length)}${CUT}${digest}`
}

/** Whether a folder of this name is a session's. */
export function isSessionFolder(name: string): boolean {
  return name.startsWith(PREFIX)
}

/** Whether the key of this folder can be read from its name. */
export function isNameWhole(name: string): boolean {
  return isSessionFolder(name) && !name.includes(CUT)
}

/** The key of a folder whose name is whole. */
export function keyOfFolder(name: string): string {
  return name
    .slice(PREFIX.length)
    .replace(/%(?:u([0-9a-f]{4})|([0-9a-f]{2}))/g, (_, long: string | undefined, short: string | undefined) =>
      String.fromCharCode(parseInt(long ?? short ?? '', 16)),
    )
}

/** By UTF-16 units and not by characters, so that half of a surrogate pair has a name of its own. */
function encodeUnit(unit: string): string {
  const code = unit.charCodeAt(0)
  return code < 0x100 ? `%${code.toString(16).padStart(2, '0')}` : `%u${code.toString(16).padStart(4, '0')}`
}
