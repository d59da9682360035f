// Of a transport: what goes out.

import { describe, expect, test } from 'vitest'
import type { Body, PieceSequence } from '../../core/ports.ts'
import type { ScriptedConnection } from '../scripted-connection.ts'
import { answering, httpAnswer } from '../scripted-server.ts'
import { bodyOf, pattern, refilledWindow, requestTo, textOf } from './requests.ts'
import type { TransportRig } from './rig.ts'

const MIB = 1024 * 1024

/** Bodies and heads as they arrive. */
export function describeGoingOut(rig: TransportRig): void {
  const { serve, send } = rig

  describe('what goes out', () => {
    const contents: [string, number][] = [
      ['no bytes', 0],
      ['one byte', 1],
      ['a few windows', 200_000],
      ['megabytes', 5 * MIB + 17],
    ]
    for (const [name, lengthBytes] of contents) {
      for (const kind of ['bytes', 'windows', 'blob'] as const) {
        test(`sends ${name} of ${kind} exactly, with Content-Length and never chunked`, async () => {
          const bytes = pattern(lengthBytes)
          const requests: Awaited<ReturnType<ScriptedConnection['readRequest']>>[] = []
          const server = await serve(
            answering((request) => {
              requests.push(request)
              return httpAnswer(200)
            }),
          )

          const reply = await send(server, { body: bodyOf(kind, bytes) })

          expect(reply.status).toBe(200)
          expect(requests).toHaveLength(1)
          expect(requests[0]!.headers.get('content-length')).toBe(String(lengthBytes))
          expect(requests[0]!.headers.has('transfer-encoding')).toBe(false)
          expect(requests[0]!.body.equals(bytes)).toBe(true)
        })
      }
    }

    test('keeps method, path, query and headers as given and adds no content-type', async () => {
      let head = ''
      const server = await serve(
        answering((request) => {
          head = request.head
          return httpAnswer(200)
        }),
      )

      await rig.transport.send({
        ...requestTo(server),
        // A query that was read and written anew is another one, and its signature is wrong.
        url: `${server.origin}/bucket/a%20b.mov?X-Amz-Signature=ab%2Fcd&name=a%20(b)~*&flag&partNumber=7`,
        headers: { 'x-amz-meta-one': 'two words' },
        body: { kind: 'blob', lengthBytes: 3, blob: new Blob(['abc'], { type: 'video/mp4' }) },
      })

      const path = '/bucket/a%20b.mov?X-Amz-Signature=ab%2Fcd&name=a%20(b)~*&flag&partNumber=7'
      expect(head.split('\r\n')[0]).toBe(`PUT ${path} HTTP/1.1`)
      expect(head).toMatch(/\r\nx-amz-meta-one: two words(\r\n|$)/)
      expect(head).not.toMatch(/content-type|authorization|cookie|expect:/i)
    })

    test.each(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'])('sends a %s without a body', async (method) => {
      const heads: string[] = []
      const server = await serve(
        answering(({ head }) => {
          heads.push(head)
          // The answer to a HEAD says how long the body would be.
          return httpAnswer(200, { body: 'abc' }).slice(0, method === 'HEAD' ? -3 : undefined)
        }),
      )

      const reply = await send(server, { method })

      expect(heads[0]).toMatch(new RegExp(`^${method} /part`))
      expect(heads[0]).not.toMatch(/transfer-encoding|content-length: [1-9]/i)
      expect([textOf(reply), reply.isBodyCut]).toEqual([method === 'HEAD' ? '' : 'abc', false])
    })

    test.each(['POST', 'PATCH'])(
      'sends a %s with a body, its type and its credential, as calls of the service have',
      async (method) => {
        const requests: Awaited<ReturnType<ScriptedConnection['readRequest']>>[] = []
        const server = await serve(
          answering((request) => {
            requests.push(request)
            return httpAnswer(200)
          }),
        )
        const headers = { 'content-type': 'application/json', authorization: 'Bearer t' }

        await send(server, { method, headers, body: { kind: 'bytes', bytes: new TextEncoder().encode('{"a":1}') } })

        expect(requests.map((request) => [request.method, request.body.toString()])).toEqual([[method, '{"a":1}']])
        expect(Object.fromEntries(requests[0]!.headers)).toMatchObject(headers)
      },
    )

    test('keeps no cookie of an answer for the next request', async () => {
      const heads: string[] = []
      const server = await serve(
        answering(({ head }) => {
          heads.push(head)
          return httpAnswer(200, { headers: ['set-cookie: session=1; path=/'] })
        }),
      )

      for (let request = 0; request < 2; request += 1) await send(server)

      expect(heads[1]).not.toMatch(/cookie/i)
    })

    test.each(['iterated', 'in steps'])(
      'lets a window be refilled as soon as the next is asked for, %s',
      async (way) => {
        const bytes = pattern(3 * MIB)
        const windows = (): PieceSequence => {
          const { step, ...sequence } = refilledWindow(bytes, 40_000)
          return way === 'in steps' ? { step, ...sequence } : sequence
        }
        let received: Buffer = Buffer.alloc(0)
        const server = await serve(
          answering(({ body }) => {
            received = body
            return httpAnswer(200)
          }),
        )

        await send(server, { body: { kind: 'windows', lengthBytes: bytes.byteLength, windows } })

        expect(received.equals(bytes)).toBe(true)
      },
    )

    test('carries fifty requests at once, each with its own bytes and answer', async () => {
      const server = await serve(
        answering(({ path, body }) =>
          httpAnswer(200, { body: `${path} ${String(body.byteLength)} ${String(body[0])}` }),
        ),
      )

      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          rig.transport.send({
            ...requestTo(server),
            url: `${server.origin}/${String(index)}`,
            body: bodyOf('windows', new Uint8Array(20_000 + index).fill(index)),
          }),
        ),
      )

      expect(replies.map((reply) => textOf(reply))).toEqual(
        Array.from({ length: 50 }, (_, index) => `/${String(index)} ${String(20_000 + index)} ${String(index)}`),
      )
    })

    test('rejects with the error of a source that cannot be read', async () => {
      const problem = new Error('the disk is gone')
      async function* windows() {
        yield new Uint8Array(10)
        throw problem
      }
      const server = await serve((connection) => void connection.readToEnd())
      const request = requestTo(server, { body: { kind: 'windows', lengthBytes: 20, windows } })

      await expect(rig.transport.send(request)).rejects.toBe(problem)

      expect(rig.transport.endingOf(request)).toBe('neverWhole')
    })

    test.each([
      ['windows', 'fewer', 9],
      ['windows', 'more', 11],
      ['blob', 'fewer', 9],
      ['blob', 'more', 11],
    ] as const)('refuses a %s body of %s bytes than announced', async (kind, _name, actualBytes) => {
      const server = await serve(async (connection) => {
        // Whoever announces another number is answered, and fails at once instead of when the test's time is over.
        const { headers } = await connection.readHead()
        if (headers.get('content-length') !== '10') await connection.write(httpAnswer(200))
        await connection.readToEnd()
      })
      const body: Body = { ...bodyOf(kind, pattern(actualBytes)), lengthBytes: 10 } as Body

      await expect(send(server, { body })).rejects.toMatchObject({ code: 'ERR_UPLOAD_INTERNAL' })
    })
  })
}
