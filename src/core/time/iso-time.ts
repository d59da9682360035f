// A wall time as people and other programs read it, without a Date: portable code takes time through a port only.

const MS_PER_DAY = 86_400_000

/** ISO 8601 in UTC with milliseconds, `2026-11-20T13:05:00.250Z`; for times from 1970 on. */
export function isoTime(wallMs: number): string {
  const days = Math.floor(wallMs / MS_PER_DAY)
  const ms = Math.floor(wallMs - days * MS_PER_DAY)
  const { year, month, day } = civilDate(days)
  const clock = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1_000) % 60]
  const pad = (value: number, width = 2): string => String(value).padStart(width, '0')
  return `${pad(year, 4)}-${pad(month)}-${pad(day)}T${clock.map((part) => pad(part)).join(':')}.${pad(ms % 1_000, 3)}Z`
}

/** The Gregorian date of a day since 1970, counted in years that begin in March, so that the leap day is the last one. */
function civilDate(daysSince1970: number): { year: number; month: number; day: number } {
  const days = daysSince1970 + 719_468
  const era = Math.floor(days / 146_097)
  const dayOfEra = days - era * 146_097
  const leaps = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096)
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365)
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shifted = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shifted < 10 ? shifted + 3 : shifted - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1,
  }
}
