// Conditions and other demands in the head of a request to an object. What is not kept is refused: a client that asks not to replace
// an object, or whose body is wrapped, must not hear that all went well.

import type { IncomingHttpHeaders } from 'node:http'

import { StorageRefusal } from '../http/replies.ts'

/** What S3 would do for a PUT and this service does not: conditions, a copy, a body in pieces with signatures or checksums between. */
const UNKNOWN_DEMANDS = ['if-match', 'if-none-match', 'if-unmodified-since', 'x-amz-copy-source'] as const

/** Throws 501 if a PUT asks for more than to store its body, as S3 answers such headers. */
export function checkPlainPut(headers: IncomingHttpHeaders): void {
  const isWrapped = /(?:^|[\s,])aws-chunked(?:[\s,]|$)/i.test(headers['content-encoding'] ?? '')
  if (!isWrapped && UNKNOWN_DEMANDS.every((name) => headers[name] === undefined)) return
  const message = 'A header you provided implies functionality that is not implemented.'
  throw new StorageRefusal(501, 'NotImplemented', message)
}

/** Whether the reader has this object already. Throws 412 if he wants only another one (RFC 9110, 13.2.2). */
export function isKnownToReader(headers: IncomingHttpHeaders, etag: string): boolean {
  const isAmong = (list: string) => list.trim() === '*' || list.split(',').some((one) => one.trim() === etag)
  const { 'if-match': wanted, 'if-none-match': known } = headers
  if (wanted !== undefined && !isAmong(wanted)) {
    const message = 'At least one of the pre-conditions you specified did not hold'
    throw new StorageRefusal(412, 'PreconditionFailed', message, { facts: { Condition: 'If-Match' } })
  }
  // Here a weak mark makes no difference.
  return known !== undefined && isAmong(known.replace(/(^|,)\s*W\//g, '$1'))
}
