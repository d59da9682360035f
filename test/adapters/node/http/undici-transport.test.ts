// The transport over undici: the contract of a transport, and what goes out over real sockets.

import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { descriptors } from '../../../../src/adapters/node/descriptors.ts'
import { undiciTransport, undiciTransportOn } from '../../../../src/adapters/node/http/undici-transport.ts'
import type { PieceSequence } from '../../../../src/core/ports.ts'
import { transportContract } from '../../../../src/testing/transport-contract.ts'
import { bodyOf, pattern, refilledWindow, requestTo } from '../../../../src/testing/transport/requests.ts'
import { answering, httpAnswer } from '../../../../src/testing/scripted-server.ts'
import { MIB, open, make, serve, closeAfterEach } from './undici-rig.ts'

closeAfterEach()

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
    let received: Buffer | undefined
    const server = await serve(
      answering(({ body }) => {
        received = body
        return httpAnswer(200)
      }),
    )
    const iterate = (): never => {
      throw new Error('Whoever takes steps does not iterate.')
    }
    const windows = () => ({ ...refilledWindow(bytes, windowBytes), [Symbol.asyncIterator]: iterate })
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

  test.each([
    ['would break the request', { 'x-name': 'a\r\nhush: b' }],
    ['asks for what is not done', { expect: 'hush' }],
  ])('refuses a header that %s, without repeating it', async (_what, headers) => {
    const server = await serve(() => undefined)
    const request = requestTo(server, { headers })

    const error: unknown = await make()
      .send(request)
      .catch((caught: unknown) => caught)

    expect(error).toMatchObject({
      code: 'ERR_UPLOAD_INVALID_ARGUMENT',
      message: 'The method or a header of the request cannot be sent',
    })
    expect(inspect(error, { depth: Infinity })).not.toContain('hush')
  })

  test('gives the connection back of a request that has no headers, as a protocol in plain JavaScript may make one', async () => {
    const server = await serve(answering(() => httpAnswer(200)))
    const transport = make({ maxConnectionsPerHost: 1 })

    await expect(transport.send({ ...requestTo(server), headers: undefined as never })).rejects.toThrow(TypeError)

    expect((await transport.send(requestTo(server))).status).toBe(200)
    expect(server.connections).toHaveLength(2)
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
