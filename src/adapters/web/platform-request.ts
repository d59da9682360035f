// What requests by fetch and by XMLHttpRequest have in common: which headers belong to the platform, how much of an
// answer is kept, and how a missing answer is reported.

import { TransportError, type AttemptEnding } from '../../core/errors.ts'
import type { TransportRequest } from '../../core/ports.ts'

/** The default limit of a TransportRequest. */
export const DEFAULT_MAX_REPLY_BYTES = 65_536

/** Headers that the platform sets itself, or forbids to pages. The caller's are left out. */
const platformHeaders = /^(?:host|connection|content-length|accept-encoding)$/i

export function allowedHeaders({ headers }: TransportRequest): [name: string, value: string][] {
  return Object.entries(headers).filter(([name]) => !platformHeaders.test(name))
}

/** Doubtful, because bytes may have reached the redirect's target already. */
export function redirectRefused(host: string): TransportError {
  return new TransportError('ERR_UPLOAD_REDIRECT_REFUSED', `${host} answered with a redirect, which is not followed`, {
    phase: 'answer',
    ending: 'doubtful',
    isRetryable: false,
    details: { host },
  })
}

/** `reason` is a word of ours, or a code. The platform's error is not kept, since it may name the URL. */
export function networkFailure(
  host: string,
  failure: { readonly ending: AttemptEnding; readonly reason?: string | undefined; readonly isRetryable?: boolean },
): TransportError {
  const { reason, ending, isRetryable = true } = failure
  return new TransportError('ERR_UPLOAD_NETWORK', `No answer came from ${host}${reason ? ` (${reason})` : ''}`, {
    phase: ending === 'neverWhole' ? 'connect' : 'answer',
    ending,
    isRetryable,
    details: { host },
  })
}
