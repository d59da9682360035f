// The transport over TLS.

import { constants } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { undiciTransport } from '../../../../src/adapters/node/http/undici-transport.ts'
import { bodyOf, failureOf, pattern, requestTo } from '../../../../src/testing/transport/requests.ts'
import { answering, httpAnswer } from '../../../../src/testing/scripted-server.ts'
import { localhostCertificate, localhostKey } from '../../../helpers/localhost-certificate.ts'
import { MIB, open, make, serve, closeAfterEach } from './undici-rig.ts'

closeAfterEach()

describe('over TLS', () => {
  test('trusts a private authority that it was given', async () => {
    const server = await serve(
      answering(({ body }) => httpAnswer(200, { body: String(body.byteLength) })),
      { isTls: true },
    )

    const reply = await make().send(requestTo(server, { body: bodyOf('windows', pattern(5 * MIB)) }))

    expect([reply.status, new TextDecoder().decode(reply.body)]).toEqual([200, '5242880'])
  })

  // Later versions of Node are asked for what they trust, and they have read the variable when they started.
  test.skipIf('getCACertificates' in tls)(
    'trusts what NODE_EXTRA_CA_CERTS names, and a private authority that it was given',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'mocap-uplink-extra-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      await writeFile(join(folder, 'extra.pem'), localhostCertificate)
      const server = await serve(
        answering(() => httpAnswer(200)),
        { isTls: true },
      )
      const [other = ''] = tls.rootCertificates

      vi.stubEnv('NODE_EXTRA_CA_CERTS', join(folder, 'extra.pem'))
      expect((await make({ caPem: other }).send(requestTo(server))).status).toBe(200)

      vi.stubEnv('NODE_EXTRA_CA_CERTS', join(folder, 'missing.pem'))
      expect((await make({ caPem: localhostCertificate }).send(requestTo(server))).status).toBe(200)
    },
  )

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

  test('goes on without the ticket of a session with which no handshake came to its end', async () => {
    const known = new Set<string>()
    let askedCount = 0
    // Tickets would be taken up without a question, so the server keeps its sessions itself.
    const secureOptions = constants.SSL_OP_NO_TICKET
    const keys = { cert: localhostCertificate, key: localhostKey }
    const server = tls.createServer({ ...keys, secureOptions, maxVersion: 'TLSv1.2' }, (socket) => {
      socket.on('error', () => undefined)
      socket.on('data', () => socket.write(httpAnswer(200, { headers: ['connection: close'] })))
    })
    server.on('newSession', (id, _session, done) => {
      known.add(id.toString('hex'))
      done()
    })
    server.on('resumeSession', (id, done) => {
      // A client that has no session makes a number up.
      if (!known.has(id.toString('hex'))) return done(null, null)
      askedCount += 1
      done(new Error('as servers say that share their keys and not their settings'), null)
    })
    server.on('tlsClientError', () => undefined)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    const request = () => requestTo({ origin: `https://127.0.0.1:${String((server.address() as AddressInfo).port)}` })
    const transport = make()

    expect((await transport.send(request())).status).toBe(200)
    expect(await failureOf(transport.send(request()))).toMatchObject({ phase: 'connect', ending: 'neverWhole' })
    expect((await transport.send(request())).status).toBe(200)
    expect(askedCount).toBe(1)
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
