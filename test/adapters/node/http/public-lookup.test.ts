// Names that stand for private hosts, as an attacker's own name server would answer.

import type { LookupAddress } from 'node:dns'
import type { LookupOptions } from 'node:dns'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createPublicLookup } from '../../../../src/adapters/node/http/public-lookup.ts'
import { undiciTransport } from '../../../../src/adapters/node/http/undici-transport.ts'
import { answering, httpAnswer, scriptedServer } from '../../../../src/testing/scripted-server.ts'

/** What net.connect would be told of a name that has these addresses. */
function lookUp(addresses: readonly string[], options: LookupOptions): Promise<unknown> {
  const found = addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 }))
  const lookup = createPublicLookup((_hostname, _options, callback) => callback(null, found))
  return new Promise((resolve, reject) => {
    lookup('store.example', options, (error, ...told) => {
      if (error) reject(error)
      else resolve(told)
    })
  })
}

describe('the lookup', () => {
  it('gives only the public ones of several addresses', async () => {
    const addresses = ['10.0.0.1', '8.8.8.8', '::1', '2600:1f18::1']

    expect(await lookUp(addresses, { all: true })).toEqual([
      [
        { address: '8.8.8.8', family: 4 },
        { address: '2600:1f18::1', family: 6 },
      ],
    ])
    expect(await lookUp(addresses, {})).toEqual(['8.8.8.8', 4])
  })

  it('fails for a name that has none, and says what it stands for', async () => {
    await expect(lookUp(['169.254.169.254', 'fd00::1'], { all: true })).rejects.toMatchObject({
      code: 'ERR_UPLOAD_INSECURE_URL',
      message:
        'The storage address names the host store.example (169.254.169.254), which the address policy of this program does not allow.',
    })
  })

  it('says that a name was not found when the system gives nothing', async () => {
    await expect(lookUp([], { all: true })).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })
})

describe('a transport for public addresses only', () => {
  it.each(['localhost', '127.0.0.1'])('opens no connection to %s, with and without a body', async (host) => {
    const server = await scriptedServer(answering(() => httpAnswer(200)))
    const [strict, open] = [undiciTransport({ addressPolicy: 'public' }), undiciTransport()]
    onTestFinished(async () => {
      await Promise.all([strict.close(), open.close()])
      await server.close()
    })
    const request = {
      ...{ method: 'PUT', url: `http://${host}:${String(server.port)}/k?sig=5ecret`, headers: {} },
      ...{ body: { kind: 'bytes' as const, bytes: new Uint8Array(3) }, signal: new AbortController().signal },
    }

    await expect(strict.send(request)).rejects.toMatchObject({ code: 'ERR_UPLOAD_INSECURE_URL', isRetryable: false })
    expect(strict.endingOf(request)).toBe('neverWhole')
    expect(server.connections.length).toBe(0)

    // The same request goes where it is allowed, so it was the policy that refused it.
    expect((await open.send({ ...request })).status).toBe(200)
  })

  it('leaves names to a proxy, and judges IP addresses itself', async () => {
    const proxy = await scriptedServer(answering(() => httpAnswer(403)))
    const transport = undiciTransport({ addressPolicy: 'public', proxy: { http: proxy.origin } })
    onTestFinished(async () => {
      await transport.close()
      await proxy.close()
    })
    const send = (url: string) =>
      transport.send({ method: 'PUT', url, headers: {}, signal: new AbortController().signal })

    await expect(send('http://10.0.0.1/k')).rejects.toMatchObject({ code: 'ERR_UPLOAD_INSECURE_URL' })
    expect(proxy.connections.length).toBe(0)
    await expect(send('http://store.example/k')).rejects.toMatchObject({ code: 'ERR_UPLOAD_NETWORK' })
    expect(proxy.connections.length).toBe(1)
  })
})
