// Where the CLI writes: events as JSON lines, or lines for a person. A reader that goes away does not end the command, and a
// file name cannot send control sequences to the terminal.

import { errorCode, fileProblem } from '../../adapters/node/file-problem.ts'
import type { ErrorSummary } from '../../core/errors.ts'
import { onOneLine, UNSHOWN } from '../../core/redact.ts'
import { adviceFor } from './error-line.ts'
import { inWords } from './operation-words.ts'
import { hasRoundedNumber } from '../rounded-numbers.ts'
import { columnsOf, wrapped } from './text-width.ts'

/** `json`: JSON lines only. `quiet`: the result and errors. `lines`: a line per change. `terminal`: a live view. */
export type OutputMode = 'json' | 'quiet' | 'lines' | 'terminal'

/** A part of the terminal that is redrawn below the lines that were written for good. */
export interface LiveArea {
  erase(): void
  draw(): void
}

export interface Output {
  readonly mode: OutputMode
  /** The present columns and rows. 80 × 24 if there is no terminal. */
  size(): { readonly columns: number; readonly rows: number }
  readonly hasColor: boolean
  /** Prints one JSON line with `event` and `at`, and with advice in each `error`. Prints nothing in the other modes. */
  event(event: string, fields: Readonly<Record<string, unknown>>): void
  /** Prints a line that a person reads on the way. Prints nothing with `json` or `quiet`. */
  say(text: string): void
  /** Prints a line that answers the command. Prints nothing with `json`. */
  answer(text: string): void
  /**
   * Prints the document that the command is run for as it is, such as the service's JSON. Prints nothing with `json`. In every mode
   * it warns of numbers that were rounded when the document was read.
   */
  document(value: unknown): void
  /** Prints one line on stderr, in every mode. */
  complain(text: string): void
  /** Writes raw text to the terminal, for a live area. */
  draw(text: string): void
  setLive(area: LiveArea | undefined): void
  /** True once `document` was called, in every mode. */
  readonly isForDocument: boolean
  /** True if the system dropped something for stdout, such as on a full disk. A reader that went away does not count. */
  readonly hasLost: boolean
  /** Settles when everything is written or nobody reads any more. */
  flushed(): Promise<void>
}

export interface OutputOptions {
  readonly isJson: boolean
  readonly isQuiet: boolean
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Creates the output of one command. */
export function createOutput(options: OutputOptions): Output {
  const { isJson, isQuiet, stdout, stderr, env } = options
  const isTerminal = stdout.isTTY && env['TERM'] !== 'dumb'
  const mode: OutputMode = isJson ? 'json' : isQuiet ? 'quiet' : isTerminal ? 'terminal' : 'lines'
  const err = tolerant(stderr)
  let [hasLost, isForDocument] = [false, false]
  const out = tolerant(stdout, (error) => {
    hasLost = true
    const { message } = fileProblem(error, 'stdout', 'written')
    err.write(`error: ${onOneLine(message.replaceAll('"', ''))} The rest of the output is lost.\n`)
  })
  let live: LiveArea | undefined
  const above = (write: () => void) => {
    live?.erase()
    write()
    live?.draw()
  }
  const complain = (text: string) => above(() => err.write(asLine(text, stderr)))
  return {
    mode,
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    hasColor: isTerminal && !env['NO_COLOR'],
    event(event, fields) {
      if (mode !== 'json') return
      const line = JSON.stringify({ event, at: new Date().toISOString(), ...fields }, withAdviceOnErrors)
      out.write(`${escaped(line)}\n`)
    },
    say(text) {
      if (mode === 'lines' || mode === 'terminal') above(() => out.write(asLine(text, stdout)))
    },
    answer(text) {
      if (mode !== 'json') above(() => out.write(asLine(text, stdout)))
    },
    document(value) {
      isForDocument = true
      if (mode !== 'json') above(() => out.write(`${toJson(value, stdout.isTTY)}\n`))
      if (hasRoundedNumber(value))
        complain('warning: numbers beyond 2^53 are shown rounded: their last digits are wrong.')
    },
    complain,
    draw: (text) => out.write(text),
    setLive(area) {
      live = area
    },
    get isForDocument() {
      return isForDocument
    },
    get hasLost() {
      return hasLost
    },
    async flushed() {
      await Promise.all([out.flushed(), err.flushed()])
    },
  }
}

/**
 * The text as one line. On a terminal, a line that is too long breaks between words. A command to copy is never broken: it then
 * begins a line of its own, where it is seen and marked as a whole.
 */
function asLine(text: string, { isTTY, columns }: NodeJS.WriteStream): string {
  const line = onOneLine(text)
  if (!isTTY || !(columns > 0) || columnsOf(line) <= columns) return `${line}\n`
  const at = line.search(COMMAND)
  if (at < 0) return `${wrapped(line, columns)}\n`
  const before = line.slice(0, at).trimEnd()
  return `${before === '' ? '' : `${wrapped(before, columns)}\n`}${line.slice(at)}\n`
}

const COMMAND = /(?:npx )?mocap-uplink /

/** Puts every error of ours in a JSON line into the command's words, and adds what to do. What a service calls an error stays as it is. */
function withAdviceOnErrors(name: string, value: unknown): unknown {
  if (name !== 'error' || typeof value !== 'object' || value === null || !('code' in value)) return value
  const { code } = value
  if (typeof code !== 'string' || !code.startsWith('ERR_UPLOAD_')) return value
  const error = value as ErrorSummary
  return { ...error, message: inWords(error.message), advice: adviceFor(error) }
}

function toJson(value: unknown, isForPerson: boolean): string {
  if (value === undefined) return ''
  return escaped(JSON.stringify(value, undefined, isForPerson ? 2 : undefined))
}

/** JSON escapes only the lower control characters. The others are escaped here, except its own line breaks. */
function escaped(json: string): string {
  return json.replace(UNSHOWN, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Error codes of a reader that went away or a terminal that was closed. */
const LEFT: readonly (string | undefined)[] = ['EPIPE', 'ECONNRESET', 'EIO']

/** Writes until the stream fails and then drops the rest, because `| head` or a closed terminal is no reason to stop an upload. */
function tolerant(stream: NodeJS.WriteStream, onLost?: (error: Error) => void) {
  let isGone = false
  let hasWritten = false
  stream.on('error', (error: Error) => {
    // Another output of this process may use the stream too.
    if (hasWritten && !isGone && !LEFT.includes(errorCode(error))) onLost?.(error)
    isGone = true
  })
  return {
    write(text: string) {
      if (isGone || stream.destroyed) return
      hasWritten = true
      stream.write(text)
    },
    flushed: () =>
      new Promise<void>((resolve) => {
        if (isGone || stream.destroyed) {
          resolve()
          return
        }
        stream.once('error', () => resolve())
        stream.write('', () => resolve())
      }),
  }
}
