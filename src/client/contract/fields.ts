// The rules that several operations share: ids, dates, integers, names; and how a reply keeps what we do not know.

/** An object of JSON. Read it with own-property look-ups only: `__proto__` is an ordinary key in it. */
export type WireObject = Readonly<Record<string, unknown>>

/** An id of the service. It goes back exactly as it came: a number stays a number, a string stays a string. */
export type ServiceId = string | number

/** True for a real day of the calendar, written YYYY-MM-DD, in the years 1 to 9999. */
export function isCalendarDate(text: string): boolean {
  /* eslint-disable no-restricted-globals -- Reads a date that is given; asks for no time. */
  const atMs = /^\d{4}-\d\d-\d\d$/.test(text) && text >= '0001' ? Date.parse(text) : NaN
  // Of a day that a month does not have a parser makes one of the next, or none.
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(text)
  /* eslint-enable no-restricted-globals */
}

/**
 * True for a file name that can be sent: not empty, no path separator of any system, no NUL, not `.` or `..`, and no
 * half of a surrogate pair (JSON carries it, and the far end would answer under another name).
 */
export function isFileName(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !/[/\\\0]|\p{Surrogate}/u.test(text)
}

/**
 * True for a text that can pass for an id: it is shown in lists, reports and receipts, where neither an address that a service
 * put in its place nor a text without end may stand. 1 to 1,024 characters, none of them a control character.
 */
export function isIdText(text: string): boolean {
  return /^\P{Cc}{1,1024}$/u.test(text) && !/:\/\/|[?&][^=]*=/.test(text)
}

/** The readers of a reply: what a field must be to be understood. The schemas say the same for whole bodies. */
export const isText = (value: unknown): value is string => typeof value === 'string'
/** A count, a size or an id: an integer of 0 or more that a JSON number carries exactly. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
/** A position or a number of parts: an integer of 1 or more. */
export const isOrdinal = (value: unknown): value is number => isCount(value) && value >= 1
/** A number above 2^53 has already lost digits when it is read, so it is refused rather than sent back changed. */
export const isId = (value: unknown): value is ServiceId => isCount(value) || (isText(value) && isIdText(value))

/** The integer that a segment's id stands for, given as one or as its digits; undefined when it stands for none. */
export function segmentIdOf(value: unknown): number | undefined {
  return isCount(value) || (isText(value) && /^\d{1,15}$/.test(value)) ? Number(value) : undefined
}

/** True for an object that is not an array. */
export function isWireObject(value: unknown): value is WireObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads an own field; undefined when there is none. */
export function ownField(object: WireObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** Reads an own field when it is what the reader says; undefined otherwise. */
export function shownField<TValue>(
  object: WireObject,
  name: string,
  isShown: (value: unknown) => value is TValue,
): TValue | undefined {
  const value = ownField(object, name)
  return isShown(value) ? value : undefined
}

/**
 * Joins what was understood of a reply with the rest of it, under the wire's names. A known field that was not of the
 * shown type counts as the rest: it is kept, never dropped. `known` pairs our name with the wire's name and the value.
 */
export function keepUnknown(raw: WireObject, known: readonly (readonly [string, string, unknown])[]): WireObject {
  const understood = known.filter(([, , value]) => value !== undefined)
  const rest = Object.entries(raw).filter(([wireName]) => !understood.some(([, readName]) => readName === wireName))
  // fromEntries defines properties, so that a field named __proto__ stays a field.
  return Object.fromEntries([...rest, ...understood.map(([name, , value]) => [name, value] as const)])
}

/** What `keepUnknown` takes of fields that are named alike, `org_id` and `orgId`: each under the test of its shown type. */
export function shownFields(
  raw: WireObject,
  tests: Readonly<Record<string, (value: unknown) => value is unknown>>,
): [string, string, unknown][] {
  const ours = (wireName: string): string => wireName.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  return Object.entries(tests).map(([name, isShown]) => [ours(name), name, shownField(raw, name, isShown)])
}

/** Drops fields whose value is undefined and adds the host's own, which never replace ours. */
export function wireBody(fields: WireObject, extra: WireObject | undefined): WireObject {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries([...Object.entries(extra ?? {}), ...given])
}
