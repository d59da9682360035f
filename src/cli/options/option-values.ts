// What the text of an option means: numbers, durations, sizes, JSON. Each function throws ERR_UPLOAD_INVALID_ARGUMENT
// that names the option.

import { constants, openSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { text as wholeText } from 'node:stream/consumers'
import { fileProblem } from '../../adapters/node/file-problem.ts'
import { checkId, show } from '../../client/checks.ts'
import { isWireObject, type ServiceId, type WireObject } from '../../client/contract/fields.ts'
import { invalid, isUploadError, UploadError } from '../../core/errors.ts'
import { parseByteSize } from '../../core/plan.ts'
import { hasRoundedNumber } from '../rounded-numbers.ts'

const SECOND_MS = 1000
const UNIT_MS: Readonly<Record<string, number>> = { s: SECOND_MS, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The longest time of an option: when it ends must be a date that can be shown, and JavaScript knows none beyond the year 275,760. */
const MOST_DAYS = 1_000_000

/** A whole number in digits, of at least `min`. */
export function parseInteger(text: string, label: string, min = 0): number {
  const value = /^\d+$/.test(text.trim()) ? Number(text) : NaN
  if (Number.isSafeInteger(value) && value >= min) return value
  const range = value > Number.MAX_SAFE_INTEGER ? `of at most ${Number.MAX_SAFE_INTEGER}` : `of ${min} or more`
  return invalid(`${label} is ${show(text)}: give a whole number ${range}.`)
}

/** Runs a check of the library's, whose messages begin with its own `name` for the value, and puts the option in its place. */
export function asOption<TValue>(label: string, name: string, check: () => TValue): TValue {
  try {
    return check()
  } catch (error) {
    if (!isUploadError(error) || !error.message.startsWith(name)) throw error
    throw new UploadError(error.code, label + error.message.slice(name.length), { details: error.details })
  }
}

/** An id of the service, given as an argument. `source` says where such ids come from. The id is not shown: it may be a secret. */
export function parseId(text: string, label: string, source: string): ServiceId {
  try {
    return checkId(text, label)
  } catch (error) {
    if (!isUploadError(error)) throw error
    return invalid(`${label} is no id of the service: give it as issued, such as ${source}.`)
  }
}

/** A number, with or without decimals. */
export function parseDecimal(text: string, label: string): number {
  if (/^\d{1,12}(?:\.\d{1,9})?$/.test(text.trim())) return Number(text)
  return invalid(`${label} is ${show(text)}: give a number such as 240 or 59.94.`)
}

/** `90s`, `30m`, `12h`, `2d` in ms, of at least `minMs` and at most a million days. */
export function parseDuration(text: string, label: string, minMs = 1): number {
  const [, amount = '', unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?) ?([smhd])$/.exec(text.trim()) ?? []
  const ms = Math.round(Number(amount) * (UNIT_MS[unit] ?? NaN))
  if (ms > MOST_DAYS * 86_400_000) invalid(`${label} is ${show(text)}: give a time of at most ${MOST_DAYS}d.`)
  if (ms >= minMs) return ms
  const least = minMs >= SECOND_MS ? ` of at least ${minMs / SECOND_MS} s` : ''
  return invalid(`${label} is ${show(text)}: give a time${least} with its unit, such as 90s, 30m, 12h or 2d.`)
}

/** `16MiB`, `2MB`, `1048576`: at least `minBytes`. */
export function parseSize(text: string, label: string, minBytes = 1): number {
  let bytes: number
  try {
    bytes = parseByteSize(text)
  } catch (error) {
    return invalid(`${label}: ${isUploadError(error) ? error.message : 'give a size such as 16MiB.'}`)
  }
  return bytes >= minBytes ? bytes : invalid(`${label} must be at least one byte.`)
}

/** The JSON of an option, as text or `@FILE`. It is refused if it would be sent changed. Messages never show what it holds. */
export async function readJsonOption(text: string, label: string): Promise<unknown> {
  const json = text.startsWith('@') ? await readText(text.slice(1), label) : text
  let value: unknown
  let isRounded: boolean
  try {
    value = JSON.parse(json)
    isRounded = hasRoundedNumber(value)
  } catch {
    return invalid(`${label} is not JSON: give it in single quotes, such as '{"name":"…"}', or as @FILE.`)
  }
  if (isRounded) invalid(`${label} has a number beyond 2^53, which would be sent rounded: give it as a string.`)
  return value
}

/** Like `readJsonOption`, for an option that must be an object. */
export async function readObjectOption(text: string, label: string): Promise<WireObject> {
  const value = await readJsonOption(text, label)
  return isWireObject(value) ? value : invalid(`${label} is not a JSON object: give the fields to change.`)
}

/** Reads a small text file that an option names. Drops the byte order mark that Windows editors put first, which nobody sees. */
export async function readText(path: string, label: string): Promise<string> {
  try {
    return ((await isReadOnce(path)) ? await readPipe(path) : await readFile(path, 'utf8')).replace(/^\ufeff/, '')
  } catch (error) {
    return invalid(`${label}: ${fileProblem(error, path, 'read').message}`)
  }
}

/** Whether the path is a pipe, such as that of `<(pass show key)`, or a socket, which Node gives to what it starts as its stdin. */
export async function isReadOnce(path: string): Promise<boolean> {
  const facts = await stat(path)
  return facts.isFIFO() || facts.isSocket()
}

/** Waits until somebody has written to the pipe and closed it. A plain read would hold a thread, and the end of the process with it. */
async function readPipe(path: string): Promise<string> {
  // A socket cannot be opened anew.
  const own = (await stat(path)).isSocket() ? ownDescriptor(path) : undefined
  return wholeText(
    new Socket({ fd: own ?? openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), writable: false }),
  )
}

/** The descriptor of this process that a path means, such as 0 for `/dev/stdin`. */
export function ownDescriptor(path: string): number | undefined {
  const [, number] = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path === '/dev/stdin' ? '/dev/fd/0' : path) ?? []
  return number === undefined ? undefined : Number(number)
}
