// What is known of an attempt when it has ended.

import diagnostics from 'node:diagnostics_channel'
import { describe, expect, test } from 'vitest'
import { TransportError } from '../../../../src/core/errors.ts'
import { bodyOf, failureOf, pattern, requestTo } from '../../../../src/testing/transport/requests.ts'
import { answering, httpAnswer } from '../../../../src/testing/scripted-server.ts'
import { MIB, make, serve, afterSteps, closeAfterEach } from './undici-rig.ts'

closeAfterEach()

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
