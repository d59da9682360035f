// Connections to a host that is the service and the storage: never more than 64, and no call waits for a part.

import { once } from 'node:events'
import { createServer as createPlain, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createUplink, type Source } from '../../src/node.ts'
import { localhostCertificate, localhostKey } from '../helpers/localhost-certificate.ts'

const PARTS = 62
const servers: Server[] = []
afterEach(async () => {
  await Promise.all(
    servers.splice(0).map((server) => (server.closeAllConnections(), server.close(), once(server, 'close'))),
  )
})

/** Holds the answers to parts until there are so many of them; then all are answered, and each later one at once. */
interface Host {
  readonly url: string
  readonly mostSockets: number
  readonly heldParts: number
  /** Settles when so many parts are held. */
  readonly full: Promise<void>
  release(): void
}

async function startHost(isSecure: boolean, storage?: Host): Promise<Host> {
  const held: (() => void)[] = []
  let isReleased = false
  let [sockets, mostSockets] = [0, 0]
  let onFull = (): void => undefined
  const full = new Promise<void>((resolve) => (onFull = resolve))
  const takePart = (response: ServerResponse): void => {
    const answer = (): void => void response.end()
    if (isReleased) answer()
    else if (held.push(answer) === PARTS) onFull()
  }
  const answerCall = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { filenames } = JSON.parse(Buffer.concat(chunks).toString() || '{}') as { filenames?: string[] }
    const addresses = filenames?.map((name) => [name, `${(storage ?? host).url}/store/${name}`])
    const session = { id: 'session-1', session_id: 'session-1', status: 'pending' }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(addresses === undefined ? session : Object.fromEntries(addresses)))
  }
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.method !== 'PUT') return void answerCall(request, response)
    request.resume().once('end', () => takePart(response))
  }
  const server: Server = isSecure
    ? createSecure({ key: localhostKey, cert: localhostCertificate }, onRequest)
    : createPlain(onRequest)
  servers.push(server)
  server.on('connection', (socket: Socket) => {
    sockets += 1
    mostSockets = Math.max(mostSockets, sockets)
    socket.once('close', () => (sockets -= 1)).on('error', () => undefined)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const host: Host = {
    url: `${isSecure ? 'https' : 'http'}://localhost:${String((server.address() as AddressInfo).port)}`,
    full,
    release() {
      isReleased = true
      for (const answer of held.splice(0)) answer()
    },
    get mostSockets() {
      return mostSockets
    },
    get heldParts() {
      return held.length
    },
  }
  return host
}

function smallFile(index: number): Source {
  const reader = { read: () => undefined, verify: () => undefined, close: () => Promise.resolve() }
  return {
    name: `take-${String(index).padStart(4, '0')}.action`,
    describe: () => Promise.resolve({ sizeBytes: 100 }),
    open: () => Promise.resolve(reader),
  }
}

describe('connections to a host', () => {
  it.each([
    ['plain', false, false],
    ['over TLS', true, false],
    ['plain, with the service on another host', false, true],
  ])('are 64 at most where 64 are asked for, and no call waits for a part: %s', async (_, isSecure, isApart) => {
    const storage = await startHost(isSecure)
    const service = isApart ? await startHost(isSecure, storage) : storage
    const uplink = createUplink({
      ...{ baseUrl: service.url, credentials: { apiKey: 'key-1' }, concurrency: 64, verify: 'off' },
      ...(isSecure ? { caPem: localhostCertificate } : {}),
    })
    const upload = uplink.uploadCaptures({
      ...{ orgId: 'org', mocapTypeId: 2, sessionTypeId: 1, sessionDate: '2026-11-20', kind: 'tracking' },
      files: Array.from({ length: 300 }, (_file, index) => ({ source: smallFile(index) })),
    })

    await storage.full
    // None of the parts ends before these have been answered.
    const calls = Array.from({ length: 8 }, () => uplink.client.requestedAnalyses.get('1'))
    expect(await Promise.all(calls)).toHaveLength(8)
    expect(storage.heldParts).toBe(PARTS)
    storage.release()

    expect(await upload.done()).toMatchObject({ status: 'confirmed' })
    expect(storage.mostSockets).toBeLessThanOrEqual(64)
    await uplink.close()
  })
})
