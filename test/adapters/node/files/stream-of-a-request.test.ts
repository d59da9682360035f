// A server that passes on what a person sends to it: the request is the stream, and has to be answered whatever becomes of the upload.

import { once } from 'node:events'
import { createServer, request, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { counting } from '../../../../src/testing/source/contents.ts'
import { spooledStreams } from '../spooled-streams.ts'

describe('a request that a server passes on', () => {
  const { sourceOf } = spooledStreams()
  const server = createServer()
  let sending: ClientRequest
  let answer: Promise<IncomingMessage>
  let received: IncomingMessage
  let response: ServerResponse

  beforeEach(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    sending = request({ port, host: '127.0.0.1', method: 'PUT', path: '/take-7.mp4' }).on('error', () => undefined)
    answer = once(sending, 'response').then(([reply]) => reply as IncomingMessage)
    answer.catch(() => undefined)
    const coming = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>
    sending.write(counting(5))
    ;[received, response] = await coming
  })
  afterEach(async () => {
    sending.destroy()
    await new Promise((resolve) => server.close(resolve))
  })

  /** What the person is answered, although more is still to be sent. */
  async function answered(): Promise<number | undefined> {
    response.writeHead(502).end()
    return (await answer).statusCode
  }

  it('can be answered after the upload was given up before it was looked at', async () => {
    await sourceOf(received).dispose?.()

    expect(await answered()).toBe(502)
  })

  it.each([undefined, 2 ** 24])(
    'can be answered after the upload failed in its middle, and the rest is thrown away (%s bytes announced)',
    async (sizeBytes) => {
      const source = sourceOf(received, sizeBytes)
      const looking = source.describe().catch(() => undefined)
      if (sizeBytes !== undefined) await (await source.open({ sizeBytes })).read(new Uint8Array(5), 0)
      await source.dispose?.()
      await looking

      expect(await answered()).toBe(502)
      const ended = once(received, 'end')
      // More than any buffer on the way holds.
      sending.end(new Uint8Array(2 ** 24))
      await ended
    },
  )

  it('is not taken for the answer that a client gets, which is ended: nobody wants the rest of it', async () => {
    response.writeHead(200).write(counting(5))
    const reply = await answer

    await sourceOf(reply).dispose?.()

    expect(reply.destroyed).toBe(true)
  })

  it('whose sender has gone is told as a stream that failed', async () => {
    const describing = sourceOf(received).describe()

    sending.destroy()

    await expect(describing).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ' })
  })
})
