// What an answer of the service says: its JSON where JSON is needed, and its own words where it refuses, made fit to be
// shown.

import { redactText } from '../core/redact.ts'
import { UploadError } from '../core/errors.ts'
import type { TransportReply } from '../core/ports.ts'
import { isWireObject, ownField } from './contract/fields.ts'
import { boundPassed, type JsonBounds } from './contract/json-bounds.ts'

/** What was asked for: the operation, its name for people, and whether an earlier try may have been acted on. */
export interface Asked {
  readonly operation: string
  readonly words: string
  readonly isDoubtful?: boolean
}

/** The interface has six levels. The number of values is ten times what 64 MiB of addresses need. */
export const REPLY_BOUNDS: JsonBounds = { levels: 64, values: 2_000_000 }
/** The most characters of the service's words that a message quotes. */
const MAX_WORDS_LENGTH = 300
/** A body of more bytes is not searched for words. */
const MAX_WORDS_BODY_BYTES = 65_536
const WORD_FIELDS = ['message', 'msg', 'error', 'error_description', 'detail', 'errors']

/**
 * The JSON of an answer to a call. If `isBodyNeeded` is false, an empty body gives undefined, and so does one that is
 * neither JSON nor a page. Everything else throws ERR_UPLOAD_SERVICE_REPLY. A page (HTML) is never taken for an answer,
 * because the login page of a network would then pass for a success.
 */
export function readJson(reply: TransportReply, asked: Asked, isBodyNeeded: boolean): unknown {
  const { operation, words, isDoubtful = false } = asked
  const refuse = (what: string): never => {
    throw new UploadError(
      'ERR_UPLOAD_SERVICE_REPLY',
      `The service answered ${reply.status} with ${what} when asked to ${words}. Check the base URL.`,
      { details: { operation, status: reply.status, isBaseUrlDoubtful: true, isDoubtful: isDoubtful || undefined } },
    )
  }
  // A body that broke off was asked for again, so this one is too large.
  if (reply.isBodyCut) return refuse('a body that is too large')
  if (isPage(reply)) return refuse('a web page (HTML) instead of JSON')
  if (boundPassed(reply.body, REPLY_BOUNDS) !== undefined) return refuse('JSON that is too deep or has too many values')
  const text = textOf(reply.body).trim()
  if (text === '') return isBodyNeeded ? refuse('an empty body instead of JSON') : undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    // A platform may unpack the body and keep the header. Then the body is text, and merely not JSON.
    if (reply.headers['content-encoding'] !== undefined && text.includes('\u{FFFD}'))
      return refuse('a body that a proxy has compressed')
    return isBodyNeeded ? refuse('a body that is not JSON') : undefined
  }
}

/** A credential of fewer characters is not searched for: it would be found in half of all answers by chance. */
const SHORTEST_SECRET = 8

/**
 * Throws ERR_UPLOAD_SERVICE_REPLY if a name or a value of an answer holds the credential, plain or encoded: ids and
 * addresses from the answer go to journals, receipts and storage, where a credential must never be.
 */
export function refuseEcho(reply: TransportReply, json: unknown, { operation, words }: Asked, secret: string): void {
  const forms = [secret, encodeURIComponent(secret)]
  const text = textOf(reply.body)
  // Without an escape the text contains all that its values contain, so a million names need not be walked.
  if (!text.includes('\\') && !forms.some((form) => text.includes(form))) return
  const holds = (value: unknown): boolean => {
    if (typeof value === 'string') return forms.some((form) => value.includes(form))
    if (typeof value !== 'object' || value === null) return String(value) === secret
    return Object.entries(value).some(([name, inner]) => holds(name) || holds(inner))
  }
  if (secret.length < SHORTEST_SECRET || !holds(json)) return
  throw new UploadError(
    'ERR_UPLOAD_SERVICE_REPLY',
    `The service repeats the credential in its answer when asked to ${words}, so it is not used. Tell the service.`,
    { details: { operation } },
  )
}

/** What the service says for itself in an answer that is no success; empty if it says nothing that can be shown. */
export function serviceWords(reply: TransportReply, secret: string): string {
  if (isPage(reply)) return `a web page (HTML) of ${reply.body.length} bytes`
  const words = wordsOf(smallJsonOf(reply), 0).map((word) => showable(word, secret).trim())
  const text = [...new Set(words.filter((word) => word !== ''))].join('; ')
  return text.length > MAX_WORDS_LENGTH ? `${cut(text, MAX_WORDS_LENGTH - 1)}…` : text
}

/** The service's own code for what went wrong, if it gives one that looks like a code. */
export function serviceCodeOf(reply: TransportReply, secret: string): string | undefined {
  const json = smallJsonOf(reply)
  const fieldOf = (of: unknown, name: string): unknown => (isWireObject(of) ? ownField(of, name) : undefined)
  const codes = [fieldOf(fieldOf(json, 'error'), 'code'), fieldOf(json, 'code')]
  return codes.find((code) => typeof code === 'string' && /^[\w.-]{1,64}$/.test(code) && !code.includes(secret)) as
    string | undefined
}

/**
 * Text of the far end without control characters, without our credential, and without anything that reads like a
 * secret.
 */
export function showable(text: string, secret: string): string {
  const plain = text.replace(/\p{Cc}/gu, ' ')
  const withoutSecret = [secret, encodeURIComponent(secret)].reduce((rest, word) => rest.replaceAll(word, '…'), plain)
  return redactText(withoutSecret)
}

/** Names as a list for a message: the first ten, each shortened. */
export function showNames(names: readonly string[], secret: string): string {
  if (names.length === 0) return 'none'
  const shown = names.slice(0, 10).map((name) => cut(showable(name, secret), 80))
  return shown.join(', ') + (names.length > shown.length ? ` and ${names.length - shown.length} more` : '')
}

function wordsOf(value: unknown, depth: number): readonly string[] {
  if (typeof value === 'string') return [value]
  if (depth > 3) return []
  if (Array.isArray(value)) return value.slice(0, 5).flatMap((entry) => wordsOf(entry, depth + 1))
  if (!isWireObject(value)) return []
  return WORD_FIELDS.flatMap((name) => wordsOf(ownField(value, name), depth + 1))
}

function smallJsonOf(reply: TransportReply): unknown {
  if (reply.isBodyCut || reply.body.length > MAX_WORDS_BODY_BYTES) return undefined
  try {
    const json = JSON.parse(textOf(reply.body)) as unknown
    // A bare string is somebody's prose, not a field that was meant to be shown.
    return typeof json === 'string' ? undefined : json
  } catch {
    return undefined
  }
}

/** The body decides: many servers label every answer text/html, empty confirmations and JSON included. */
export function isPage(reply: TransportReply): boolean {
  const isLabelled = /^\s*(?:text\/html|application\/xhtml)/i.test(reply.headers['content-type'] ?? '')
  const beginning = textOf(reply.body.subarray(0, 256)).trimStart()
  return isLabelled ? beginning.startsWith('<') : /^<(?:!doctype|html)/i.test(beginning)
}

/** The beginning of a text, never ending in half of a surrogate pair. */
function cut(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
