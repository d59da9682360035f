// Transports and far ends on real sockets, which are closed after each test.

import { afterEach } from 'vitest'
import { undiciTransport, type UndiciTransportOptions } from '../../../../src/adapters/node/http/undici-transport.ts'
import type { Transport } from '../../../../src/core/ports.ts'
import { localhostCertificate, localhostKey } from '../../../helpers/localhost-certificate.ts'
import { scriptedServer, type ScriptedServer } from '../../../../src/testing/scripted-server.ts'

export const MIB = 1024 * 1024

export const open: { close(): Promise<void> }[] = []

/** Called once by each test file. */
export function closeAfterEach(): void {
  afterEach(async () => {
    for (const thing of open.splice(0)) await thing.close()
  })
}

export const make = (options: UndiciTransportOptions = {}): Transport => {
  const transport = undiciTransport({ caPem: localhostCertificate, ...options })
  open.unshift(transport)
  return transport
}
export const serve = async (
  script: Parameters<typeof scriptedServer>[0],
  { isTls = false } = {},
): Promise<ScriptedServer> => {
  const server = await scriptedServer(script, isTls ? { tls: { cert: localhostCertificate, key: localhostKey } } : {})
  open.push(server)
  return server
}

/** After so many microtasks. */
export const afterSteps = async (count: number): Promise<void> => {
  for (let step = 0; step < count; step += 1) await Promise.resolve()
}
