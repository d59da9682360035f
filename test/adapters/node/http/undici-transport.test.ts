import diagnostics from 'node:diagnostics_channel'
import { getEventListeners, once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { descriptors } from '../../../../src/adapters/node/descriptors.ts'
import {
  undiciTransport,
  undiciTransportOn,
  type UndiciTransportOptions,
} from '../../../../src/adapters/node/http/undici-transport.ts'
import { TransportError } from '../../../../src/core/errors.ts'
import type { PieceSequence, Transport } from '../../../../src/core/ports.ts'
import { transportContract } from '../../../../src/testing/transport-contract.ts'
import { bodyOf, failureOf, pattern, requestTo } from '../../../../src/testing/transport/requests.ts'
import { localhostCertificate, localhostKey } from '../../../helpers/localhost-certificate.ts'
import type { ScriptedConnection } from '../../../../src/testing/scripted-connection.ts'
import { answering, httpAnswer, scriptedServer, type ScriptedServer } from '../../../../src/testing/scripted-server.ts'

const MIB = 1024 * 1024

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

const make = (options: UndiciTransportOptions = {}): Transport => {
  const transport = undiciTransport({ caPem: localhostCertificate, ...options })
  open.unshift(transport)
  return transport
}
const serve = async (script: Parameters<typeof scriptedServer>[0], { isTls = false } = {}): Promise<ScriptedServer> => {
  const server = await scriptedServer(script, isTls ? { tls: { cert: localhostCertificate, key: localhostKey } } : {})
  open.push(server)
  return server
}

/** After so many microtasks. */
const afterSteps = async (count: number): Promise<void> => {
  for (let step = 0; step < count; step += 1) await Promise.resolve()
}

transportContract('undiciTransport', () => undiciTransport(), { hasReset: true, isProgressLive: true })

test.each([
  ['call', undefined],
  ['part', () => undefined],
] as const)('says at each look that a %s waits for a descriptor, and nothing of bytes', async (use, onSent) => {
  const uses: string[] = []
  const transport = undiciTransportOn({
    ...descriptors,
    patiently(use, work, wait) {
      uses.push(use)
      for (let look = 0; look < 3; look += 1) wait?.onWait?.()
      return work()
    },
  })
  open.push(transport)
  const server = await serve(answering(() => httpAnswer(200)))
  const told: unknown[] = []

  await transport.send(
    requestTo(server, {
      onStarted: () => told.push('started'),
      ...(onSent && { onSent: (bytes) => told.push(bytes) }),
    }),
  )

  expect(uses).toEqual([use])
  expect(told.slice(0, 3)).toEqual(['started', 'started', 'started'])
})

describe('what goes out', () => {
  test('adds host, connection and content-length and nothing else', async () => {
    let head = ''
    const server = await serve(
      answering((request) => {
        head = request.head
        return httpAnswer(200)
      }),
    )

    await make().send(
      requestTo(server, {
        headers: { 'content-length': '999', host: 'evil.example' },
        body: bodyOf('bytes', pattern(3)),
      }),
    )

    expect(head.split('\r\n').slice(1).sort()).toEqual([
      'connection: keep-alive',
      'content-length: 3',
      `host: 127.0.0.1:${String(server.port)}`,
    ])
  })

  test('sends windows that lie on shared memory', async () => {
    const shared = new Uint8Array(new SharedArrayBuffer(300_000))
    shared.set(pattern(300_000))
    let received: Buffer | undefined
    const server = await serve(
      answering(({ body }) => {
        received = body
        return httpAnswer(200)
      }),
    )

    await make().send(requestTo(server, { body: bodyOf('windows', shared) }))

    expect(received?.equals(pattern(300_000))).toBe(true)
  })

  test.each([[100], [20_000], [300_000]])('takes a body of %i-byte windows in steps', async (windowBytes) => {
    const bytes = pattern(5 * MIB + 7)
    const window = new Uint8Array(windowBytes)
    let received: Buffer | undefined
    const server = await serve(
      answering(({ body }) => {
        received = body
        return httpAnswer(200)
      }),
    )
    const windows = (): PieceSequence => {
      let at = 0
      let waits = 0
      const step: PieceSequence['step'] = () => {
        window.fill(0xee)
        if (at === bytes.byteLength) return { value: undefined, done: true }
        // Now and then there is something to wait for, also before the end.
        if ((waits += 1) % 3 === 0) return Promise.resolve()
        const piece = window.subarray(0, Math.min(windowBytes, bytes.byteLength - at))
        piece.set(bytes.subarray(at, (at += piece.byteLength)))
        return { value: piece, done: false }
      }
      const iterate = (): never => {
        throw new Error('Whoever takes steps does not iterate.')
      }
      return { step, [Symbol.asyncIterator]: iterate }
    }
    const sent: number[] = []

    await make().send(
      requestTo(server, {
        body: { kind: 'windows', lengthBytes: bytes.byteLength, windows },
        onSent: (count) => sent.push(count),
      }),
    )

    expect(received?.equals(bytes)).toBe(true)
    expect(sent.at(-1)).toBe(bytes.byteLength)
    expect(sent).toEqual(sent.toSorted((one, other) => one - other))
  })

  test('ends with the error of a step, thrown or waited for', async () => {
    for (const fail of [
      (problem: Error) => Promise.reject(problem),
      (problem: Error) => {
        throw problem
      },
    ]) {
      const problem = new Error('the disk is gone')
      const server = await serve((connection) => void connection.readToEnd().catch(() => undefined))
      let given = 0
      const step: PieceSequence['step'] = () =>
        (given += 1) > 2 ? fail(problem) : { value: new Uint8Array(10), done: false }
      const windows = () => ({ step }) as unknown as PieceSequence
      const transport = make()
      const request = requestTo(server, { body: { kind: 'windows', lengthBytes: 30, windows } })

      await expect(transport.send(request)).rejects.toBe(problem)
      expect(transport.endingOf(request)).toBe('neverWhole')
    }
  })

  test('refuses a header that would break the request, without repeating it', async () => {
    const server = await serve(() => undefined)
    const request = requestTo(server, { headers: { 'x-name': 'a\r\nhush: b' } })

    const error: unknown = await make()
      .send(request)
      .catch((caught: unknown) => caught)

    expect(error).toMatchObject({
      code: 'ERR_UPLOAD_INVALID_ARGUMENT',
      message: 'The method or a header of the request cannot be sent',
    })
    expect(inspect(error, { depth: Infinity })).not.toContain('hush')
  })
})

describe('an answer that cannot be read', () => {
  const heads: [string, string][] = [
    ['no HTTP', 'hello, this is a printer\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
    ['a header larger than any', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`],
    ['another protocol', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
  ]
  test.each(heads)('%s is an answer of a host that is there', async (_what, text) => {
    const server = await serve(answering(() => text))

    const error = await failureOf(make().send(requestTo(server, { body: bodyOf('bytes', pattern(3)) })))

    expect(error).toMatchObject({
      code: 'ERR_UPLOAD_NETWORK',
      isUnreadable: true,
      isRetryable: true,
      message: expect.stringMatching(
        /^The answer of 127\.0\.0\.1:\d+ was not HTTP\/1\.1 that can be read \(/,
      ) as string,
    })
  })

  test('a connection that closes without one is no answer', async () => {
    const server = await serve(async (connection) => {
      await connection.readHead()
      connection.destroy()
    })

    expect(await failureOf(make().send(requestTo(server, { body: bodyOf('bytes', pattern(3)) })))).toMatchObject({
      isUnreadable: false,
    })
  })
})

describe.each([false, true])('an early answer (TLS: %s)', (isTls) => {
  test('wins over the pipe that breaks right behind it', async () => {
    let isClosed: () => void = () => undefined
    const closed = new Promise<void>((resolve) => (isClosed = resolve))
    const page = `<Error>${'denied '.repeat(500)}</Error>`
    const server = await serve(
      async (connection) => {
        await connection.readHead()
        await connection.write(httpAnswer(403, { headers: ['connection: close'], body: page }))
        connection.destroy()
        isClosed()
      },
      { isTls },
    )
    async function* windows() {
      yield pattern(MIB)
      // The next write happens in the same turn in which the server has closed, before anything can be read.
      await closed
      for (let window = 1; window < 16; window += 1) yield pattern(MIB)
    }

    const reply = await make().send(requestTo(server, { body: { kind: 'windows', lengthBytes: 16 * MIB, windows } }))

    expect([reply.status, new TextDecoder().decode(reply.body), reply.isBodyCut]).toEqual([403, page, false])
  })

  test('comes after a word of what has gone, also where that is nothing: a transport that never tells is taken for broken', async () => {
    const server = await serve(
      async (connection) => {
        await connection.readHead()
        await connection.write(httpAnswer(200))
      },
      { isTls },
    )
    const told: number[] = []
    const lengthBytes = 64 * MIB
    // More than the system takes before the answer is here.
    async function* windows() {
      yield new Uint8Array(lengthBytes)
    }

    const body = { kind: 'windows', lengthBytes, windows } as const
    const reply = await make().send(requestTo(server, { body, onSent: (bytes) => told.push(bytes) }))

    expect([reply.status, told]).toEqual([200, [0]])
  })

  test('ends the attempt, so that no refilled window goes out', async () => {
    const lengthBytes = 16 * MIB
    const bytes = pattern(lengthBytes)
    let received: Promise<Buffer> | undefined
    let isAnswered: () => void = () => undefined
    const answered = new Promise<void>((resolve) => (isAnswered = resolve))
    const server = await serve(
      async (connection) => {
        await connection.readHead()
        await connection.write(httpAnswer(503))
        await answered
        received = connection.readToEnd()
        await received
      },
      { isTls },
    )

    const reply = await make().send(requestTo(server, { body: { kind: 'bytes', bytes } }))
    const original = bytes.slice()
    bytes.fill(0xee)
    isAnswered()
    await server.connections[0]!.ended

    expect(reply.status).toBe(503)
    const delivered = await received!
    expect(delivered.byteLength).toBeLessThan(lengthBytes)
    expect(delivered.equals(original.subarray(0, delivered.byteLength))).toBe(true)
  })
})

describe('over TLS', () => {
  test('trusts a private authority that it was given', async () => {
    const server = await serve(
      answering(({ body }) => httpAnswer(200, { body: String(body.byteLength) })),
      { isTls: true },
    )

    const reply = await make().send(requestTo(server, { body: bodyOf('windows', pattern(5 * MIB)) }))

    expect([reply.status, new TextDecoder().decode(reply.body)]).toEqual([200, '5242880'])
  })

  test('refuses a certificate that nobody vouches for before a byte is sent', async () => {
    const server = await serve((connection) => void connection.readToEnd(), { isTls: true })
    const transport = undiciTransport()
    open.unshift(transport)

    const error = await failureOf(transport.send(requestTo(server, { body: bodyOf('bytes', pattern(10)) })))

    expect(error).toMatchObject({ code: 'ERR_UPLOAD_NETWORK', phase: 'connect', ending: 'neverWhole' })
    expect(error.message).toMatch(
      /^The certificate of 127\.0\.0\.1:\d+ was not accepted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
    )
  })

  test('ends an attempt with a reset of the TCP connection', async () => {
    const controller = new AbortController()
    const reason = new Error('stop')
    const server = await serve(
      async (connection) => {
        await connection.readRequest()
        await connection.write(httpAnswer(200))
        await connection.readToEnd()
      },
      { isTls: true },
    )
    // Watched from between: a TLS server may meet the reset on a write of its own and then read an ordinary end.
    let passedBytes = 0
    const between = await serve(async (connection) => {
      const far = net.connect(server.port, '127.0.0.1')
      far.on('error', () => undefined)
      far.on('data', (chunk) => void connection.write(chunk))
      await connection.forEach((chunk) => {
        passedBytes += chunk.byteLength
        if (passedBytes < MIB) far.write(chunk)
        else controller.abort(reason)
      })
      far.destroy()
    })
    const origin = `https://127.0.0.1:${String(between.port)}`
    const body = bodyOf('windows', pattern(32 * MIB), MIB)
    const request = requestTo({ origin }, { signal: controller.signal, body })
    const transport = make()
    // The system itself resets a connection that is closed with bytes that nobody read, such as the tickets behind a handshake: an
    // answer that was read came after them.
    await transport.send(requestTo({ origin }, { body: bodyOf('bytes', pattern(10)) }))

    await expect(transport.send(request)).rejects.toBe(reason)

    expect(transport.endingOf(request)).toBe('neverWhole')
    expect(between.connections).toHaveLength(1)
    expect(await between.connections[0]!.ended).toBe('ECONNRESET')
    expect(passedBytes).toBeLessThan(32 * MIB)
  })

  test('lets a handshake that is never answered be aborted', async () => {
    const controller = new AbortController()
    const reason = new Error('too slow')
    const silent = net.createServer(() => controller.abort(reason)).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const request = requestTo(
      { origin: `https://127.0.0.1:${String((silent.address() as AddressInfo).port)}` },
      { signal: controller.signal },
    )
    const transport = make()

    await expect(transport.send(request)).rejects.toBe(reason)

    expect(transport.endingOf(request)).toBe('neverWhole')
    await new Promise((resolve) => silent.close(resolve))
  })
})

describe('how an attempt ended', () => {
  test('is never whole while the last window has not left the process', async () => {
    const controller = new AbortController()
    let hold: () => void = () => undefined
    const held = new Promise<void>((resolve) => (hold = resolve))
    // Nobody reads: 16 MiB in one piece is more than the kernel takes on both sides.
    const server = await serve(() => held)
    const bytes = new Uint8Array(32 * MIB)
    async function* windows() {
      yield bytes
    }
    const request = requestTo(server, {
      signal: controller.signal,
      body: { kind: 'windows', lengthBytes: bytes.byteLength, windows },
    })
    const transport = make()
    const sending = transport.send(request)
    await new Promise<void>((resolve) => {
      const look = () => (server.connections.length > 0 ? resolve() : setImmediate(look))
      look()
    })

    controller.abort(new Error('now'))

    await expect(sending).rejects.toThrow('now')
    expect(transport.endingOf(request)).toBe('neverWhole')
    hold()
  })

  test.each(['content-length: 100', 'transfer-encoding: chunked', 'connection: close'])(
    'is an answer with what came of it, where the wait for the rest of its body is over (%s)',
    async (framing) => {
      const controller = new AbortController()
      const server = await serve(async (connection) => {
        await connection.readRequest()
        await connection.write(`HTTP/1.1 200 OK\r\netag: "e"\r\n${framing}\r\n\r\n`)
        await connection.write('4\r\nhalf\r\n')
        await connection.readToEnd()
      })
      const hasHead = new Promise<void>((resolve) => {
        const listen = (): void => {
          diagnostics.unsubscribe('undici:request:headers', listen)
          resolve()
        }
        diagnostics.subscribe('undici:request:headers', listen)
      })
      const sending = make().send(
        requestTo(server, { signal: controller.signal, body: bodyOf('windows', pattern(100_000)) }),
      )
      await hasHead

      controller.abort(new TransportError('ERR_UPLOAD_TIMEOUT', 'Too long', { ending: 'doubtful', phase: 'answer' }))

      expect(await sending).toMatchObject({ status: 200, headers: { etag: '"e"' }, isBodyCut: true })
      expect(await server.connections[0]!.ended).toBe('ECONNRESET')
    },
  )

  test('is doubtful where the whole answer has come and the wait for the end of our own source is over', async () => {
    const controller = new AbortController()
    const server = await serve(answering(() => httpAnswer(200, { headers: ['etag: "e"'] })))
    async function* windows() {
      yield pattern(1000)
      await answered
      await new Promise(() => undefined)
    }
    let isAnswered: () => void = () => undefined
    const answered = new Promise<void>((resolve) => (isAnswered = resolve))
    const listen = (): void => isAnswered()
    diagnostics.subscribe('undici:request:trailers', listen)
    const request = requestTo(server, {
      signal: controller.signal,
      body: { kind: 'windows', lengthBytes: 1000, windows },
    })
    const transport = make()
    const sending = failureOf(transport.send(request))
    await answered.finally(() => diagnostics.unsubscribe('undici:request:trailers', listen))
    await afterSteps(10)
    const late = new TransportError('ERR_UPLOAD_TIMEOUT', 'Too long', { ending: 'doubtful', phase: 'answer' })

    controller.abort(late)

    expect(await sending).toBe(late)
    expect(transport.endingOf(request)).toBe('doubtful')
  })

  test('is doubtful for a request without a body once its head was handed over', async () => {
    const server = await serve(async (connection) => {
      await connection.readRequest()
      connection.reset()
    })
    const request = requestTo(server, { method: 'POST' })
    const transport = make()

    await expect(transport.send(request)).rejects.toMatchObject({ phase: 'answer', ending: 'doubtful' })
  })

  test('is never whole for a request that waited for a connection', async () => {
    const controller = new AbortController()
    let isHere: () => void = () => undefined
    const here = new Promise<void>((resolve) => (isHere = resolve))
    const server = await serve(async (connection) => {
      await connection.readRequest()
      isHere()
      await connection.readToEnd()
    })
    const transport = make({ maxConnectionsPerHost: 1 })
    const first = failureOf(transport.send(requestTo(server)))
    await here
    const waiting = requestTo(server, { signal: controller.signal })
    const sending = transport.send(waiting)

    controller.abort('no longer wanted')

    await expect(sending).rejects.toBe('no longer wanted')
    expect(transport.endingOf(waiting)).toBe('neverWhole')
    expect(server.connections).toHaveLength(1)
    await transport.close()
    await first
  })
})

describe('connections', () => {
  test('are used again, by one request at a time, and gather nothing', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    const server = await serve(answering(() => httpAnswer(200)))
    const transport = make()
    const { signal } = new AbortController()

    for (let request = 0; request < 30; request += 1) {
      await transport.send(requestTo(server, { signal, body: bodyOf('windows', pattern(100_000)) }))
    }
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', onWarning)

    expect(server.connections).toHaveLength(1)
    expect(warnings).toEqual([])
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  test('are new when a fresh one is asked for', async () => {
    const server = await serve(answering(() => httpAnswer(200)))
    const transport = make()

    await transport.send(requestTo(server))
    await transport.send(requestTo(server, { isFreshConnection: true }))

    expect(server.connections).toHaveLength(2)
  })

  test('are never more than the limit, and everyone gets a turn', async () => {
    let openCount = 0
    let mostOpen = 0
    const server = await serve(async (connection) => {
      openCount += 1
      mostOpen = Math.max(mostOpen, openCount)
      void connection.ended.then(() => (openCount -= 1))
      await answering(({ path }) => httpAnswer(200, { body: path }))(connection)
    })
    const transport = make({ maxConnectionsPerHost: 3 })

    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        transport.send({ ...requestTo(server), url: `${server.origin}/${String(index)}` }),
      ),
    )

    expect(replies.map((reply) => new TextDecoder().decode(reply.body))).toEqual(
      Array.from({ length: 20 }, (_, index) => `/${String(index)}`),
    )
    expect(mostOpen).toBe(3)
  })

  test('that ended in their sleep are replaced before anything is sent', async () => {
    const server = await serve(answering(() => httpAnswer(200)))
    const transport = make()
    for (let request = 0; request < 3; request += 1) {
      const reply = await transport.send(requestTo(server, { body: bodyOf('windows', pattern(1000)) }))
      expect(reply.status).toBe(200)

      // From here the loop goes on to poll, where the end is seen, after the next request was given its connection.
      await new Promise((resolve) => setImmediate(resolve))
      server.connections.at(-1)!.destroy()
    }

    expect(server.connections).toHaveLength(3)
  })

  test.each([
    ['', []],
    [', even if the server names a longer time', ['keep-alive: timeout=72']],
  ])('are closed when they have been idle for long enough%s', async (_, headers) => {
    const server = await serve(async (connection) => {
      await connection.readRequest()
      await connection.write(httpAnswer(200, { headers }))
      await connection.readToEnd()
    })

    await make({ keepAliveMs: 20 }).send(requestTo(server))

    expect(await server.connections[0]!.ended).toBe('end')
  })

  test('are not used again after an answer that was cut short for its length', async () => {
    const server = await serve(answering(() => httpAnswer(200, { body: 'z'.repeat(2 * MIB) })))
    const transport = make()

    await transport.send(requestTo(server, { maxReplyBytes: 10 }))
    await transport.send(requestTo(server, { maxReplyBytes: 10 }))

    expect(server.connections).toHaveLength(2)
  })

  test('that are made while the transport closes bring no answer, at whatever step it closes', async () => {
    for (let steps = 0; steps < 24; steps += 1) {
      const server = await serve(answering(() => httpAnswer(200)))
      const transport = make()
      const whenMade = (message: unknown): void => {
        const { socket } = message as { socket: net.Socket }
        socket.once('connect', () => void afterSteps(steps).then(() => transport.close()))
      }
      diagnostics.subscribe('net.client.socket', whenMade)

      const error = await failureOf(transport.send(requestTo(server))).finally(() =>
        diagnostics.unsubscribe('net.client.socket', whenMade),
      )

      expect(error.code).toBe('ERR_UPLOAD_NETWORK')
    }
  })
})

describe('through a proxy', () => {
  const tunnel = async (
    connection: ScriptedConnection,
    log: string[],
    how: { isRefused?: boolean; to?: number } = {},
  ) => {
    const { head, path } = await connection.readHead()
    log.push(head)
    if (how.isRefused) {
      await connection.write('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n')
      return
    }
    const far = net.connect(how.to ?? Number(path.split(':')[1]), '127.0.0.1')
    far.on('error', () => connection.reset())
    far.on('data', (chunk) => void connection.write(chunk))
    await connection.write('HTTP/1.1 200 Connection established\r\n\r\n')
    connection
      .forEach((chunk) => void far.write(chunk))
      .then(
        () => far.resetAndDestroy(),
        () => far.destroy(),
      )
  }

  test.each([
    ['http', false, false],
    ['https', true, false],
    ['https', true, true],
  ] as const)(
    'reaches an %s target by CONNECT, with the credentials of the proxy (TLS proxy: %s)',
    async (scheme, isTls, isTlsProxy) => {
      const log: string[] = []
      const proxy = await serve((connection) => tunnel(connection, log), { isTls: isTlsProxy })
      let head = ''
      const server = await serve(
        answering((request) => {
          head = request.head
          return httpAnswer(200, { body: String(request.body.byteLength) })
        }),
        { isTls },
      )
      const address = new URL(proxy.origin)
      address.username = 'ana'
      address.password = 'p@ss'

      const reply = await make({ proxy: { [scheme]: address.href } }).send(
        requestTo(server, { body: bodyOf('windows', pattern(3 * MIB)) }),
      )

      expect(new TextDecoder().decode(reply.body)).toBe('3145728')
      expect(log).toHaveLength(1)
      expect(log[0]).toContain(`CONNECT 127.0.0.1:${String(server.port)} HTTP/1.1\r\n`)
      expect(log[0]).toContain('proxy-authorization: Basic YW5hOnBAc3M=')
      expect(log[0]).not.toContain('X-Amz-Signature')
      expect(head.toLowerCase()).not.toContain('proxy-authorization')
    },
  )

  test.each([
    ['ana:100%', 'ana:100%'],
    ['ana:50%25', 'ana:50%'],
    ['ana:a%zz%C3%A9', 'ana:a%zzé'],
    ['ana', 'ana:'],
    [':word', ':word'],
  ])('takes %s in its address for %s', async (written, meant) => {
    const log: string[] = []
    const proxy = await serve((connection) => tunnel(connection, log))
    const server = await serve(answering(() => httpAnswer(200)))

    const address = proxy.origin.replace('//', `//${written}@`)
    const reply = await make({ proxy: { http: address } }).send(requestTo(server))

    expect(reply.status).toBe(200)
    expect(log[0]).toContain(`proxy-authorization: Basic ${Buffer.from(meant).toString('base64')}\r\n`)
  })

  test('refuses a trusted certificate of another name', async () => {
    let receivedBytes = 0
    const server = await serve(
      async (connection) => {
        receivedBytes += (await connection.readToEnd()).byteLength
      },
      { isTls: true },
    )
    const proxy = await serve((connection) => tunnel(connection, [], { to: server.port }))

    const error = await failureOf(
      make({ proxy: { https: proxy.origin } }).send(requestTo({ origin: 'https://storage.example' })),
    )

    expect(error).toMatchObject({ phase: 'connect', ending: 'neverWhole' })
    expect(error.cause).toBe(undefined)
    expect(error.message).toMatch(
      /^The certificate of storage\.example:443 was not accepted \(ERR_TLS_CERT_ALTNAME_INVALID\)/,
    )
    expect(receivedBytes).toBe(0)
  })

  test('reports a proxy that refuses as a failure to connect', async () => {
    const proxy = await serve((connection) => tunnel(connection, [], { isRefused: true }))
    const server = await serve(() => undefined)

    const error = await failureOf(make({ proxy: { http: proxy.origin } }).send(requestTo(server)))

    expect(error).toMatchObject({ phase: 'connect', ending: 'neverWhole' })
    expect(error.message).toBe(
      `The proxy 127.0.0.1:${String(proxy.port)} answered 407 instead of opening a connection to 127.0.0.1:${String(server.port)}: check the name and password in its address`,
    )
    expect(server.connections).toHaveLength(0)
  })

  test('goes straight to a host that is excepted', async () => {
    const proxy = await serve((connection) => tunnel(connection, [], { isRefused: true }))
    const server = await serve(answering(() => httpAnswer(200)))

    const reply = await make({ proxy: { http: proxy.origin, no: 'other.example,127.0.0.1' } }).send(requestTo(server))

    expect([reply.status, proxy.connections.length]).toEqual([200, 0])
  })

  test('resets the connection to the proxy on an abort', async () => {
    const controller = new AbortController()
    const log: string[] = []
    const proxy = await serve((connection) => tunnel(connection, log))
    const server = await serve(
      async (connection) => {
        await connection.readHead()
        await connection.readBytes(MIB)
        controller.abort('stop')
        await connection.readToEnd()
      },
      { isTls: true },
    )
    const request = requestTo(server, { signal: controller.signal, body: bodyOf('windows', pattern(32 * MIB), MIB) })

    await expect(make({ proxy: { https: proxy.origin } }).send(request)).rejects.toBe('stop')

    expect(await proxy.connections[0]!.ended).toBe('ECONNRESET')
  })
})

describe('options', () => {
  test.each([{ maxConnectionsPerHost: 0 }, { keepAliveMs: 0 }, { proxy: { https: 'socks5://host:1080' } }])(
    'that make no sense are refused: %o',
    (options) => {
      expect(() => undiciTransport(options)).toThrow(expect.objectContaining({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' }))
    },
  )
})
