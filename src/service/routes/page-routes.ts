// The page that a person sees at `/`, if the host provides one: files from memory, under a policy that lets in nothing from
// outside. It needs no credential, because it holds none and asks the person for one.

import type { FastifyInstance } from 'fastify'

/** A file of the page. */
export interface PageFile {
  readonly contentType: string
  readonly bytes: Uint8Array
}

/** Files by path: `/` is the page itself, the others are what it loads. */
export type ServicePage = ReadonlyMap<string, PageFile>

/** `storageOrigin` is the origin of the addresses that this service signs. */
export function pageRoutes(app: FastifyInstance, page: ServicePage, storageOrigin: () => string): void {
  for (const [path, { contentType, bytes }] of page) {
    app.get(path, (_request, reply) =>
      reply
        .header('content-type', contentType)
        .header('content-security-policy', policyWith(storageOrigin()))
        .header('cache-control', 'no-cache')
        .send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
    )
  }
}

function policyWith(storageOrigin: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src 'self' ${storageOrigin}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
}
