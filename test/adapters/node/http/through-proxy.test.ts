// The transport through a proxy.

import net from 'node:net'
import { describe, expect, test } from 'vitest'
import { bodyOf, failureOf, pattern, requestTo } from '../../../../src/testing/transport/requests.ts'
import type { ScriptedConnection } from '../../../../src/testing/scripted-connection.ts'
import { answering, httpAnswer } from '../../../../src/testing/scripted-server.ts'
import { MIB, make, serve, closeAfterEach } from './undici-rig.ts'

closeAfterEach()

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
