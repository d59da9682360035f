// Answers that cannot be read, and those that come before the body is sent.

import { describe, expect, test } from 'vitest'
import { bodyOf, failureOf, pattern, requestTo } from '../../../../src/testing/transport/requests.ts'
import { answering, httpAnswer } from '../../../../src/testing/scripted-server.ts'
import { MIB, make, serve, closeAfterEach } from './undici-rig.ts'

closeAfterEach()

describe('an answer that cannot be read', () => {
  const heads: [string, string][] = [
    ['no HTTP', 'hello, this is a printer\r\n\r\n'],
    ['an answer under a status that there is not', 'HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n'],
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
