// Decides in one place whether a source is still what it was, and how a person is told that it is not.

import { invariant, UploadError } from '../../core/errors.ts'
import type { SourceIdentity } from '../../core/ports.ts'

/** The error for a source that differs from what it was. `how` completes "has changed: …". */
export function sourceChanged(location: string, how: string, cause?: unknown): UploadError {
  return new UploadError(
    'ERR_UPLOAD_SOURCE_CHANGED',
    `"${location}" has changed since its upload began: ${how}. Let nothing write to it, then start a new upload of it.`,
    { cause, details: { location } },
  )
}

/** Throws ERR_UPLOAD_SOURCE_CHANGED if `found` is not what `expected` says. */
export function requireSame(location: string, expected: SourceIdentity, found: SourceIdentity): void {
  const how = differenceOf(expected, found)
  if (how) throw sourceChanged(location, how)
}

/**
 * How `found` differs from `expected`, in words that complete "has changed: …"; undefined if it does not. Times are
 * compared only if both sides have one, because the source may not have had one when the journal was written.
 */
export function differenceOf(expected: SourceIdentity, found: SourceIdentity): string | undefined {
  if (found.sizeBytes !== expected.sizeBytes) return `it had ${expected.sizeBytes} bytes and now has ${found.sizeBytes}`
  const [then, now] = [expected.modifiedAtMs, found.modifiedAtMs]
  return then === undefined || now === undefined || then === now
    ? undefined
    : `it was last written at ${timeText(then)} and now says ${timeText(now)}`
}

/** Throws unless `at` is a byte position. To some platforms a negative one means "where the last read stopped". */
export function requirePosition(at: number): void {
  invariant(Number.isSafeInteger(at) && at >= 0, `a read begins at a whole byte position, not at ${at}`)
}

/** The error for a read that found fewer bytes than it was promised. */
export function endedEarly(location: string, at: number, wantedBytes: number, gotBytes: number): UploadError {
  return sourceChanged(location, `bytes ${at} to ${at + wantedBytes} were expected and it ends at ${at + gotBytes}`)
}

function timeText(ms: number): string {
  // toJSON returns null for what is no date, which the compiler's library does not know.
  const date: { toJSON(): string | null } = new Date(ms)
  return date.toJSON() ?? `${ms} ms`
}
