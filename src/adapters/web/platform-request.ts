// What requests have in common where the platform makes them, by fetch or XMLHttpRequest: which headers are its own, how much of
// an answer is kept, and how it is said that none came.

import { TransportError, type AttemptEnding } from '../../core/errors.ts'
import type { TransportRequest } from '../../core/ports.ts'

/** A TransportRequest's default bound. */
export const DEFAULT_MAX_REPLY_BYTES = 65_536

/** The platform's own, or forbidden to pages: what the caller says of them is left out. */
const platformHeaders = /^(?:host|connection|content-length|accept-encoding)$/i

export function allowedHeaders({ headers }: TransportRequest): [name: string, value: string][] {
  return Object.entries(headers).filter(([name]) => !platformHeaders.test(name))
}

/** Bytes may have reached the other place already. */
export function redirectRefused(host: string): TransportError {
  return new TransportError('ERR_UPLOAD_REDIRECT_REFUSED', `${host} answered with a redirect, which is not followed`, {
    phase: 'answer',
    ending: 'doubtful',
    isRetryable: false,
    details: { host },
  })
}

/** `reason` is a word of ours or a code: the platform's error is not kept, since it may name the URL. */
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
