// Headers that keep a browser from making more of an answer than it is: no script, no frame, no guessed type.

import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'

export function securityHeaders(app: FastifyInstance): void {
  void app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"], frameAncestors: ["'none'"] },
    },
    // Pages of other origins are meant to call; permission is in a header or an address, never in a cookie.
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    // Whether a host is only ever reached by TLS is for whoever ends the TLS in front of this to say.
    strictTransportSecurity: false,
  })
}
