import { describe, expect, it } from 'vitest'
import { wasDoubtful } from '../../src/core/errors.ts'
import { answerNext, clientUnderTest, rejection } from './client-under-test.ts'

describe('the base URL', () => {
  it.each([
    ['https://service.example', 'https://service.example/players'],
    ['https://service.example/', 'https://service.example/players'],
    ['https://service.example:8443/api/v2//', 'https://service.example:8443/api/v2/players'],
    ['http://localhost:8787', 'http://localhost:8787/players'],
    ['http://127.0.0.1:8787', 'http://127.0.0.1:8787/players'],
    ['http://127.8.9.1', 'http://127.8.9.1/players'],
    ['http://[::1]:8787/', 'http://[::1]:8787/players'],
  ])('%s', async (baseUrl, url) => {
    const subject = clientUnderTest({ baseUrl })
    const result = subject.client.call('GET', '/players')
    const request = await subject.transport.next()
    request.reply({ status: 200, body: [] })
    await result

    expect(request.url).toBe(url)
  })

  it.each([
    ['http://service.example', 'ERR_UPLOAD_INSECURE_URL'],
    ['http://127.evil.example', 'ERR_UPLOAD_INSECURE_URL'],
    ['http://localhost.evil.example', 'ERR_UPLOAD_INSECURE_URL'],
    ['http://10.0.0.1', 'ERR_UPLOAD_INSECURE_URL'],
    ['http://[::2]', 'ERR_UPLOAD_INSECURE_URL'],
    ['https://user:hunter22@service.example', 'ERR_UPLOAD_INVALID_ARGUMENT'],
    ['https://hunter22@service.example', 'ERR_UPLOAD_INVALID_ARGUMENT'],
    ['https://:hunter22@service.example', 'ERR_UPLOAD_INVALID_ARGUMENT'],
    ['https://service.example/?key=hunter22', 'ERR_UPLOAD_INVALID_ARGUMENT'],
    ['https://service.example?', 'ERR_UPLOAD_INVALID_ARGUMENT'],
    ['https://service.example/#a', 'ERR_UPLOAD_INVALID_ARGUMENT'],
    ['ftp://service.example', 'ERR_UPLOAD_INVALID_ARGUMENT'],
    ['service.example', 'ERR_UPLOAD_INVALID_ARGUMENT'],
    ['', 'ERR_UPLOAD_INVALID_ARGUMENT'],
  ])('%s is %s', (baseUrl, code) => {
    expect(() => clientUnderTest({ baseUrl })).toThrow(
      expect.objectContaining({ code, message: expect.not.stringContaining('hunter22') as string }) as Error,
    )
  })

  it('of another scheme is told which one is needed', () => {
    expect(() => clientUnderTest({ baseUrl: 'ftp://service.example' })).toThrow('must begin with https://')
  })

  it('of a service on this machine, without a scheme, is not sent to https alone, which that service may not speak', () => {
    expect(() => clientUnderTest({ baseUrl: 'localhost:8787' })).toThrow('http:// to this machine')
  })

  it('may be plain HTTP where that is allowed', () => {
    expect(() => clientUnderTest({ baseUrl: 'http://service.example', isHttpAllowed: true })).not.toThrow()
  })
})

describe('a free call', () => {
  it('sends JSON and gives status and data back', async () => {
    const subject = clientUnderTest()
    const result = subject.client.call('post', '/players', { data: { name: 'Ann' }, query: { dry: true } })
    const request = await subject.transport.next()
    request.reply({ status: 201, body: { id: 8 } })

    expect([request.method, request.url, await request.bodyText()]).toStrictEqual([
      'POST',
      'https://service.example/players?dry=true',
      '{"name":"Ann"}',
    ])
    expect(await result).toStrictEqual({ status: 201, data: { id: 8 } })
  })

  it('has no data for an empty reply', async () => {
    const subject = clientUnderTest()
    const result = subject.client.call('DELETE', '/players/8')
    await answerNext(subject, { status: 204 })

    expect(await result).toStrictEqual({ status: 204, data: undefined })
  })

  it.each([
    ['POST', 1],
    ['PATCH', 2],
    ['PUT', 2],
    ['DELETE', 2],
    ['GET', 2],
  ])('%s is tried %i times when the first has no answer', async (method, tries) => {
    const subject = clientUnderTest()
    const outcome = subject.client.call(method, '/players').catch((error: unknown) => error)
    ;(await subject.transport.next()).fail({ phase: 'answer' })
    await subject.clock.advance(250)
    if (subject.transport.waitingCount > 0) await answerNext(subject, { status: 200, body: 1 })
    await outcome

    expect(subject.transport.sent).toHaveLength(tries)
  })

  it.each([
    ['GET', 'players'],
    ['GET', ''],
    ['GET', '//evil.example/x'],
    ['GET', '/\\evil.example'],
    ['GET', '/\t/evil.example'],
    ['GET', 'https://evil.example'],
    ['GET', '/a/../b'],
    ['GET', '/a/%2E%2e/b'],
    ['GET', '/a/.'],
    ['GET', '/a?b=c'],
    ['GET', '/a#b'],
    ['GET', '/a b'],
    ['TRACE', '/a'],
    ['GET /', '/a'],
    ['__proto__', '/a'],
  ])('refuses %s %j and sends nothing', async (method, path) => {
    const subject = clientUnderTest({ baseUrl: 'https://service.example/api' })

    expect(await rejection(subject.client.call(method, path))).toMatchObject({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' })
    expect(subject.transport.sent).toHaveLength(0)
  })

  it('refuses a GET with data, which would be left out', async () => {
    const subject = clientUnderTest()

    expect(await rejection(subject.client.call('get', '/players', { data: { name: 'Ann' } }))).toMatchObject({
      code: 'ERR_UPLOAD_INVALID_ARGUMENT',
    })
    expect(subject.transport.sent).toHaveLength(0)
  })

  it.each([
    ['POST', true],
    ['DELETE', true],
    ['GET', false],
  ])(
    'takes no answer that is neither empty nor JSON, and says of a %s whether it may be done: %s',
    async (verb, may) => {
      const subject = clientUnderTest()
      const failure = rejection(subject.client.call(verb, '/players'))
      await answerNext(subject, { status: 200, body: 'done' })

      const error = await failure
      expect(error).toMatchObject({ code: 'ERR_UPLOAD_SERVICE_REPLY', details: { operation: `${verb} /players` } })
      expect(wasDoubtful(error)).toBe(may)
    },
  )

  it.each([[() => 1], [Symbol('x')], [1n]])('refuses data that JSON cannot say', async (data) => {
    const subject = clientUnderTest()

    expect(await rejection(subject.client.call('POST', '/a', { data }))).toMatchObject({
      code: 'ERR_UPLOAD_INVALID_ARGUMENT',
    })
  })
})
