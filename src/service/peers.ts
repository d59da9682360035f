// Checks at start for the packages that only the service needs. A host that embeds just the engine installs none of them.

import { isCode } from './error-code.ts'

/** The packages that `startService` needs, with the embedded database or with a server, and for each extra option. */
export const SERVICE_PEERS = {
  embedded: ['fastify', '@fastify/helmet', 'prom-client', 'kysely', '@electric-sql/pglite'],
  server: ['fastify', '@fastify/helmet', 'prom-client', 'kysely', 'pg'],
  s3: ['@aws-sdk/client-s3'],
  jwt: ['jose'],
} as const

/** Rejects with ERR_SERVICE_PACKAGES and the install command when one of the packages is missing. */
export async function checkPeers(
  names: readonly string[] = SERVICE_PEERS.embedded,
  load: (name: string) => Promise<unknown> = (name) => import(name),
): Promise<void> {
  const missing: string[] = []
  for (const name of names) {
    try {
      await load(name)
    } catch (error) {
      if (!isCode(error, 'ERR_MODULE_NOT_FOUND') && !isCode(error, 'MODULE_NOT_FOUND')) throw error
      missing.push(name)
    }
  }
  if (missing.length === 0) return
  // Node looks for them beside this package only: in another project, or without -g, they would be installed in vain.
  const message =
    'The service needs packages that are not installed beside mocap-uplink. Where that is installed (with -g if it was so), run: ' +
    `npm install ${missing.join(' ')}`
  throw Object.assign(new Error(message), { code: 'ERR_SERVICE_PACKAGES' })
}
