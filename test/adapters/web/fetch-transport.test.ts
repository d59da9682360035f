import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { fetchTransport } from '../../../src/adapters/web/fetch-transport.ts'
import { transportContract } from '../../../src/testing/transport-contract.ts'
import { requestTo } from '../../../src/testing/transport/requests.ts'

transportContract('fetchTransport', () => fetchTransport(), {
  ...{ hasReset: false, isProgressLive: false, refusesContinue: true },
})

describe('fetchTransport', () => {
  test('says that its progress is not live', () => {
    expect(fetchTransport().isProgressLive).toBe(false)
  })

  test('refuses a redirect that the platform hides', async () => {
    // What a page gets for `redirect: 'manual'`: status 0 and no headers.
    const opaque = Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' })
    const transport = fetchTransport({ fetch: () => Promise.resolve(opaque) })

    await expect(transport.send(requestTo({ origin: 'https://storage.example' }))).rejects.toMatchObject({
      code: 'ERR_UPLOAD_REDIRECT_REFUSED',
      message: 'storage.example:443 answered with a redirect, which is not followed',
      isRetryable: false,
    })
  })

  test('tells nothing of what a fetch that throws at once says: it may name the address', async () => {
    const request = requestTo({ origin: 'https://storage.example' })
    const transport = fetchTransport({
      fetch: () => {
        throw new TypeError(`cannot fetch ${request.url}`)
      },
    })

    await expect(transport.send(request)).rejects.toMatchObject({
      code: 'ERR_UPLOAD_NETWORK',
      message: 'No answer came from storage.example:443',
    })
  })

  test.each(['https://storage.example/?X-Amz-Signature=abc', 'E'.repeat(65), 7])(
    'tells no code of the platform that is none: %s',
    async (code) => {
      const cause = Object.assign(new Error('no'), { code })
      const transport = fetchTransport({ fetch: () => Promise.reject(new TypeError('fetch failed', { cause })) })

      await expect(transport.send(requestTo({ origin: 'https://storage.example' }))).rejects.toMatchObject({
        message: 'No answer came from storage.example:443',
        ending: 'doubtful',
      })
    },
  )

  test('reads no further than the answer may be long, and leaves no listener', async () => {
    let isCancelled = false
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(9)),
      cancel: () => void (isCancelled = true),
    })
    const transport = fetchTransport({ fetch: () => Promise.resolve(new Response(stream)) })
    const { signal } = new AbortController()
    const request = { ...requestTo({ origin: 'https://storage.example' }), signal, maxReplyBytes: 4 }

    expect(await transport.send(request)).toMatchObject({ body: new Uint8Array(4), isBodyCut: true })
    expect([isCancelled, getEventListeners(signal, 'abort')]).toEqual([true, []])
  })

  test('gives no answer whose body was still being read when the attempt was given up', async () => {
    const attempt = new AbortController()
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => attempt.signal.addEventListener('abort', () => controller.error(attempt.signal.reason)),
    })
    const transport = fetchTransport({ fetch: () => Promise.resolve(new Response(stream)) })
    const sending = transport.send({ ...requestTo({ origin: 'https://storage.example' }), signal: attempt.signal })
    await new Promise(setImmediate)
    attempt.abort('paused')

    await expect(sending).rejects.toBe('paused')
  })

  test('takes memory for what an answer holds, not for what it may hold', async () => {
    const pieces = ['two ', 'pieces']
    let heldBytes = 0
    const beforeBytes = process.memoryUsage().arrayBuffers
    const stream = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          heldBytes = process.memoryUsage().arrayBuffers - beforeBytes
          const piece = pieces.shift()
          if (piece === undefined) controller.close()
          else controller.enqueue(new TextEncoder().encode(piece))
        },
      },
      { highWaterMark: 0 },
    )
    const transport = fetchTransport({ fetch: () => Promise.resolve(new Response(stream)) })

    const { body, isBodyCut } = await transport.send({
      ...requestTo({ origin: 'https://storage.example' }),
      maxReplyBytes: 2 ** 26,
    })

    expect([new TextDecoder().decode(body), isBodyCut]).toEqual(['two pieces', false])
    expect(heldBytes).toBeLessThan(2 ** 25)
  })

  test('asks for no credentials, no cache, no referrer and no redirects', async () => {
    let asked: RequestInit | undefined
    const transport = fetchTransport({
      fetch: (_url, init) => {
        asked = init
        return Promise.resolve(new Response())
      },
    })

    await transport.send(requestTo({ origin: 'https://storage.example' }))

    expect(asked).toMatchObject({
      credentials: 'omit',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
      redirect: 'manual',
    })
  })
})
