// Of a transport: what comes back.

import { describe, expect, test } from 'vitest'
import { isTransportError } from '../../core/errors.ts'
import { answering, httpAnswer } from '../scripted-server.ts'
import { bodyOf, failureOf, pattern, textOf } from './requests.ts'
import type { TransportRig } from './rig.ts'

const MIB = 1024 * 1024

/** Answers: each status, redirects, long and broken ones, and those that are none yet. */
export function describeComingBack(rig: TransportRig): void {
  const { traits, serve, send } = rig

  describe('what comes back', () => {
    test.each([200, 201, 204, 206, 304, 400, 401, 403, 404, 409, 411, 412, 429, 500, 501, 503, 599])(
      'returns status %i as an answer, and asks no second time',
      async (status) => {
        let asked = 0
        const server = await serve(
          answering(() => {
            asked += 1
            return httpAnswer(status)
          }),
        )

        await expect(send(server)).resolves.toMatchObject({ status, isBodyCut: false })
        expect(asked).toBe(1)
      },
    )

    const redirects = [301, 302, 303, 307, 308].flatMap((status) => [
      { status, method: 'PUT', body: bodyOf('bytes', pattern(100)) },
      { status, method: 'GET' },
    ])
    test.each(redirects)('follows no $status of a $method', async ({ status, ...request }) => {
      const other = await serve(answering(() => httpAnswer(200)))
      const server = await serve(answering(() => httpAnswer(status, { headers: [`location: ${other.origin}/steal`] })))

      const outcome = await send(server, request).catch((error: unknown) => error)

      if (isTransportError(outcome)) expect(outcome.code).toBe('ERR_UPLOAD_REDIRECT_REFUSED')
      else expect(outcome).toMatchObject({ status })
      if (traits.followsRedirects) expect(isTransportError(outcome)).toBe(true)
      else expect(other.connections).toHaveLength(0)
    })

    test('has lower-case header names, joins what is repeated, and takes any name', async () => {
      const headers = ['ETag: "abc"', 'X-Twice: one', 'x-twice: two', '__proto__: polluted', 'constructor: mine']
      const server = await serve(answering(() => httpAnswer(200, { headers })))

      const reply = await send(server)

      expect(Object.getPrototypeOf(reply.headers)).toBe(null)
      expect(reply.headers['etag']).toBe('"abc"')
      expect(reply.headers['x-twice']).toBe('one, two')
      expect(reply.headers['constructor']).toBe('mine')
      expect(Object.entries(reply.headers)).toContainEqual(['__proto__', 'polluted'])
      expect('polluted' in {}).toBe(false)
    })

    test('keeps the beginning of a long answer, says so, and goes on working', async () => {
      const server = await serve(answering(() => httpAnswer(500, { body: 'x'.repeat(100_000) })))

      const cut = await send(server, { maxReplyBytes: 1000 })
      const standard = await send(server)
      const whole = await send(server, { maxReplyBytes: 100_000 })

      expect([cut.body.byteLength, cut.isBodyCut]).toEqual([1000, true])
      expect([standard.body.byteLength, standard.isBodyCut]).toEqual([65_536, true])
      expect([whole.body.byteLength, whole.isBodyCut]).toEqual([100_000, false])
      expect(textOf(cut)).toBe('x'.repeat(1000))
    })

    test('is not held up by an answer that never ends', async () => {
      const server = await serve(async (connection) => {
        await connection.readRequest()
        await connection.write(`HTTP/1.1 500 Endless\r\ncontent-length: ${String(2 ** 40)}\r\n\r\n`)
        await connection.write(Buffer.alloc(2 * MIB, 'y'))
        await connection.readToEnd()
      })

      const reply = await send(server)

      expect([reply.status, reply.body.byteLength, reply.isBodyCut]).toEqual([500, 65_536, true])
    })

    test('returns a page of HTML as it is, also chunked and closed', async () => {
      const page = '<html><body>503 from a proxy</body></html>'
      const server = await serve(async (connection) => {
        await connection.readRequest()
        await connection.write('HTTP/1.1 503 Busy\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n')
        await connection.write(`connection: close\r\n\r\n${page.length.toString(16)}\r\n${page}\r\n0\r\n\r\n`)
        connection.end()
      })

      const reply = await send(server, { body: bodyOf('bytes', pattern(10)) })

      expect([reply.status, textOf(reply), reply.isBodyCut]).toEqual([503, page, false])
    })

    test('takes an answer that only the end of its connection ends for a whole one', async () => {
      const server = await serve(async (connection) => {
        await connection.readRequest()
        await connection.write('HTTP/1.1 200 OK\r\n\r\nall of it')
        connection.end()
      })

      const reply = await send(server)

      expect([reply.status, textOf(reply), reply.isBodyCut]).toEqual([200, 'all of it', false])
    })

    test('says of an answer that broke off in its body that it is cut', async () => {
      const server = await serve(async (connection) => {
        await connection.readRequest()
        await connection.write('HTTP/1.1 200 OK\r\netag: "e"\r\ncontent-length: 100\r\n\r\nhalf')
        connection.end()
      })

      if (traits.losesBrokenAnswers) {
        await expect(failureOf(send(server))).resolves.toMatchObject({ code: 'ERR_UPLOAD_NETWORK', ending: 'doubtful' })
        return
      }
      const reply = await send(server)

      expect([reply.status, reply.headers['etag'], reply.isBodyCut]).toEqual([200, '"e"', true])
      // A browser may throw away what it had received of the body when it hears of the end.
      expect(traits.isBrowser === true ? ['half', ''] : ['half']).toContain(textOf(reply))
    })

    const interims: [string, string][] = [
      ['a 103', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
      ['a 100 that nobody asked for', 'HTTP/1.1 100 Continue\r\n\r\n'],
      ['a 100 with headers, in words of its own', 'HTTP/1.1 100 Go on, 100\r\nserver: HTTP/1.1 100\r\n\r\n'],
      ['several', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 \r\n\r\n'],
      ['a 100 behind an empty line', '\r\nHTTP/1.1 100 Continue\r\n\r\n'],
    ]
    test.each(interims)('passes over interim answers: %s', async (_what, interim) => {
      const body = 'HTTP/1.1 100 Continue\r\n\r\nreal'
      const server = await serve(answering(() => `${interim}${httpAnswer(200, { body })}`))
      if (traits.refusesContinue === true && interim.includes(' 100 ')) {
        expect((await failureOf(send(server, { body: bodyOf('bytes', pattern(10)) }))).code).toBe('ERR_UPLOAD_NETWORK')
        return
      }

      for (let request = 0; request < 3; request += 1) {
        const reply = await send(server, { body: bodyOf('bytes', pattern(10)) })
        expect([reply.status, textOf(reply), reply.isBodyCut]).toEqual([200, body, false])
      }
    })

    test.skipIf(traits.refusesContinue)(
      'passes over interim answers that come before the body and byte by byte',
      async () => {
        const server = await serve(async (connection) => {
          await connection.readHead()
          for (const byte of 'HTTP/1.1 100 Continue\r\n\r\n') await connection.write(byte)
          await connection.readBytes(MIB)
          for (const byte of `HTTP/1.1 100 Continue\r\n\r\n${httpAnswer(200, { body: 'real' })}`) {
            await connection.write(byte)
            // The loop goes round, so that each byte is read by itself.
            await new Promise((resolve) => setImmediate(resolve))
          }
        })

        const reply = await send(server, { body: bodyOf('windows', pattern(MIB)) })

        expect([reply.status, textOf(reply)]).toEqual([200, 'real'])
      },
    )
  })
}
