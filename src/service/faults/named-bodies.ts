// Refusals in the words of real stores, by name, so that a rule need not spell them out.

import { isoSeconds, requestExpired, StorageRefusal, storageErrorXml } from '../http/replies.ts'

export interface NamedBody {
  /** Used where the rule gives none. */
  readonly status: number
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** The names that a fault's `body` may have. */
export const BODY_NAMES = [
  's3-expired',
  's3-slowdown',
  's3-internal',
  's3-timeout',
  'gcs-expired',
  'azure-expired',
  'html',
] as const
export type BodyName = (typeof BODY_NAMES)[number]

/** The named body at this time, ms since 1970. */
export function namedBody(name: BodyName, now: number): NamedBody {
  switch (name) {
    case 's3-expired':
      return inXml(requestExpired(900, now - 1000, now))
    case 's3-slowdown':
      return storage(503, 'SlowDown', 'Please reduce your request rate.')
    case 's3-internal':
      return storage(500, 'InternalError', 'We encountered an internal error. Please try again.')
    case 's3-timeout':
      return storage(400, 'RequestTimeout', 'Nothing was read from your connection within the timeout period.')
    case 'gcs-expired':
      return storage(400, 'ExpiredToken', 'Invalid argument.', {
        Details: `The provided token has expired. Request signature expired at: ${isoSeconds(now - 1000)}`,
      })
    case 'azure-expired': {
      const facts = { AuthenticationErrorDetail: `Signed expiry time [${new Date(now - 1000).toUTCString()}] is over` }
      const message = 'Server failed to authenticate the request.'
      const body = storage(403, 'AuthenticationFailed', message, facts)
      return { ...body, headers: { 'x-ms-error-code': 'AuthenticationFailed' } }
    }
    case 'html': {
      const text = '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>Bad gateway</body></html>'
      return { status: 502, contentType: 'text/html', headers: {}, text }
    }
  }
}

function storage(
  status: number,
  code: string,
  message: string,
  facts: Readonly<Record<string, string | number>> = {},
): NamedBody {
  return inXml(new StorageRefusal(status, code, message, { facts }))
}

function inXml(refusal: StorageRefusal): NamedBody {
  return { status: refusal.status, contentType: 'application/xml', headers: {}, text: storageErrorXml(refusal) }
}
