// Makes free text safe to show: removes what reads like a secret, and what could move a terminal's cursor or begin a new line
// of a log. It knows forms, not values: whoever holds a secret must remove it first.

// What precedes a name behind a hyphen or an underscore, such as `x-amz-`, need not be known.
const SECRET_NAMES = /* @__PURE__ */ [
  'x-(?:amz|goog|ms)-credential',
  '(?:aws|google)access(?:keyid|id)',
  '(?:aws_?)?secret[-_]?(?:access[-_]?)?key',
  'key-pair-id',
  'signature',
  'sig',
  'policy',
  '(?:access|refresh|id|session|security|auth)?token',
  'api[-_]?key',
  'client[-_]?secret',
  'password',
].join('|')
// A value runs to its closing quote or to the next blank. It is better to remove too much than too little.
const VALUE = `(?:"(?:[^"\\\\]|\\\\.)*"?|'(?:[^'\\\\]|\\\\.)*'?|\\S+)`
// A URL in a text, from its :// on. One match takes the whole run, so that a long text is scanned once.
const URL_RUN = /:\/\/[^\s"<>]*/g
const HIDDEN: readonly (readonly [RegExp, string])[] = [
  // Credentials in headers take the rest of the line: a scheme, a blank, and the secret.
  [/((?:authorization|authentication|cookie)["']?\s*(?:[:=]|%3d)\s*)[^\r\n]+/gi, '$1…'],
  [/\b(bearer)\s+\S+/gi, '$1 …'],
  [/\b(basic)\s+[a-z0-9+/=_-]{6,}/gi, '$1 …'],
  // Everything that reads like a query, also outside URLs.
  [/[?&][^\s"<>=&?]*=[^\s"<>]*/g, '?…'],
  [/* @__PURE__ */ new RegExp(`((?<![a-z])(?:${SECRET_NAMES})["']?\\s*(?:[:=]|%3d)\\s*)${VALUE}`, 'gi'), '$1…'],
]

/**
 * Removes secrets from free text: the query of every URL in it, and whatever follows the name of a credential
 * (`X-Amz-Signature=`, `sig=`, `x-api-key:`, `Bearer`), becomes `…`. For foreign messages that pass through us; our own are
 * written without secrets.
 */
export function redactText(text: string): string {
  let shown = text.replace(URL_RUN, redactRun)
  for (const [pattern, replacement] of HIDDEN) shown = shown.replace(pattern, replacement)
  return shown
}

/** Drops the user, the password, and everything after the path. */
function redactRun(run: string): string {
  const [, authority = '', path = '', rest = ''] = /^:\/\/([^/?#]*)([^?#]*)(.*)$/s.exec(run) ?? []
  return `://${authority.slice(authority.lastIndexOf('@') + 1)}${path}${rest === '' ? '' : '?…'}`
}

/** Characters that no line shows as they are: control characters, other line breaks, and marks that turn text around. */
export const UNSHOWN = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/** Makes a text one line that no terminal acts on: each of these characters becomes U+FFFD. */
export function onOneLine(text: string): string {
  return text.replace(UNSHOWN, '\u{FFFD}')
}

/** The words of a foreign error are cut to this many characters: what a person must know of them stands at their beginning. */
const LONGEST_FOREIGN = 1_000

/** The words of an error that is not ours, from a host's function or transport: redacted, cut, and its lines joined by blanks. */
export function foreignWords(error: unknown): string {
  return onOneLine(redactText(textOf(error).slice(0, LONGEST_FOREIGN)).replace(/\s+/g, ' ').trim())
}

/** Plain JavaScript may throw anything: with a message that is no text, or an object that cannot be turned into one. */
function textOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return typeof error
  }
}
