// What Node's parser or the router refuses before any route sees it: a page must still learn the status.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { answerUnreadable } from '../../../src/service/http/unreadable-requests.ts'
import { startUnderTest, type ServiceUnderTest } from '../service-under-test.ts'

let service: ServiceUnderTest
const logLines: string[] = []
beforeAll(async () => {
  service = await startUnderTest({ log: { write: (line) => void logLines.push(line) } })
})
afterAll(() => service.close())

it.each([
  ['a header without a colon', 400, 'GET /players HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n'],
  ['no HTTP', 400, 'hello\r\n\r\n'],
  ['headers of 20 kB', 431, `GET /players HTTP/1.1\r\nHost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`],
  [
    'a path that cannot be decoded',
    400,
    'GET /requested_analyses/%E0%A4 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  ],
  [
    'an id of 300 letters',
    414,
    `GET /requested_analyses/${'x'.repeat(300)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  ],
])('answers %s with a status that pages can read, and in the words of the service', async (_, status, text) => {
  const socket = connect(service.port, '127.0.0.1').on('error', () => undefined)
  let answer = ''
  socket.on('data', (bytes: Buffer) => (answer += bytes.toString()))

  socket.write(text)
  await once(socket, 'close')

  const [head = '', body = ''] = answer.split('\r\n\r\n')
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(head).toContain('access-control-allow-origin: *')
  expect(JSON.parse(body)).toEqual({
    error: { code: 'invalid_request', message: 'The path or a header is malformed.' },
  })
})

it('answers a head that came too slowly with 408, after which a client tries again, as it does not after 400', () => {
  const heard: string[] = []
  const socket = { writable: true, write: (text: string) => heard.push(text), destroy: () => heard.push('closed') }

  answerUnreadable({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket as unknown as Socket, false)

  expect(heard).toEqual([expect.stringMatching(/^HTTP\/1.1 408 Request Timeout\r\n/), 'closed'])
})

it('tells no failure of its own where a body that cannot be read has ended the connection', async () => {
  const socket = connect(service.port, '127.0.0.1').on('error', () => undefined)
  socket.resume()
  socket.write('POST /player_group_segments HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n')
  await once(socket, 'close')
  await service.call('GET', '/players')

  expect(logLines.filter((line) => line.includes('a call failed'))).toEqual([])
})
