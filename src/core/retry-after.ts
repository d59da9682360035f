// When a host says that it may be asked again: the Retry-After header and HTTP dates. Pure: no clock is read.

import { dateMs } from './address/address.ts'
import type { TransportReply } from './ports.ts'

/**
 * The Retry-After of a reply, seconds or a date, in ms. A time in the past is 0; undefined when it has none that can be read. Of several,
 * such as one of the host and one of a gateway before it, the longest counts: then all are obeyed. A date is measured against the
 * reply's own Date, so that no clock of ours is involved. `wallNowMs` stands in for a Date that cannot be read; without it, such a date
 * says nothing.
 */
export function retryAfterOf({ headers }: Pick<TransportReply, 'headers'>, wallNowMs = NaN): number | undefined {
  const nowMs = parseHttpDateMs(headers['date']) ?? wallNowMs
  // A date has a comma, too, before its day.
  const each = (headers['retry-after'] ?? '').split(/,(?! \d\d[ -][a-z])/i)
  const pauses = each.flatMap((text) => parsePauseMs(text.trim(), nowMs) ?? [])
  return pauses.length > 0 ? Math.max(...pauses) : undefined
}

function parsePauseMs(text: string, wallNowMs: number): number | undefined {
  if (/^-?\d{1,12}(?:\.\d{1,9})?$/.test(text)) return Math.max(0, Number(text) * 1000)
  const untilMs = parseHttpDateMs(text)
  return untilMs === undefined || Number.isNaN(wallNowMs) ? undefined : Math.max(0, untilMs - wallNowMs)
}

/** The forms of RFC 9110: two that name their zone, and that of asctime, which means the same one. */
const ZONED = /^[a-z]{3,9}, \d\d[ -][a-z]{3}[ -](?:\d{4}|\d\d) \d\d:\d\d:\d\d GMT$/i
const UNZONED = /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i

/** Reads an HTTP date in any of the three forms of RFC 9110, as ms since 1970; undefined for anything else. */
export function parseHttpDateMs(value = ''): number | undefined {
  const text = value.trim()
  const dated = UNZONED.test(text) ? `${text} GMT` : text
  return dated !== text || ZONED.test(text) ? dateMs(dated) : undefined
}
