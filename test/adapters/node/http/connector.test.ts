// How connections are made, seen by what they reach: a TLS server that tells of each handshake, a proxy, the kernel.

import diagnostics from 'node:diagnostics_channel'
import { getEventListeners, once } from 'node:events'
import { readFile } from 'node:fs/promises'
import net, { type AddressInfo, type Server, type Socket } from 'node:net'
import tls, { type TLSSocket } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { createConnector, type Connector } from '../../../../src/adapters/node/http/connector.ts'
import { hostnameOf, portOf } from '../../../../src/adapters/node/http/host-and-port.ts'
import type { Wire } from '../../../../src/adapters/node/http/wire.ts'
import { refusingAddress } from '../../../../src/testing/refusing-address.ts'
import { localhostCertificate, localhostKey } from '../../../helpers/localhost-certificate.ts'

const servers: Server[] = []
const sockets: Socket[] = []
const wires: Wire[] = []
afterEach(async () => {
  for (const wire of wires.splice(0)) wire.reset()
  for (const socket of sockets.splice(0)) socket.destroy()
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))))
})

async function listen(use: (socket: Socket) => void): Promise<number> {
  const server = net.createServer((socket) => {
    sockets.push(socket.on('error', () => undefined))
    use(socket)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const never = new AbortController().signal

async function open(connect: Connector, address: string, signal = never): Promise<Wire> {
  const wire = await connect(new URL(address), signal)
  wires.push(wire)
  return wire
}

/** A TLS server on so many ports, one for all of them: it says a byte behind each handshake, and so behind its tickets. */
async function tlsServer(portCount: number) {
  const shaken: TLSSocket[] = []
  const options = { key: localhostKey, cert: localhostCertificate, ALPNProtocols: ['h2', 'http/1.1'] }
  const server = tls.createServer(options, (socket) => {
    shaken.push(socket.on('error', () => undefined))
    socket.write('!')
  })
  const ports: number[] = []
  while (ports.length < portCount) ports.push(await listen((socket) => server.emit('connection', socket)))
  const connect = createConnector({ caPem: localhostCertificate })
  const shake = async (authority: string): Promise<TLSSocket> => {
    const { socket } = await open(connect, `https://${authority}`)
    await once(socket, 'data')
    return shaken.at(-1)!
  }
  return { ports, shake }
}

describe('a connection over TLS', () => {
  test('asks for HTTP/1.1, and names the host unless that is an IP address', async () => {
    const { ports, shake } = await tlsServer(1)
    const named = await shake(`localhost:${String(ports[0])}`)
    const numbered = await shake(`127.0.0.1:${String(ports[0])}`)

    expect([named.alpnProtocol, named.servername]).toEqual(['http/1.1', 'localhost'])
    expect([numbered.alpnProtocol, numbered.servername]).toEqual(['http/1.1', false])
  })

  test('goes on from the last session with its host, of the last 64 hosts that gave it one', async () => {
    const { ports, shake } = await tlsServer(65)
    const isReused = async (index: number) => (await shake(`127.0.0.1:${String(ports[index])}`)).isSessionReused()

    for (let index = 0; index < 64; index += 1) expect(await isReused(index)).toBe(false)
    expect(await isReused(0)).toBe(true)
    expect(await isReused(64)).toBe(false)

    expect([await isReused(1), await isReused(64), await isReused(0)]).toEqual([true, true, false])
  })
})

describe('a connection', () => {
  test.runIf(process.platform === 'linux')('is kept alive by the kernel, which asks after a minute', async () => {
    const { socket } = await open(createConnector({}), `http://127.0.0.1:${String(await listen(() => undefined))}`)

    // Of a line: number, local, remote, state, queues, timer and what is left of it in hundredths of a second.
    const lines = (await readFile('/proc/net/tcp', 'latin1')).split('\n').map((line) => line.trim().split(/\s+/))
    const hexOf = (port: number) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`
    const [own, far] = [hexOf(socket.localPort!), hexOf(socket.remotePort!)]
    // To other ends, the same port of this machine may be in use as well.
    const found = lines.find(([, local, remote]) => local?.endsWith(own) && remote?.endsWith(far))
    const [timer, left] = found![5]!.split(':')
    expect(timer).toBe('02')
    expect(parseInt(left!, 16)).toBeLessThanOrEqual(6_000)
  })

  test('of whom nobody wants it any more is not begun', async () => {
    const reason = new Error('paused')
    let begun = 0
    const count = (): void => void (begun += 1)
    diagnostics.subscribe('net.client.socket', count)

    const tried = createConnector({})(new URL('http://127.0.0.1:9'), AbortSignal.abort(reason))

    await expect(tried).rejects.toBe(reason)
    diagnostics.unsubscribe('net.client.socket', count)
    expect(begun).toBe(0)
  })

  test.each([
    ['directly', undefined],
    ['through a proxy', 'http'],
    ['through a proxy over TLS', 'https'],
  ])('is given open or not at all, at whatever step its wait is ended: %s', async (_how, scheme) => {
    const tunnel = (socket: Socket): void => void socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    const options = { key: localhostKey, cert: localhostCertificate }
    const server =
      scheme === 'https' ? tls.createServer(options, tunnel).on('tlsClientError', () => undefined) : undefined
    const port = String(
      await listen((socket) => {
        if (server !== undefined) server.emit('connection', socket)
        else if (scheme !== undefined) tunnel(socket)
      }),
    )
    const proxy = scheme === undefined ? {} : { proxy: { http: `${scheme}://127.0.0.1:${port}` } }
    const connect = createConnector({ caPem: localhostCertificate, ...proxy })
    for (let steps = 0; steps < 16; steps += 1) {
      const leaving = new AbortController()
      const reason = new Error('paused')
      const leave = async (): Promise<void> => {
        for (let step = 0; step < steps; step += 1) await Promise.resolve()
        leaving.abort(reason)
      }
      const whenMade = (message: unknown): void => {
        const { socket } = message as { socket: Socket }
        // A TLS socket is one, too, and is told of twice.
        if (scheme === 'https' && !('encrypted' in socket)) return
        socket.once(scheme === 'https' ? 'secureConnect' : 'connect', () => void leave())
      }
      diagnostics.subscribe('net.client.socket', whenMade)
      const outcome = await open(connect, `http://127.0.0.1:${port}`, leaving.signal).then(
        ({ socket }) => ({ isOpen: !socket.destroyed }),
        (error: unknown) => error,
      )
      diagnostics.unsubscribe('net.client.socket', whenMade)

      expect(outcome).toEqual(outcome instanceof Error ? reason : { isOpen: true })
    }
  })

  test('can be left while it is being made', async () => {
    const leaving = new AbortController()
    const reason = new Error('paused')
    const opening = open(
      createConnector({}),
      `http://127.0.0.1:${String(await listen(() => undefined))}`,
      leaving.signal,
    )

    leaving.abort(reason)

    await expect(opening).rejects.toBe(reason)
  })

  test('that nobody takes is an error of its maker', async () => {
    const nobody = await refusingAddress()

    await expect(open(createConnector({}), nobody.origin)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await nobody.close()
  })

  test.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]'])(
    'is made to no private host under the policy for public ones: %s',
    async (host) => {
      let connections = 0
      const port = await listen(() => (connections += 1))
      const connect = createConnector({ addressPolicy: 'public' })

      await expect(open(connect, `http://${host}:${String(port)}`)).rejects.toMatchObject({
        code: 'ERR_UPLOAD_INSECURE_URL',
      })
      expect(connections).toBe(0)
    },
  )

  test('is no more its maker’s to end: an abort afterwards is nothing to it', async () => {
    const leaving = new AbortController()
    const port = await listen(() => undefined)

    const { socket } = await open(createConnector({}), `http://127.0.0.1:${String(port)}`, leaving.signal)
    expect(getEventListeners(leaving.signal, 'abort')).toHaveLength(0)
    leaving.abort()

    expect(socket.destroyed).toBe(false)
  })
})

test.each([
  ['http://storage.example', 'storage.example', 80],
  ['https://storage.example', 'storage.example', 443],
  ['https://[::1]:8443', '::1', 8443],
])('the host and the port of %s', (address, host, port) => {
  expect([hostnameOf(new URL(address)), portOf(new URL(address))]).toEqual([host, port])
})

describe('through a proxy', () => {
  test('that is on this machine, hosts of the public internet are reached: it is the proxy that looks them up', async () => {
    const asked: string[] = []
    const port = await listen((socket) => {
      socket.once('data', (head) => {
        asked.push(head.toString('latin1').split('\r\n')[0]!)
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      })
    })
    const connect = createConnector({ proxy: { http: `http://localhost:${String(port)}` }, addressPolicy: 'public' })

    for (const host of ['storage.example', '1.1.1.1']) await open(connect, `http://${host}/part`)

    expect(asked).toEqual(['CONNECT storage.example:80 HTTP/1.1', 'CONNECT 1.1.1.1:80 HTTP/1.1'])
  })

  test.each([
    ['closes', (socket: Socket) => void socket.once('data', () => socket.end())],
    ['resets', (socket: Socket) => void socket.once('data', () => socket.resetAndDestroy())],
  ])('that %s instead of an answer is a failure to connect', async (_how, use) => {
    const proxy = `http://127.0.0.1:${String(await listen(use))}`

    await expect(open(createConnector({ proxy: { http: proxy } }), 'http://storage.example')).rejects.toMatchObject({
      message: `The proxy ${new URL(proxy).host} could not be reached`,
      cause: { code: 'ECONNRESET' },
    })
  })

  test('that refuses is left at once', async () => {
    let ended: Promise<unknown> | undefined
    const port = await listen((socket) => {
      ended = once(socket.resume(), 'close')
      socket.once('data', () => socket.write('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n'))
    })
    const connect = createConnector({ proxy: { http: `http://127.0.0.1:${String(port)}` } })

    await expect(open(connect, 'http://storage.example')).rejects.toThrow('407')

    await ended
  })

  test.each(['http', 'https'])('over %s and whose target’s handshake gets no answer can be left', async (scheme) => {
    const leaving = new AbortController()
    const reason = new Error('too slow')
    const tunnel = (socket: Socket): void => {
      socket.once('data', () => {
        socket.once('data', () => leaving.abort(reason))
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      })
    }
    const options = { key: localhostKey, cert: localhostCertificate }
    const server = tls.createServer(options, (socket) => tunnel(socket.on('error', () => undefined)))
    const port = await listen((socket) => (scheme === 'https' ? server.emit('connection', socket) : tunnel(socket)))
    const proxy = { https: `${scheme}://localhost:${String(port)}` }

    const opening = open(
      createConnector({ caPem: localhostCertificate, proxy }),
      'https://storage.example',
      leaving.signal,
    )

    await expect(opening).rejects.toBe(reason)
  })

  test('what comes with its answer is not lost: a far end that speaks first is heard', async () => {
    const port = await listen((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\n220 mail.example\r\n'))
    })
    const connect = createConnector({ proxy: { https: `http://127.0.0.1:${String(port)}` } })

    await expect(open(connect, 'https://storage.example')).rejects.toMatchObject({
      code: 'ERR_SSL_WRONG_VERSION_NUMBER',
    })
  })

  test('that answers nothing can be left', async () => {
    const leaving = new AbortController()
    const reason = new Error('too slow')
    const port = await listen((socket) => void socket.once('data', () => leaving.abort(reason)))
    const connect = createConnector({ proxy: { http: `http://127.0.0.1:${String(port)}` } })

    await expect(open(connect, 'http://storage.example', leaving.signal)).rejects.toBe(reason)
  })
})
