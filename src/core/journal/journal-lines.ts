// A session's journal as bytes: a header line, then one checksummed line per record. Decoding is total: for any bytes it
// gives the history up to a torn tail, or ERR_UPLOAD_JOURNAL; it never guesses.
//
//   mocap-uplink-journal 1 <crc> {"key":…,"begunUs":…}
//   <crc> <number> <kept> {"type":"session.begun",…}
//
// Lines are numbered from 1, so that a lost or doubled line is noticed. `kept` is the number of lines that were known to be
// on the disk when this one was written. It tells damage from a crash. A broken line that a later line calls kept was on the
// disk once, so it is damage. One that no line calls kept was still on its way when the machine stopped (a disk may keep
// later bytes and lose earlier ones), so it begins the torn tail, to which all that follows belongs.
//
// A record that holds all files of a session may take several lines; see kept-pieces.

import { crc32c, crc32cInSteps } from './crc32c.ts'
import type { JournalRecord } from './journal.ts'
import { addRecord } from './kept-pieces.ts'
import { damaged, parseJson, recordFromText, unknownVersion } from './record-text.ts'
import { atOnce, type Steps } from './steps.ts'

/** Version of the line format; the records have their own in `session.begun`. */
const FORMAT_VERSION = 1
const MAGIC = 'mocap-uplink-journal '

/** The text of a line without a record. It is written when a journal is closed, to say that all before it is kept. */
export const KEPT_MARK = 'kept'

export interface JournalHeader {
  readonly key: string
  /** When the journal began, microseconds since 1970, never the same twice in one process. It orders sessions. */
  readonly begunUs: number
}

export interface DecodedJournal {
  /** Undefined when the bytes end before the header does: such a journal has no history. */
  readonly header: JournalHeader | undefined
  readonly records: readonly JournalRecord[]
  /** Number of whole lines after the header, those without a record included. */
  readonly lineCount: number
  /** Whether every record is known to be on the disk: the journal was closed and not written to since. */
  readonly isKept: boolean
  /** Where the history ends, in bytes; what follows is a torn tail. */
  readonly soundBytes: number
}

export function encodeHeader(header: JournalHeader): Uint8Array {
  const text = JSON.stringify({ key: header.key, begunUs: header.begunUs })
  return utf8(`${MAGIC}${FORMAT_VERSION} ${crc32c(utf8(text))} ${text}\n`)
}

/** Encodes texts as lines: those of `recordText`, or KEPT_MARK. The first gets `firstNumber`; each says that `keptCount` are kept. */
export function encodeLines(texts: readonly string[], firstNumber: number, keptCount: number): Uint8Array {
  const lines = atOnce(encodingLines(texts, firstNumber, keptCount))
  const all = new Uint8Array(lengthOf(lines))
  let at = 0
  for (const line of lines) {
    all.set(line, at)
    at += line.length
  }
  return all
}

/** `encodeLines` in steps. The bytes of the lines are those of the pieces, one after the other. */
export function* encodingLines(
  texts: readonly string[],
  firstNumber: number,
  keptCount: number,
): Steps<readonly Uint8Array[]> {
  const pieces: Uint8Array[] = []
  for (const [index, text] of texts.entries()) {
    if (index > 0) yield
    const body = utf8(`${firstNumber + index} ${keptCount} ${text}\n`)
    pieces.push(utf8(`${yield* crc32cInSteps(body.subarray(0, -1))} `), body)
  }
  return pieces
}

/** Reads only the header, from the first bytes of a journal; undefined when they end before it does. */
export function decodeHeader(bytes: Uint8Array, name: string): { header: JournalHeader; end: number } | undefined {
  const end = bytes.indexOf(NEWLINE)
  // This much holds the version and the checksum.
  const line = latin1(bytes.subarray(0, 64))
  const version = /^mocap-uplink-journal (\d{1,9}) /.exec(line)?.[1]
  if (version !== undefined && Number(version) !== FORMAT_VERSION) throw unknownVersion(name, version, FORMAT_VERSION)
  if (end === -1 && (MAGIC.startsWith(line) || line.startsWith(MAGIC))) return undefined
  const checksumAt = MAGIC.length + String(FORMAT_VERSION).length + 1
  const text = bytes.subarray(checksumAt + 9, end)
  const isWhole = version !== undefined && line.slice(checksumAt, checksumAt + 9) === `${crc32c(text)} `
  const header = isWhole ? parseJson(decodeUtf8(text) ?? '') : undefined
  if (!isHeader(header)) throw damaged(name, 1)
  return { header: { key: header.key, begunUs: header.begunUs }, end: end + 1 }
}

/**
 * Decodes a journal in steps, several for a long line; `name` is its file, for messages. Throws ERR_UPLOAD_JOURNAL for damage before
 * the torn tail and for a version that this program does not read; nothing else, whatever the bytes are.
 */
export function* decodingJournal(bytes: Uint8Array, name: string): Steps<DecodedJournal> {
  const head = decodeHeader(bytes, name)
  if (head === undefined) return { header: undefined, records: [], lineCount: 0, isKept: true, soundBytes: 0 }
  const records: JournalRecord[] = []
  let lineCount = 0
  let isKept = true
  let soundBytes = head.end
  for (;;) {
    yield
    const end = bytes.indexOf(NEWLINE, soundBytes)
    const line = end === -1 ? undefined : yield* readLine(bytes.subarray(soundBytes, end))
    if (line?.number !== lineCount + 1) break
    yield
    if (line.text !== KEPT_MARK) addRecord(records, recordFromText(line.text, name, line.number + 1))
    lineCount = line.number
    isKept = line.text === KEPT_MARK && line.keptCount === lineCount - 1
    soundBytes = end + 1
  }
  if ((yield* highestKept(bytes, soundBytes)) > lineCount) throw damaged(name, lineCount + 2)
  return { header: head.header, records, lineCount, isKept, soundBytes }
}

/** The highest number of kept lines that a whole line in the tail states. */
function* highestKept(bytes: Uint8Array, start: number): Steps<number> {
  let highest = 0
  for (let at = start; ;) {
    const end = bytes.indexOf(NEWLINE, at)
    if (end === -1) return highest
    const line = yield* readLine(bytes.subarray(at, end))
    highest = Math.max(highest, line?.keptCount ?? 0)
    yield
    at = end + 1
  }
}

interface Line {
  readonly number: number
  readonly keptCount: number
  readonly text: string
}

function* readLine(bytes: Uint8Array): Steps<Line | undefined> {
  const body = bytes.subarray(9)
  if (bytes.length < 9 || latin1(bytes.subarray(0, 9)) !== `${yield* crc32cInSteps(body)} `) return undefined
  const match = /^(\d{1,15}) (\d{1,15}) (.*)$/s.exec(decodeUtf8(body) ?? '')
  if (match === null) return undefined
  return { number: Number(match[1]), keptCount: Number(match[2]), text: match[3] ?? '' }
}

function isHeader(value: unknown): value is JournalHeader {
  if (typeof value !== 'object' || value === null || !('key' in value) || !('begunUs' in value)) return false
  return typeof value.key === 'string' && typeof value.begunUs === 'number'
}

/** How long these are together. */
export function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0)
}

// ---- Bytes and text ----------------------------------------------------------------------------------------------

const NEWLINE = 0x0a
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function utf8(text: string): Uint8Array {
  return encoder.encode(text)
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** For the short, fixed beginnings of lines, whatever bytes they are. */
function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}
