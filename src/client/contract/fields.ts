// The rules that several operations share: ids, dates, integers, names, and how a reply keeps the fields that we do not
// know.

/** A JSON object. Read it with own-property look-ups only: `__proto__` is an ordinary key in it. */
export type WireObject = Readonly<Record<string, unknown>>

/** An id of the service. It goes back exactly as it came: a number stays a number, a string stays a string. */
export type ServiceId = string | number

/** True for a real day of the calendar, written YYYY-MM-DD, in the years 1 to 9999. */
export function isCalendarDate(text: string): boolean {
  /* eslint-disable no-restricted-globals -- Reads a date that is given; asks for no time. */
  const atMs = /^\d{4}-\d\d-\d\d$/.test(text) && text >= '0001' ? Date.parse(text) : NaN
  // Given a day that the month does not have, a parser refuses it or rolls it over into the next month.
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(text)
  /* eslint-enable no-restricted-globals */
}

/**
 * True for a file name that can be sent: not empty, not `.` or `..`, without a path separator of any system, NUL, or
 * half of a surrogate pair (JSON carries one, but the far end would answer under another name).
 */
export function isFileName(text: string): boolean {
  return !/^\.{0,2}$|[/\\\0]|\p{Surrogate}/u.test(text)
}

/**
 * True for a text that can pass for an id: 1 to 1,024 characters without control characters, and not an address. Ids
 * are shown in lists, reports and receipts, where neither an address sent in place of an id nor a text without end may
 * appear. They also stand in paths, where dots alone and half of a surrogate pair cannot.
 */
export function isIdText(text: string): boolean {
  return /^(?!\.{1,2}$)[^\p{Cc}\p{Surrogate}]{1,1024}$/u.test(text) && !/:\/\/|[?&][^=]*=/.test(text)
}

/**
 * The guards for fields of a reply: what a field must be to be understood. The schemas say the same of whole bodies.
 */
export const isText = (value: unknown): value is string => typeof value === 'string'
/** A count, a size or an id: an integer of 0 or more that a JSON number carries exactly. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
/** A position or a number of parts: an integer of 1 or more. */
export const isOrdinal = (value: unknown): value is number => isCount(value) && value >= 1
/** A number above 2^53 lost digits when it was parsed, so it is refused rather than sent back changed. */
export const isId = (value: unknown): value is ServiceId => isCount(value) || (isText(value) && isIdText(value))

/** The integer that a segment's id stands for, given as a number or as its digits; undefined if it stands for none. */
export function segmentIdOf(value: unknown): number | undefined {
  return isCount(value) || (isText(value) && /^\d{1,15}$/.test(value)) ? Number(value) : undefined
}

/** True for an object that is not an array. */
export function isWireObject(value: unknown): value is WireObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads an own field; undefined if there is none. */
export function ownField(object: WireObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** What a field of a reply means to us; undefined if it is not of the documented form. */
export type Read = (value: unknown) => unknown
export type Reads = Readonly<Record<string, Read>>
/** Which fields are needed, and our names where they are not the wire's in camel case. */
export interface Needs {
  readonly needed?: readonly string[]
  readonly names?: Names
}

export const readText = (value: unknown): string | undefined => (isText(value) ? value : undefined)
export const readCount = (value: unknown): number | undefined => (isCount(value) ? value : undefined)
export const readOrdinal = (value: unknown): number | undefined => (isOrdinal(value) ? value : undefined)
export const readId = (value: unknown): ServiceId | undefined => (isId(value) ? value : undefined)

/**
 * Converts a reply: fields that are understood go under our names, all others stay under the wire's. A known field of
 * an unexpected form counts among the others, unless it would stand under our name: then it is left out, because whoever
 * reads it trusts its form. `reads` has the readers by wire name. Returns undefined if a field that is `needed` is not
 * understood.
 */
export function fromWire(raw: WireObject, reads: Reads, how?: { readonly names?: Names }): WireObject
export function fromWire(raw: WireObject, reads: Reads, how: Needs): WireObject | undefined
export function fromWire(
  raw: WireObject,
  reads: Reads,
  { needed = [], names = {} }: Needs = {},
): WireObject | undefined {
  // A spread defines properties, so a field named __proto__ stays a field.
  const result: Record<string, unknown> = { ...raw }
  for (const [name, read] of Object.entries(reads)) {
    const known = read(ownField(raw, name))
    if (known === undefined && needed.includes(name)) return undefined
    const own = names[name] ?? camelCase(name)
    if (known === undefined && own !== name) continue
    Reflect.deleteProperty(result, name)
    if (known !== undefined) result[own] = known
  }
  return result
}

/** Names on one side by the names on the other, where converting the case is not enough. */
export type Names = Readonly<Record<string, string>>

/**
 * Puts our checked fields under the wire's names, also those of objects in a list. `extra` holds the host's own fields,
 * already under wire names. They never replace ours.
 */
export function toWire({ extra, ...fields }: WireObject, names: Names = {}): WireObject {
  const wire = Object.entries(fields).map(([name, value]) => [
    names[name] ?? snakeCase(name),
    valueToWire(value, names),
  ])
  return Object.fromEntries([...Object.entries(extra ?? {}), ...(wire as [string, unknown][])])
}

function valueToWire(value: unknown, names: Names): unknown {
  return Array.isArray(value)
    ? value.map((entry) => (isWireObject(entry) ? toWire(entry, names) : (entry as unknown)))
    : value
}

/** `org_id` for `orgId`. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** `orgId` for `org_id`. */
function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
