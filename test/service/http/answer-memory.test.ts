// The memory that answers have in common until they are read, and what becomes of those that find none.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

import fastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'

import { createAnswerMemory } from '../../../src/service/http/answer-memory.ts'
import type { Refusal } from '../../../src/service/http/replies.ts'
import { API_KEY, openCaptureSession, startUnderTest } from '../service-under-test.ts'

/** A quarter of the memory that a server below has. */
const LARGE = 'x'.repeat(40_000_000)

/** A server whose answers have 160 MB, and what it has made. */
async function startServer() {
  const made: string[] = []
  const app = fastify()
  const memory = createAnswerMemory(0)
  app.decorateRequest('caller', null)
  app.addHook('onRequest', (request, _reply, done) => {
    request.caller = { orgId: String(request.headers['x-org']), isDevelopment: false }
    done()
  })
  app.setErrorHandler((error: Refusal, _request, reply) => reply.code(error.status).send(error.code))
  memory.attach(app)
  app.get('/list', (_request, reply) => reply.send(LARGE))
  app.post('/work', (_request, reply) => {
    made.push('work')
    return reply.send(LARGE)
  })
  app.post('/addresses', (_request, reply) => {
    memory.expectAddresses(reply, 100_000)
    made.push('addresses')
    return reply.send('addresses')
  })
  onTestFinished(() => app.close())
  const url = new URL(await app.listen({ port: 0 }))
  /** A call whose answer nobody reads beyond its head. */
  const ask = async (what: string, org = 'a'): Promise<{ socket: Socket; head: string }> => {
    const socket = connect(Number(url.port), url.hostname).on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    socket.write(`${what} HTTP/1.1\r\nHost: x\r\nx-org: ${org}\r\nContent-Length: 0\r\n\r\n`)
    await Promise.race([once(socket, 'readable'), once(socket, 'close')])
    return { socket, head: String(socket.read(12) ?? '') }
  }
  return { made, ask }
}

it('gives a list when there is memory for it again, and until then says so', async () => {
  const { ask } = await startServer()
  const four = [await ask('GET /list'), await ask('GET /list'), await ask('GET /list'), await ask('GET /list')]

  expect(four.map(({ head }) => head)).toEqual(Array.from({ length: 4 }, () => 'HTTP/1.1 200'))
  expect((await ask('GET /list')).head).toBe('HTTP/1.1 503')
  four[0]!.socket.destroy()

  await expect.poll(async () => (await ask('GET /list')).head).toBe('HTTP/1.1 200')
})

it('makes no addresses for which there is no memory, and says nothing false of work that is done', async () => {
  const { ask, made } = await startServer()
  for (let count = 0; count < 4; count += 1) await ask('GET /list')

  expect((await ask('POST /addresses')).head).toBe('HTTP/1.1 503')
  expect(made).toEqual([])
  expect((await ask('POST /work')).head).toBe('')
  expect(made).toEqual(['work'])
})

it('takes it from the organisation that holds the most', async () => {
  const { ask } = await startServer()
  const four = [await ask('GET /list'), await ask('GET /list'), await ask('GET /list'), await ask('GET /list')]
  const closed = once(four[3]!.socket.resume(), 'close')

  expect((await ask('GET /list', 'b')).head).toBe('HTTP/1.1 200')
  await closed
})

it('is used up by creates under way, and free once their callers leave', async () => {
  const service = await startUnderTest({ limits: { bodyBytes: 20_000 } })
  onTestFinished(() => service.close())
  const session_id = await openCaptureSession(service)
  const file = { raw_file_name: 'a.mp4', file_size_bytes: 10_000_000, number_of_chunks: 10_000 }
  const rest = { movement_type_id: 1, player_id: 'p-17', session_date: '2026-11-20', session_type_id: 2 }
  const largest = JSON.stringify({ files: Array.from({ length: 10 }, () => file), ...rest })
  const four = Array.from({ length: 4 }, () => {
    const socket = connect(service.port, '127.0.0.1').on('error', () => undefined)
    socket.write(
      `POST /upload_videos HTTP/1.1\r\nHost: x\r\nx-api-key: ${API_KEY}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${largest.length}\r\n\r\n${largest}`,
    )
    return socket
  })
  const create = () =>
    service.call('POST', '/upload_videos', { files: [{ ...file, number_of_chunks: 1_000 }], ...rest })
  const filenames = Array.from({ length: 1_000 }, (_, index) => `${index}.action`)
  const register = () => service.call('POST', '/mocap_session_file', { session_id, filenames })

  await expect.poll(async () => (await create()).status).toBe(503)
  const refused = await register()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect((await service.call('GET', '/players')).status).toBe(200)
  for (const socket of four) socket.destroy()

  await expect.poll(async () => (await register()).status).toBe(200)
})
