// How fast we may be at what time of day: one grammar for the option of the library, for that of the command line, and for a
// call while running. `2MB` is a rate, `off` is none, `08:00,512KB 23:00,off` is one for each time of day. Pure: the time is
// given.

import { invalid, type UploadError } from '../errors.ts'
import { parseByteSize } from '../plan.ts'
import type { Clock } from '../ports.ts'

/**
 * A rate limit in bytes per second: a number or a text. The text is `2MB` (a size as parseByteSize reads it), `off`, or a
 * timetable of local times of day: `08:00,512KB 23:00,off` is 512 KB from eight in the morning and no limit from eleven at
 * night until eight.
 */
export type LimitRate = number | string

/** A rate for each time of day. */
export interface Timetable {
  /** Bytes per second at a local time of day, in minutes since midnight, 0 to 1439; undefined: no limit. */
  rateAt(minuteOfDay: number): number | undefined
}

interface Entry {
  readonly minuteOfDay: number
  readonly bytesPerSecond: number | undefined
}

const DAY_MINUTES = 24 * 60
const GRAMMAR = 'write it like 2MB, off, or "08:00,512KB 23:00,off"'

/** Reads a limit; undefined is `off`. Throws ERR_UPLOAD_INVALID_ARGUMENT, which says what is wrong and where. */
export function parseTimetable(limit: LimitRate | undefined): Timetable {
  if (limit === undefined) return always(undefined)
  if (typeof limit === 'number') return always(checkRate(limit))
  if (typeof limit !== 'string') invalid(`The rate limit must be a number or a text: ${GRAMMAR}.`)
  const text = limit.trim()
  if (!/[,:]/.test(text)) return always(parseRate(text))
  const entries = text.split(/\s+/).map(parseEntry)
  entries.sort((a, b) => a.minuteOfDay - b.minuteOfDay)
  const twice = entries.find((entry, index) => entry.minuteOfDay === entries[index + 1]?.minuteOfDay)
  if (twice !== undefined) invalid(`The rate limit has two rates for ${timeOfDay(twice.minuteOfDay)}: keep one.`)
  if (entries.length === 1) {
    invalid(
      'The rate limit has a single time, so it would never change: add the time at which it ends, such as 23:00,off.',
    )
  }
  return {
    // Before the first time of a day, the last rate of the day before still holds.
    rateAt: (minute) => (entries.findLast((entry) => entry.minuteOfDay <= minute) ?? entries.at(-1))?.bytesPerSecond,
  }
}

/**
 * The local time of day, in minutes since midnight. Where clocks go forward in spring, a rate for a time that is skipped begins
 * at the change; in autumn, the hour that comes twice has its rates twice. A clock without a zone counts in UTC.
 */
export function minuteOfDay(clock: Pick<Clock, 'wallNow' | 'utcOffsetMinutes'>): number {
  const wallMs = clock.wallNow()
  const minutes = Math.floor(wallMs / 60_000) + (clock.utcOffsetMinutes?.(wallMs) ?? 0)
  return ((Math.floor(minutes) % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES
}

function always(bytesPerSecond: number | undefined): Timetable {
  return { rateAt: () => bytesPerSecond }
}

function parseEntry(text: string): Entry {
  const [, hour, minute, rate] = /^(\d{1,2}):(\d\d),(\S+)$/.exec(text) ?? []
  if (hour === undefined || minute === undefined || rate === undefined) {
    return invalid(`The rate limit has "${text.slice(0, 40)}", which is no time with a rate: ${GRAMMAR}.`)
  }
  if (Number(hour) > 23 || Number(minute) > 59) {
    invalid(`The rate limit has the time ${hour}:${minute}; times of day go from 00:00 to 23:59.`)
  }
  return { minuteOfDay: Number(hour) * 60 + Number(minute), bytesPerSecond: parseRate(rate) }
}

function parseRate(text: string): number | undefined {
  if (text.toLowerCase() === 'off') return undefined
  let bytesPerSecond: number
  try {
    bytesPerSecond = parseByteSize(text)
  } catch (error) {
    return invalid(`The rate limit: ${(error as UploadError).message} Or write off for no limit.`)
  }
  return checkRate(bytesPerSecond)
}

function checkRate(bytesPerSecond: number): number {
  if (bytesPerSecond >= 1 && Number.isFinite(bytesPerSecond)) return bytesPerSecond
  const message = `The rate limit must be at least 1 byte a second, not ${bytesPerSecond}. Write off for no limit.`
  return invalid(message, { bytesPerSecond })
}

function timeOfDay(minute: number): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`
}
