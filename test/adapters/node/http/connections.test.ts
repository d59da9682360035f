// Which connections are opened, kept and given up.

import diagnostics from 'node:diagnostics_channel'
import { getEventListeners } from 'node:events'
import type net from 'node:net'
import { describe, expect, test } from 'vitest'
import { bodyOf, failureOf, pattern, requestTo } from '../../../../src/testing/transport/requests.ts'
import { answering, httpAnswer } from '../../../../src/testing/scripted-server.ts'
import { MIB, make, serve, afterSteps, closeAfterEach } from './undici-rig.ts'

closeAfterEach()

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
