// What a request names: its target in the other forms of HTTP, and its host exactly once (RFC 9112, 3.2).

import { once } from 'node:events'
import { connect } from 'node:net'

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { API_KEY, openCaptureSession, register, startUnderTest, type ServiceUnderTest } from '../service-under-test.ts'

let service: ServiceUnderTest
let address: string
beforeAll(async () => {
  service = await startUnderTest({ metricsPort: 0 })
  const { pathname, search } = new URL(
    (await register(service, await openCaptureSession(service), ['a.action']))['a.action']!,
  )
  address = pathname + search
})
afterAll(() => service.close())

/** What is answered to a text until the service closes the connection. */
async function answerTo(text: string, port = service.port): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  let answer = ''
  socket.on('data', (piece: string) => (answer += piece))
  socket.write(text)
  await once(socket, 'close')
  return answer
}

const head = (line: string, ...headers: string[]) => [line, ...headers, 'Connection: close', '', ''].join('\r\n')
const KEY = `x-api-key: ${API_KEY}`
/** The status, and for a refusal its code. */
const gist = (answer: string) => [/^HTTP\/1.1 (\d+)/.exec(answer)?.[1], /"code":"(\w+)"/.exec(answer)?.[1]].join('')

describe('a target with the host before the path', () => {
  it.each([
    ['GET http://elsewhere.example/players', '200'],
    ['GET HTTPS://elsewhere.example:443/requested_analyses?limit=1', '200'],
    ['GET http://elsewhere.example/requested_analyses/1', '404analysis_not_found'],
    ['DELETE http://elsewhere.example/players', '405wrong_method'],
    ['DELETE /%70layers', '405wrong_method'],
    ['GET http://elsewhere.example/nothing', '404not_found'],
    ['GET http://elsewhere.example', '404not_found'],
    ['GET http://elsewhere.example?x=/players', '404not_found'],
    ['OPTIONS http://elsewhere.example', '204'],
  ])('is the path: %s', async (target, expected) => {
    expect(gist(await answerTo(head(`${target} HTTP/1.1`, 'Host: x', KEY)))).toBe(expected)
  })

  it('stores at an address, and says where the metrics are', async () => {
    const line = `PUT http://elsewhere.example${address} HTTP/1.1`
    expect(gist(await answerTo(`${head(line, 'Host: x', 'Content-Length: 2')}hi`))).toBe('200')
    const { port } = new URL(service.metricsUrl!)
    expect(gist(await answerTo(head('GET http://x/metrics?a=1 HTTP/1.1', 'Host: x'), Number(port)))).toBe('200')
  })
})

it('answers nothing but OPTIONS for the service as a whole, which is no path, and not with its page', async () => {
  const root = { contentType: 'text/html', bytes: Buffer.from('<p>the page</p>') }
  const own = await startUnderTest({ page: new Map([['/', root]]) })
  onTestFinished(() => own.close())
  const gistOf = async (line: string) => gist(await answerTo(head(`${line} HTTP/1.1`, 'Host: x'), own.port))

  expect(await gistOf('GET /')).toBe('200')
  expect([await gistOf('GET *'), await gistOf('DELETE *')]).toEqual(['404not_found', '404not_found'])
  expect(await gistOf('OPTIONS *')).toBe('204')
})

describe('a request of HTTP/1.1', () => {
  it.each([
    ['with two hosts', ['Host: x', 'host: x']],
    ['without a host', []],
    ['with a path as its host', ['Host: x/players']],
    ['with a user in its host', ['Host: user@x']],
    ['with two hosts in one line', ['Host: x, y']],
    ['with letters as its port', ['Host: x:http']],
  ])('%s is refused, in words that pages can read, and its connection closed', async (_, hosts) => {
    for (const path of ['/players', '/nothing', address]) {
      const answer = await answerTo(`GET ${path} HTTP/1.1\r\n${[...hosts, KEY, '', ''].join('\r\n')}`)

      expect(gist(answer)).toBe('400invalid_request')
      expect(answer).toMatch(/\r\naccess-control-allow-origin: \*\r\n/)
      expect(answer).toMatch(/\r\nconnection: close\r\n/i)
    }
  })

  it.each(['x', 'uploads.example:8787', '[2001:db8::1]:80', '[fe80::1%25eth0]', '127.0.0.1', 'a_b-c.example:', ''])(
    'is answered where its host is "%s"',
    async (host) => {
      expect(gist(await answerTo(head('GET /players HTTP/1.1', `Host: ${host}`, KEY)))).toBe('200')
    },
  )
})

it('needs no host in HTTP/1.0', async () => {
  expect(gist(await answerTo(`GET /players HTTP/1.0\r\n${KEY}\r\n\r\n`))).toBe('200')
})
