// Headers that keep a browser from reading more into an answer than it is: no script, no frame, no guessed type. And no cache keeps
// what is for one caller: a shared one may, where the credential is not in Authorization (RFC 9111, 3).

import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'

export function securityHeaders(app: FastifyInstance): void {
  void app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"], frameAncestors: ["'none'"] },
    },
    // Pages of other origins may call, because permission is in a header or an address, never in a cookie.
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    // Whether a host is reached by TLS only is decided by whoever terminates the TLS in front of this service.
    strictTransportSecurity: false,
  })
  app.addHook('onRequest', (_request, reply, done) => {
    void reply.header('cache-control', 'no-store')
    done()
  })
}
