// What to do about an error, by its code: one table for programs, the command line and docs/errors.md. It is kept apart from
// the errors, so that a page which shows words of its own does not load it.

import type { UploadErrorCode } from './errors.ts'

const ADVICE: Readonly<Record<UploadErrorCode, string>> = {
  ERR_UPLOAD_INVALID_ARGUMENT: 'Correct what the message names, then start again.',
  ERR_UPLOAD_INSECURE_URL:
    'Use https; on a network that you trust, allow plain HTTP with isHttpAllowed (--allow-http). Where the address policy refuses a host, ask the service why its storage is there.',
  ERR_UPLOAD_SOURCE_READ:
    'Check what the message names, then resume the session, with --files-in where its files were moved, or upload that file again.',
  ERR_UPLOAD_SOURCE_CHANGED: 'Wait until the file is finished, then upload it anew.',
  ERR_UPLOAD_NETWORK:
    'Check the network and the host in the message, then try again; a session that was begun can be resumed. A private certificate authority is given with caPem (--ca-file).',
  ERR_UPLOAD_TIMEOUT:
    'Try again when the line is better; a session that was begun can be resumed. For a very slow line, a program can give longer timeouts and a longer callTimeoutMs.',
  ERR_UPLOAD_ANSWER_HIDDEN:
    'Allow the origin of the page, the method PUT and all headers in the CORS rule of the bucket, and expose ETag.',
  ERR_UPLOAD_HOST_UNREACHABLE:
    'Check network and base URL, or wait until the host is back in service; then resume the session.',
  ERR_UPLOAD_REDIRECT_REFUSED: 'Give the final address as base URL; if a storage redirects, tell the service.',
  ERR_UPLOAD_HTTP_STATUS:
    'Show the status and the words in the message to those who run that host; if it passes, try again.',
  ERR_UPLOAD_ADDRESS_EXPIRED:
    'Resume the session; where the message gives a rate, ask the service for addresses that live longer, or use a faster line.',
  ERR_UPLOAD_ADDRESS_REFUSED:
    "Resume the session, which asks once for other addresses. If they are refused too, check this machine's clock and tell the service what the storage says in the message.",
  ERR_UPLOAD_ETAG_MISSING:
    'In a page, add ETag to ExposeHeaders in the CORS rule of the bucket. Elsewhere, see what a proxy on the way does to it.',
  ERR_UPLOAD_DIGEST_MISMATCH:
    "If it stays, the bucket may encrypt so that its ETags are no MD5: give verify: 'off' (--verify off).",
  ERR_UPLOAD_RETRIES_EXHAUSTED:
    'Look at the last failure, at the end of the message, and try again later; a session that was begun can be resumed.',
  ERR_UPLOAD_CONFIRM_REFUSED: "Show the service's words in the message to those who run it; then resume the session.",
  ERR_UPLOAD_CREDENTIALS_REFUSED: 'Check key or token, then try again; a session that was begun can be resumed.',
  ERR_UPLOAD_SERVICE_REFUSED: 'Correct what the service names in the message, or ask those who run it.',
  ERR_UPLOAD_SERVICE_REPLY: 'Check the base URL; if it is right, show the message to those who run the service.',
  ERR_UPLOAD_JOURNAL:
    'Look at the file or the process that the message names, then try again; a session that was begun can be resumed.',
  ERR_UPLOAD_CANCELLED: 'Nothing: it was asked for.',
  ERR_UPLOAD_CLOSED: 'Resume by its key a session that was begun; where its Uplink was closed, with another one.',
  ERR_UPLOAD_FAILED: 'Ask those who run the service; its word is in the report.',
  ERR_UPLOAD_INTERNAL: 'Report it, with the message.',
}

/** What to do about an error of this code, in a sentence or two of English. */
export function adviceOn(code: UploadErrorCode): string {
  return ADVICE[code]
}
