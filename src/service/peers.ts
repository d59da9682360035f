// The packages that only the service needs, looked for when it is started: who embeds the engine installs none of them.

import { isCode } from './error-code.ts'

/** Packages that `startService` needs beside this one, with the embedded database and with a server, and for what else it is told to do. */
export const SERVICE_PEERS = {
  embedded: ['fastify', '@fastify/helmet', 'prom-client', 'kysely', '@electric-sql/pglite'],
  server: ['fastify', '@fastify/helmet', 'prom-client', 'kysely', 'pg'],
  s3: ['@aws-sdk/client-s3'],
  jwt: ['jose'],
} as const

/** Rejects with an Error that names the command to run when one of the packages is not installed. */
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
  throw new Error(`The service needs packages that are not installed. Run: npm install ${missing.join(' ')}`)
}
