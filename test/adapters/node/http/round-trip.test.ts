// The bare round trip of the Node transport: under the rules of its connections, to the proxy where there is one, and
// without a byte sent.

import { createServer, type AddressInfo, type Server } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'

import { createRoundTrip } from '../../../../src/adapters/node/http/round-trip.ts'

interface Listener {
  readonly port: number
  /** Resolves with what one connection said before it ended. */
  next(): Promise<string>
  connections(): number
}

const servers: Server[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))))
})

async function listen(): Promise<Listener> {
  const waiting: ((said: string) => void)[] = []
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    let said = ''
    socket.setEncoding('latin1').on('data', (text: string) => (said += text))
    // The reset is how it ends.
    socket.on('error', () => undefined)
    socket.on('close', () => waiting.shift()?.(said))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    connections: () => connections,
  }
}

const never = new AbortController().signal

describe('createRoundTrip', () => {
  it('connects to the host of the address, sends nothing and leaves', async () => {
    const storage = await listen()
    const ended = storage.next()

    await createRoundTrip({})(`http://127.0.0.1:${storage.port}/part?X-Amz-Signature=secret`, never)

    expect(await ended).toBe('')
    expect(storage.connections()).toBe(1)
  })

  it.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]'])(
    'goes to no private host under the policy for public ones: %s',
    async (host) => {
      const storage = await listen()
      const roundTrip = createRoundTrip({ addressPolicy: 'public' })

      const tried = roundTrip(`http://${host}:${storage.port}/part`, never)

      await expect(tried).rejects.toMatchObject({ code: 'ERR_UPLOAD_INSECURE_URL' })
      expect(storage.connections()).toBe(0)
    },
  )

  it('measures the way to the proxy, whatever the host behind it, and asks it for nothing', async () => {
    const proxy = await listen()
    const ended = proxy.next()
    const roundTrip = createRoundTrip({
      proxy: { http: `http://127.0.0.1:${proxy.port}` },
      addressPolicy: 'public',
    })

    await roundTrip('http://storage.example/part', never)

    expect(await ended).toBe('')
    expect(proxy.connections()).toBe(1)
  })

  it('goes directly to a host that the proxy is not for', async () => {
    const proxy = await listen()
    const storage = await listen()
    const ended = storage.next()
    const roundTrip = createRoundTrip({ proxy: { http: `http://127.0.0.1:${proxy.port}`, no: '127.0.0.1' } })

    await roundTrip(`http://127.0.0.1:${storage.port}/part`, never)

    await ended
    expect([proxy.connections(), storage.connections()]).toEqual([0, 1])
  })

  it('rejects with the reason of its signal, and connects to nobody when that has fired before', async () => {
    const storage = await listen()
    const reason = new Error('enough')

    const tried = createRoundTrip({})(`http://127.0.0.1:${storage.port}/part`, AbortSignal.abort(reason))

    await expect(tried).rejects.toBe(reason)
    expect(storage.connections()).toBe(0)
  })
})
