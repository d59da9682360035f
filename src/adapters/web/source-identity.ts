// Says in one place when a source is no longer what it was, and how that is told to a person.

import { invariant, UploadError } from '../../core/errors.ts'
import type { SourceIdentity } from '../../core/ports.ts'

/** The error for a source that differs from what it was; `how` completes "has changed: …". */
export function sourceChanged(location: string, how: string, cause?: unknown): UploadError {
  return new UploadError(
    'ERR_UPLOAD_SOURCE_CHANGED',
    `"${location}" has changed since its upload began: ${how}. Let nothing write to it, then start a new upload of it.`,
    { cause, details: { location } },
  )
}

/**
 * Throws ERR_UPLOAD_SOURCE_CHANGED when `found` is not what `expected` says. A time is compared only where both sides
 * have one: a journal may have been written when the source could not tell.
 */
export function requireSame(location: string, expected: SourceIdentity, found: SourceIdentity): void {
  if (found.sizeBytes !== expected.sizeBytes) {
    throw sourceChanged(location, `it had ${expected.sizeBytes} bytes and now has ${found.sizeBytes}`)
  }
  if (expected.modifiedAtMs === undefined || found.modifiedAtMs === undefined) return
  if (found.modifiedAtMs !== expected.modifiedAtMs) {
    throw sourceChanged(
      location,
      `it was last written at ${timeText(expected.modifiedAtMs)} and now says ${timeText(found.modifiedAtMs)}`,
    )
  }
}

/** Throws unless `at` is a byte position: a negative one would mean "where the last read stopped" to some platforms. */
export function requirePosition(at: number): void {
  invariant(Number.isSafeInteger(at) && at >= 0, `a read begins at a whole byte position, not at ${at}`)
}

/** The error for a read that found fewer bytes than it was promised. */
export function endedEarly(location: string, at: number, wantedBytes: number, gotBytes: number): UploadError {
  return sourceChanged(location, `bytes ${at} to ${at + wantedBytes} were expected and it ends at ${at + gotBytes}`)
}

function timeText(ms: number): string {
  const time = new Date(ms)
  return Number.isNaN(time.getTime()) ? `${ms} ms` : time.toISOString()
}
