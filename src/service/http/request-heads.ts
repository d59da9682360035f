// What the head of a request says about where it goes, by the rules of HTTP/1.1: the target may name the host before the path
// (RFC 9112, 3.2.2), and there is exactly one Host, which is one (RFC 9112, 3.2). Whoever reads two hosts differently from a proxy in
// front may be led astray. The host itself means nothing here.

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

import { UNREADABLE } from './unreadable-requests.ts'

/** A name or an address, and perhaps a port (RFC 3986, 3.2.2); empty where the target has no host. */
const HOST = /^(?:\[[\w.~!$&'()*+,;=%:-]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/

/** The path and query of a request's target. Of `*`, a path that no route has: the router would take it for the root. */
export function pathOf({ url: target = '' }: Pick<IncomingMessage, 'url'>): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  return path.startsWith('/') ? path : `/${path}`
}

/** Answers 400 and closes the connection where a request has no usable host. Install it after what marks all answers. */
export function requireOneHost(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }, reply) => {
    const hosts = raw.rawHeaders.filter((_, at, all) => at % 2 === 1 && /^host$/i.test(all[at - 1] ?? ''))
    const isOld = raw.httpVersion === '1.0' && hosts.length === 0
    if (isOld || (hosts.length === 1 && HOST.test(hosts[0] ?? ''))) return undefined
    return reply.code(400).header('connection', 'close').send(UNREADABLE)
  })
}
