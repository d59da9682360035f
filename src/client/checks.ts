// Checks of what a person or a program passes in, made before any call. Each returns the value it checked, or throws
// ERR_UPLOAD_INVALID_ARGUMENT that says what is wrong, where, and what to do.

import { invalid } from '../core/errors.ts'
import { redactText } from '../core/redact.ts'
import { isCalendarDate, isCount, isFileName, isId, isText, isWireObject, segmentIdOf } from './contract/fields.ts'
import type { DomHand } from './contract/analyses.ts'
import type { ServiceId, WireObject } from './contract/fields.ts'

/**
 * Refuses a missing value. `label` is the name under which the person knows it: `sessionDate`, `--date`,
 * `files[2].name`.
 */
export function checkRequired<TValue>(value: TValue, label: string): NonNullable<TValue> {
  if (value === undefined || value === null) invalid(`${label} is missing: give it.`, { field: label })
  return value
}

/** Returns the value if `isRight` accepts it. The error shows the value, then `otherwise`. */
export function checkIs<TValue>(
  value: unknown,
  label: string,
  isRight: (known: unknown) => known is TValue,
  otherwise: string,
): TValue {
  const known = checkRequired(value, label)
  return isRight(known) ? known : invalid(`${label} is ${show(known)}${otherwise}`, { field: label })
}

/** A string that is not blank. */
export function checkText(value: unknown, label: string): string {
  const text = checkIs(value, label, isText, ': give a string.')
  return text.trim() === '' ? invalid(`${label} is empty: give a value.`, { field: label }) : text
}

/** A real day of the calendar, YYYY-MM-DD. */
export function checkDate(value: unknown, label: string): string {
  const isDate = (text: unknown): text is string => isText(text) && isCalendarDate(text)
  return checkIs(value, label, isDate, ', which is no calendar date: give the day of capture as YYYY-MM-DD.')
}

/** An integer from `min` (default 0) to 2^53 - 1. A string of digits is refused. */
export function checkInteger(value: unknown, label: string, min = 0): number {
  const isLargeEnough = (number: unknown): number is number => isCount(number) && number >= min
  return checkIs(value, label, isLargeEnough, `: give an integer of ${min} or more.`)
}

/** Frames a second: a number above 0. */
export function checkFrameRate(value: unknown, label: string): number {
  const isRate = (rate: unknown): rate is number => Number.isFinite(rate) && Number(rate) > 0
  return checkIs(value, label, isRate, ': give the frames per second, a number above 0.')
}

export function checkBoolean(value: unknown, label: string): boolean {
  return checkIs(value, label, (flag): flag is boolean => typeof flag === 'boolean', ': give true or false.')
}

/** An object with fields of any kind: what a service takes under the wire's own names. */
export function checkObject(value: unknown, label: string): WireObject {
  return checkIs(value, label, isWireObject, ': give an object.')
}

export function checkFunction(value: unknown, label: string): unknown {
  return checkIs(value, label, (call): call is unknown => typeof call === 'function', ': give a function.')
}

export function checkDomHand(value: unknown, label: string): DomHand {
  const isHand = (hand: unknown): hand is DomHand => hand === 'RHA' || hand === 'LHA'
  return checkIs(value, label, isHand, ': give RHA (right-handed) or LHA (left-handed).')
}

/** A base name: no path separator of any system, no NUL, not `.` or `..`. Everything else is an ordinary name. */
export function checkFileName(value: unknown, label: string): string {
  const isName = (name: unknown): name is string => isText(name) && isFileName(name)
  return checkIs(
    checkText(value, label),
    label,
    isName,
    ": give the file's name without a path (no /, no \\), in well-formed Unicode.",
  )
}

/** An id of the service: a text that can pass for one, or an integer of 0 or more that JSON carries exactly. */
export function checkId(value: unknown, label: string): ServiceId {
  const id = isText(value) ? checkText(value, label) : checkInteger(value, label)
  if (isId(id)) return id
  // Not shown: it may be an address, which is a secret.
  return invalid(`${label} is no id of the service: give it as issued.`, { field: label })
}

/** The integer of a segment's id, given as a number or as its digits. */
export function checkSegmentId(value: unknown, label: string): number {
  const isSegment = (id: unknown): id is ServiceId => segmentIdOf(id) !== undefined
  return Number(checkIs(value, label, isSegment, ': give the number of an analysis segment.'))
}

/** What the segments of one analysis must have in common. */
export interface SegmentCriteria {
  readonly movementTypeId: number
  readonly domHand: DomHand
}

/**
 * Refuses segments of one analysis that differ in movement type or hand from the first of them. The error names both segments,
 * the field and both values.
 */
export function checkSegmentsAgree(
  segments: Readonly<Partial<Record<'primary' | 'comparison' | 'population', SegmentCriteria | undefined>>>,
): void {
  const [first, ...others] = Object.entries(segments).flatMap(([role, segment]) => (segment ? [{ role, segment }] : []))
  if (!first) return
  const differences = others.flatMap(({ role, segment }) =>
    (['movementTypeId', 'domHand'] as const)
      .filter((field) => segment[field] !== first.segment[field])
      .map((field) => `${role} has ${field} ${show(segment[field])}, ${first.role} ${show(first.segment[field])}`),
  )
  if (differences.length === 0) return
  invalid(`The segments of one analysis must share movementTypeId and domHand, but ${differences.join('; ')}.`, {
    differences,
  })
}

/** A value made fit for a message: short, on one line, without control characters. */
export function show(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value !== 'string') return Array.isArray(value) ? 'an array' : `of type ${typeof value}`
  // A signed address may have been given in the place of something else.
  const text = redactText(value).replace(/\p{Cc}|\p{Surrogate}/gu, '\u{FFFD}')
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
