// What every Transport promises, judged by a real server on a socket. Where platforms differ a trait says how.

import { inspect } from 'node:util'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TransportError } from '../../src/core/errors.ts'
import type { Body, Transport, TransportReply, TransportRequest } from '../../src/core/ports.ts'
import { refusingAddress } from '../helpers/refusing-address.ts'
import {
  answering,
  httpAnswer,
  scriptedServer,
  type ScriptedConnection,
  type ScriptedServer,
} from '../helpers/scripted-server.ts'

/** How a platform's transport differs. */
export interface TransportTraits {
  /** The far end sees a TCP reset when an attempt ends, and the ending is known exactly; else every abort is doubtful. */
  readonly hasReset: boolean
  /** `onSent` comes while the body goes out; else once, with the answer. */
  readonly isProgressLive: boolean
  /** The platform does not say why there is no answer, not even that nobody was there, and forgives bad header lines. */
  readonly isBrowser?: boolean
  /** The platform follows a redirect unseen, and it is found out only by the address that answered. */
  readonly followsRedirects?: boolean
  /** An answer whose connection broke off right behind its head is no answer there. */
  readonly losesBrokenAnswers?: boolean
  /** The platform gives the connection up at a 100 that nobody asked for, as Node's own fetch does. */
  readonly refusesContinue?: boolean
}

const MIB = 1024 * 1024

/** Runs the suite against transports that `create` makes; each test has its own. */
export function transportContract(create: () => Transport, traits: TransportTraits): void {
  let transport: Transport
  const servers: { close(): Promise<void> }[] = []

  beforeEach(() => {
    transport = create()
  })
  afterEach(async () => {
    await transport.close()
    await Promise.all(servers.splice(0).map((server) => server.close()))
  })

  const serve = async (...script: Parameters<typeof scriptedServer>): Promise<ScriptedServer> => {
    const server = await scriptedServer(...script)
    servers.push(server)
    return server
  }
  const send = (server: ScriptedServer, request: Partial<TransportRequest> = {}) =>
    transport.send(requestTo(server, request))

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

      await transport.send({
        ...requestTo(server),
        url: `${server.origin}/bucket/a%20b.mov?X-Amz-Signature=ab%2Fcd&partNumber=7`,
        headers: { 'x-amz-meta-one': 'two words' },
        body: { kind: 'blob', lengthBytes: 3, blob: new Blob(['abc'], { type: 'video/mp4' }) },
      })

      expect(head).toMatch(/^PUT \/bucket\/a%20b\.mov\?X-Amz-Signature=ab%2Fcd&partNumber=7 HTTP\/1\.1\r\n/)
      expect(head).toMatch(/\r\nx-amz-meta-one: two words(\r\n|$)/)
      expect(head).not.toMatch(/content-type|authorization|cookie|expect:/i)
    })

    test('lets a window be refilled as soon as the next one is asked for', async () => {
      const bytes = pattern(3 * MIB)
      const window = new Uint8Array(40_000)
      async function* windows() {
        for (let at = 0; at < bytes.byteLength; at += window.byteLength) {
          const piece = window.subarray(0, Math.min(window.byteLength, bytes.byteLength - at))
          piece.set(bytes.subarray(at, at + piece.byteLength))
          yield piece
          window.fill(0xee)
        }
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
    })

    test('reports bytes sent, never falling, up to the length', async () => {
      const sent: number[] = []
      const server = await serve(answering(() => httpAnswer(200)))

      await send(server, { body: bodyOf('windows', pattern(MIB)), onSent: (bytes) => sent.push(bytes) })

      expect(sent.at(-1)).toBe(MIB)
      expect([...sent].sort((a, b) => a - b)).toEqual(sent)
      expect(sent.filter((bytes) => bytes > 0).length > 1).toBe(traits.isProgressLive)
    })

    test('says of bytes, where it tells live, that they begin to go, and when all have gone', async () => {
      const sent: number[] = []
      const server = await serve(answering(() => httpAnswer(200)))

      await send(server, { body: bodyOf('bytes', pattern(20_000)), onSent: (bytes) => sent.push(bytes) })

      // A browser says it twice: as its last progress and as its end.
      expect([...new Set(sent.filter((bytes) => bytes > 0))]).toEqual([20_000])
      if (traits.isProgressLive && traits.isBrowser !== true) expect(sent[0]).toBe(0)
    })

    test('carries fifty requests at once, each with its own bytes and answer', async () => {
      const server = await serve(
        answering(({ path, body }) =>
          httpAnswer(200, { body: `${path} ${String(body.byteLength)} ${String(body[0])}` }),
        ),
      )

      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          transport.send({
            ...requestTo(server),
            url: `${server.origin}/${String(index)}`,
            body: bodyOf('windows', new Uint8Array(20_000 + index).fill(index)),
          }),
        ),
      )

      expect(replies.map((reply) => text(reply))).toEqual(
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

      await expect(transport.send(request)).rejects.toBe(problem)

      expect(transport.endingOf(request)).toBe('neverWhole')
    })

    test.each([
      ['fewer', 9],
      ['more', 11],
    ])('refuses a body of %s bytes than announced', async (_name, actualBytes) => {
      const server = await serve((connection) => void connection.readToEnd())
      const body: Body = { ...bodyOf('windows', pattern(actualBytes)), lengthBytes: 10 } as Body

      await expect(send(server, { body })).rejects.toMatchObject({ code: 'ERR_UPLOAD_INTERNAL' })
    })
  })

  describe('what comes back', () => {
    test.each([200, 201, 204, 206, 304, 400, 401, 403, 404, 409, 411, 412, 429, 500, 501, 503, 599])(
      'returns status %i as an answer',
      async (status) => {
        const server = await serve(answering(() => httpAnswer(status)))

        await expect(send(server)).resolves.toMatchObject({ status, isBodyCut: false })
      },
    )

    test.each([301, 302, 303, 307, 308])('follows no %i', async (status) => {
      const other = await serve(answering(() => httpAnswer(200)))
      const server = await serve(answering(() => httpAnswer(status, { headers: [`location: ${other.origin}/steal`] })))

      const outcome = await send(server, { body: bodyOf('bytes', pattern(100)) }).catch((error: unknown) => error)

      if (outcome instanceof TransportError) expect(outcome.code).toBe('ERR_UPLOAD_REDIRECT_REFUSED')
      else expect(outcome).toMatchObject({ status })
      if (traits.followsRedirects) expect(outcome).toBeInstanceOf(TransportError)
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
      expect(text(cut)).toBe('x'.repeat(1000))
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

      expect([reply.status, text(reply), reply.isBodyCut]).toEqual([503, page, false])
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
      expect(traits.isBrowser === true ? ['half', ''] : ['half']).toContain(text(reply))
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
        expect([reply.status, text(reply), reply.isBodyCut]).toEqual([200, body, false])
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

        expect([reply.status, text(reply)]).toEqual([200, 'real'])
      },
    )
  })

  describe('aborting', () => {
    test('rejects with the reason itself before anything is sent', async () => {
      const server = await serve(answering(() => httpAnswer(200)))
      const reason = { mine: true }
      const request = requestTo(server, { signal: AbortSignal.abort(reason), body: bodyOf('bytes', pattern(10)) })

      await expect(transport.send(request)).rejects.toBe(reason)

      expect(transport.endingOf(request)).toBe('neverWhole')
      expect(server.connections).toHaveLength(0)
    })

    test('rejects with the reason itself in the middle of the body', async () => {
      const controller = new AbortController()
      const reason = new Error('paused')
      const lengthBytes = 32 * MIB
      let outcome: (value: [number, string]) => void
      const seen = new Promise<[number, string]>((resolve) => (outcome = resolve))
      let goOn: () => void
      const hasRejected = new Promise<void>((resolve) => (goOn = resolve))
      const server = await serve(async (connection) => {
        await connection.readHead()
        const first = await connection.readBytes(MIB)
        controller.abort(reason)
        await hasRejected
        const rest = await connection.readToEnd()
        outcome([first.byteLength + rest.byteLength, await connection.ended])
      })
      const request = requestTo(server, {
        signal: controller.signal,
        body: bodyOf('windows', pattern(lengthBytes), MIB),
      })

      await expect(transport.send(request).finally(() => goOn())).rejects.toBe(reason)

      expect(transport.endingOf(request)).toBe(traits.hasReset ? 'neverWhole' : 'doubtful')
      const [receivedBytes, end] = await seen
      expect(receivedBytes).toBeLessThan(lengthBytes)
      if (traits.hasReset) expect(end).toBe('ECONNRESET')
    })

    test('rejects with the reason itself while the answer is awaited; the body is then doubtful', async () => {
      const controller = new AbortController()
      const reason = 'a string is a reason too'
      let ended: Promise<string> | undefined
      const server = await serve(async (connection) => {
        await connection.readRequest()
        ended = connection.ended
        controller.abort(reason)
        await connection.readToEnd()
      })
      const request = requestTo(server, { signal: controller.signal, body: bodyOf('windows', pattern(MIB)) })

      await expect(transport.send(request)).rejects.toBe(reason)

      expect(transport.endingOf(request)).toBe('doubtful')
      if (traits.hasReset) expect(await ended).toBe('ECONNRESET')
    })

    test('leaves nothing on a signal whose request was answered, where signals are used again', async () => {
      const controller = transport.controllers?.take() ?? new AbortController()
      const server = await serve(answering(() => httpAnswer(200)))
      for (const body of [undefined, bodyOf('bytes', pattern(20_000)), bodyOf('windows', pattern(MIB))])
        await send(server, { signal: controller.signal, ...(body === undefined ? {} : { body }) })
      transport.controllers?.giveBack(controller)

      expect(transport.controllers?.take() ?? controller).toBe(controller)
    })

    test('rejects with the reason itself while the answer arrives', async () => {
      const controller = new AbortController()
      const reason = new Error('enough')
      const server = await serve(async (connection) => {
        await connection.readRequest()
        await connection.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf')
        // The answer is on its way or has arrived: both must do.
        setImmediate(() => controller.abort(reason))
        await connection.readToEnd()
      })

      await expect(send(server, { signal: controller.signal })).rejects.toBe(reason)
    })

    test('leaves other requests alone', async () => {
      const controller = new AbortController()
      let release: () => void = () => undefined
      const isAborted = new Promise<void>((resolve) => (release = resolve))
      const server = await serve(async (connection) => {
        const { path } = await connection.readRequest()
        if (path === '/aborted') controller.abort(new Error('one of two'))
        await isAborted
        await connection.write(httpAnswer(200, { body: path }))
      })
      const kept = transport.send({ ...requestTo(server), url: `${server.origin}/kept` })

      const aborted = transport.send({
        ...requestTo(server, { signal: controller.signal }),
        url: `${server.origin}/aborted`,
      })

      await expect(aborted).rejects.toThrow('one of two')
      release()
      expect(text(await kept)).toBe('/kept')
    })
  })

  describe('no answer', () => {
    test('a refused connection is phase connect and never whole, where the platform tells', async () => {
      const server = await refusingAddress()
      servers.push(server)
      const request = requestTo(server, { body: bodyOf('windows', pattern(100)) })

      const error = await failureOf(transport.send(request))

      const how = traits.isBrowser
        ? { phase: 'answer', ending: 'doubtful' }
        : { phase: 'connect', ending: 'neverWhole' }
      expect(error).toMatchObject({ code: 'ERR_UPLOAD_NETWORK', ...how })
      expect(error.isRetryable).toBe(true)
      expect(error.message).toContain(`127.0.0.1:${String(server.port)}`)
      expect(transport.endingOf(request)).toBe(how.ending)
    })

    test('a reset in the middle of the body is a failure to send', async () => {
      const server = await serve(async (connection) => {
        await connection.readHead()
        await connection.readBytes(MIB)
        connection.reset()
      })
      const request = requestTo(server, { body: bodyOf('windows', pattern(32 * MIB), MIB) })

      const error = await failureOf(transport.send(request))

      expect(error.code).toBe('ERR_UPLOAD_NETWORK')
      expect(error.ending).toBe(traits.hasReset ? 'neverWhole' : 'doubtful')
      expect(transport.endingOf(request)).toBe(error.ending)
      if (traits.hasReset) expect(error.phase).toBe('send')
    })

    test.each(['reset', 'end'] as const)('an answer lost after the last byte (%s) is doubtful', async (how) => {
      const server = await serve(async (connection) => {
        await connection.readRequest()
        connection[how]()
      })
      const request = requestTo(server, { body: bodyOf('windows', pattern(MIB)) })

      const error = await failureOf(transport.send(request))

      expect(error).toMatchObject({ code: 'ERR_UPLOAD_NETWORK', phase: 'answer', ending: 'doubtful' })
      expect(transport.endingOf(request)).toBe('doubtful')
    })

    test('a far end that does not speak HTTP is a failure', async () => {
      const server = await serve(async (connection) => {
        await connection.readRequest()
        await connection.write('SSH-2.0-OpenSSH_9.2\r\n\r\n')
      })

      await expect(failureOf(send(server))).resolves.toMatchObject({ code: 'ERR_UPLOAD_NETWORK', phase: 'answer' })
    })

    test('a URL that is none is refused without being repeated', async () => {
      const request = { ...requestTo({ origin: '' }), url: 'ftp://host/?secret=hush' }

      const error: unknown = await transport.send(request).catch((caught: unknown) => caught)

      expect(error).toMatchObject({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' })
      expect(inspect(error)).not.toContain('hush')
    })

    test('no error holds the path, the query, a header or the body', async () => {
      const refused = await refusingAddress()
      servers.push(refused)
      const resetting = await serve(async (connection) => {
        await connection.readHead()
        connection.reset()
      })
      const babbling = await serve(async (connection) => {
        const { path } = await connection.readHead()
        await connection.write(`HTTP/1.1 200 OK\r\nlocation ${path}\r\n\r\n`)
      })
      const failing = traits.isBrowser ? [refused, resetting] : [refused, resetting, babbling]
      const secret = fc.array(fc.constantFrom('a', 'e', 'k', 'q', 'x', 'z'), { minLength: 12, maxLength: 24 })

      await fc.assert(
        fc.asyncProperty(secret, fc.constantFrom(...failing), async (letters, server) => {
          const hidden = `sec${letters.join('')}`
          const error = await failureOf(
            transport.send({
              ...requestTo(server, { headers: { 'x-api-key': hidden } }),
              url: `${server.origin}/${hidden}?X-Amz-Signature=${hidden}&${hidden}=1`,
              body: bodyOf('bytes', new TextEncoder().encode(hidden)),
            }),
          )

          expect(error.code).toBe('ERR_UPLOAD_NETWORK')
          const shown =
            inspect(error, { depth: Infinity, showHidden: true }) + JSON.stringify(error) + String(error.stack)
          expect(shown).not.toContain(hidden)
        }),
        { numRuns: 30 },
      )
    })
  })

  describe('closing', () => {
    test('ends what is under way and what comes later, and may be repeated', async () => {
      let arrived: () => void = () => undefined
      const hasArrived = new Promise<void>((resolve) => (arrived = resolve))
      const server = await serve(async (connection) => {
        await connection.readRequest()
        arrived()
        await connection.readToEnd()
      })
      const underWay = failureOf(send(server))
      await hasArrived

      await Promise.all([transport.close(), transport.close()])

      expect((await underWay).code).toBe('ERR_UPLOAD_NETWORK')
      expect(await failureOf(send(server))).toMatchObject({ code: 'ERR_UPLOAD_NETWORK', isRetryable: false })
      await transport.close()
    })
  })
}

/** A PUT to a server, without a body unless one is given. */
export function requestTo(
  server: { readonly origin: string },
  request: Partial<TransportRequest> = {},
): TransportRequest {
  return {
    method: 'PUT',
    url: `${server.origin}/part?X-Amz-Signature=5ecre7`,
    headers: {},
    signal: new AbortController().signal,
    ...request,
  }
}

/** Bytes in which a piece that is lost, doubled or moved shows. */
export function pattern(lengthBytes: number): Uint8Array {
  const bytes = new Uint8Array(lengthBytes)
  for (let at = 0; at < lengthBytes; at += 1) bytes[at] = (at * 31 + (at >> 8) * 7 + (at >> 16)) & 0xff
  return bytes
}

/** The same bytes as a body of one kind; windows are slices of them. */
export function bodyOf(kind: Body['kind'], bytes: Uint8Array, windowBytes = 65_536): Body {
  const lengthBytes = bytes.byteLength
  if (kind === 'bytes') return { kind, bytes }
  if (kind === 'blob') return { kind, lengthBytes, blob: new Blob([new Uint8Array(bytes)]) }
  async function* windows() {
    for (let at = 0; at < lengthBytes; at += windowBytes) yield bytes.subarray(at, at + windowBytes)
  }
  return { kind, lengthBytes, windows }
}

/** The TransportError that a promise must reject with. */
export async function failureOf(sending: Promise<TransportReply>): Promise<TransportError> {
  const outcome = await sending.catch((error: unknown) => error)
  if (outcome instanceof TransportError) return outcome
  throw new Error(`Expected a TransportError, got ${inspect(outcome)}`)
}

function text(reply: TransportReply): string {
  return new TextDecoder().decode(reply.body)
}
