// Allows calls from any page, because permission is in a header or address that the page must hold, never in a cookie. Without
// these headers a page sees no status, only that something failed.

import type { FastifyInstance } from 'fastify'

/** On every answer, whatever it says. */
export const ORIGIN_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Date, Retry-After, X-Request-Id',
} as const
const ALLOWED_HEADERS = ['content-type', 'content-md5', 'x-api-key', 'x-request-id', 'authorization', 'authentication']

/** Answers preflight requests, and marks the answers of all routes. */
export function allowOtherOrigins(app: FastifyInstance, bearerHeaders: readonly string[]): void {
  const allowed = [...new Set([...ALLOWED_HEADERS, ...bearerHeaders])].join(', ')
  app.addHook('onRequest', async (_request, reply) => {
    void reply.headers(ORIGIN_HEADERS)
  })
  app.options('*', (_request, reply) =>
    reply
      .header('access-control-allow-methods', 'GET, POST, PUT, PATCH, DELETE')
      .header('access-control-allow-headers', allowed)
      .header('access-control-max-age', '600')
      .code(204)
      .send(),
  )
}
