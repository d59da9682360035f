// Checks of what a person or a program gives, made before any call. Each returns the value it checked, or throws
// ERR_UPLOAD_INVALID_ARGUMENT that says what is wrong, where, and what to do.

import { invalid } from '../core/errors.ts'
import { isCalendarDate, isFileName, segmentIdOf } from './contract/fields.ts'
import type { DomHand } from './contract/analyses.ts'
import type { ServiceId } from './contract/fields.ts'

/** `label` is what the person knows the value by: `sessionDate`, `--date`, `files[2].name`. */
export function checkRequired<TValue>(value: TValue, label: string): NonNullable<TValue> {
  if (value === undefined || value === null) invalid(`${label} is missing: give it.`, { field: label })
  return value
}

/** A string with something else than blanks in it. */
export function checkText(value: unknown, label: string): string {
  const text = checkRequired(value, label)
  if (typeof text !== 'string') invalid(`${label} is ${show(text)}: give a string.`, { field: label })
  if (text.trim() === '') invalid(`${label} is empty: give a value.`, { field: label })
  return text
}

/** A real day of the calendar, YYYY-MM-DD. */
export function checkDate(value: unknown, label: string): string {
  const text = checkRequired(value, label)
  if (typeof text === 'string' && isCalendarDate(text)) return text
  return invalid(`${label} is ${show(text)}, which is no calendar date: give the day of capture as YYYY-MM-DD.`, {
    field: label,
  })
}

/** An integer from `min` (default 0) to 2^53 - 1; never a string of digits. */
export function checkInteger(value: unknown, label: string, min = 0): number {
  const number = checkRequired(value, label)
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= min) return number
  return invalid(`${label} is ${show(number)}: give an integer of ${min} or more.`, { field: label })
}

/** Frames a second: a number above 0. */
export function checkFrameRate(value: unknown, label: string): number {
  const rate = checkRequired(value, label)
  if (typeof rate === 'number' && Number.isFinite(rate) && rate > 0) return rate
  return invalid(`${label} is ${show(rate)}: give the frames per second, a number above 0.`, { field: label })
}

export function checkBoolean(value: unknown, label: string): boolean {
  const flag = checkRequired(value, label)
  if (typeof flag !== 'boolean') invalid(`${label} is ${show(flag)}: give true or false.`, { field: label })
  return flag
}

export function checkDomHand(value: unknown, label: string): DomHand {
  const hand = checkRequired(value, label)
  if (hand === 'RHA' || hand === 'LHA') return hand
  return invalid(`${label} is ${show(hand)}: give RHA (right-handed) or LHA (left-handed).`, { field: label })
}

/** A base name: no path separator of any system, no NUL, not `.` or `..`. Everything else is an ordinary name. */
export function checkFileName(value: unknown, label: string): string {
  const name = checkText(value, label)
  if (isFileName(name)) return name
  return invalid(`${label} is ${show(name)}: give the file's name without any path, in well-formed Unicode.`, {
    field: label,
  })
}

/** An id of the service: a string that is not empty, or an integer of 0 or more that JSON carries exactly. */
export function checkId(value: unknown, label: string): ServiceId {
  return typeof checkRequired(value, label) === 'string' ? checkText(value, label) : checkInteger(value, label)
}

/** The integer of a segment's id, given as a number or as its digits. */
export function checkSegmentId(value: unknown, label: string): number {
  const id = segmentIdOf(checkRequired(value, label))
  return id ?? invalid(`${label} is ${show(value)}: give the number of an analysis segment.`, { field: label })
}

/** An array with something in it, or an empty one too where `least` is 0. */
export function checkList(value: unknown, label: string, least = 1): readonly unknown[] {
  const list = checkRequired(value, label)
  if (!Array.isArray(list)) return invalid(`${label} is ${show(list)}: give an array.`, { field: label })
  if (list.length < least) invalid(`${label} is empty: give at least one.`, { field: label })
  return list
}

/** No value twice. */
export function checkUnique(values: readonly unknown[], label: string): void {
  const seen = new Set<unknown>()
  for (const value of values) {
    if (seen.has(value)) invalid(`${label} has ${show(value)} more than once: give each one once.`, { field: label })
    seen.add(value)
  }
}

/** What the segments of one analysis must share. */
export interface SegmentCriteria {
  readonly movementTypeId: number
  readonly domHand: DomHand
}

/** Refuses segments of one analysis that differ in movement type or hand; names the segment, field and both values. */
export function checkSegmentsAgree(segments: {
  readonly primary: SegmentCriteria
  readonly comparison?: SegmentCriteria | undefined
  readonly population?: SegmentCriteria | undefined
}): void {
  const differences = (['comparison', 'population'] as const).flatMap((role) =>
    (['movementTypeId', 'domHand'] as const)
      .filter((field) => segments[role] !== undefined && segments[role][field] !== segments.primary[field])
      .map(
        (field) => `${role} has ${field} ${show(segments[role]?.[field])}, primary ${show(segments.primary[field])}`,
      ),
  )
  if (differences.length === 0) return
  invalid(`The segments of one analysis must share movementTypeId and domHand, but ${differences.join('; ')}.`, {
    differences,
  })
}

/** A value as it may stand in a message: short, on one line, without control characters. */
export function show(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value !== 'string') return Array.isArray(value) ? 'an array' : `of type ${typeof value}`
  const text = value.replace(/\p{Cc}|\p{Surrogate}/gu, '\u{FFFD}')
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
