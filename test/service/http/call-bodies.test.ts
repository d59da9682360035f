// The memory that the bodies of calls have in common: a caller hears that it is used up, and has it back.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

import { describe, expect, it, onTestFinished } from 'vitest'

import type { ServiceOptions } from '../../../src/service/index.ts'
import { API_KEY, startUnderTest, type ServiceUnderTest } from '../service-under-test.ts'

const KIB = 1024

describe('a service that takes bodies of 1 MiB', () => {
  const BODY_BYTES = 1024 * KIB

  async function start(options: ServiceOptions = {}): Promise<ServiceUnderTest> {
    const service = await startUnderTest({ limits: { bodyBytes: BODY_BYTES }, ...options })
    onTestFinished(() => service.close())
    return service
  }

  /** A call whose body lacks its last byte. With `Expect`, once the service has begun to read it. */
  async function begin(service: ServiceUnderTest, bytes: number, expect = ''): Promise<Socket> {
    const socket = connect(service.port, '127.0.0.1')
      .setEncoding('utf8')
      .on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    socket.write(
      `POST /player_group_segments HTTP/1.1\r\nHost: x\r\nx-api-key: ${API_KEY}\r\n${expect}` +
        `Content-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`,
    )
    if (expect !== '') await once(socket, 'data')
    socket.write(`{${' '.repeat(bytes - 2)}`)
    return socket
  }

  const beginFour = (service: ServiceUnderTest) =>
    Promise.all(Array.from({ length: 4 }, () => begin(service, BODY_BYTES, 'Expect: 100-continue\r\n')))

  const answerOn = async (socket: Socket) => String((await once(socket, 'data'))[0])

  it('holds four of them unfinished and says to others when to try again; small ones are taken', async () => {
    const service = await start()
    const four = await beginFour(service)

    const refused = await answerOn(await begin(service, BODY_BYTES))

    expect(refused).toMatch(/^HTTP\/1.1 503 [^]*\r\nretry-after: 1\r\n/)
    expect(refused).toContain('"code":"unavailable","message":"The service has no memory left for large bodies.')
    const small = await begin(service, 1_000)
    small.write('}')
    expect(await answerOn(small)).toMatch(/^HTTP\/1.1 200 /)
    for (const socket of four) {
      socket.write('}')
      expect(await answerOn(socket)).toMatch(/^HTTP\/1.1 200 /)
    }
  })

  it('has the memory back of those whose connection ends while their call is worked on', async () => {
    const rule = { operation: 'createSegment', times: 4, fault: { loseReply: 'close' } } as const
    const service = await start({ faults: { rules: [rule] } })
    for (const socket of await beginFour(service)) {
      socket.write('}')
      await once(socket, 'close')
    }

    const next = await begin(service, BODY_BYTES)
    next.write('}')

    expect(await answerOn(next)).toMatch(/^HTTP\/1.1 200 /)
  })

  it('takes the next call of the connection on which it refused a body', async () => {
    const service = await start()
    await beginFour(service)
    const socket = await begin(service, BODY_BYTES)
    expect(await answerOn(socket)).toMatch(/^HTTP\/1.1 503 /)

    socket.write('}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')

    expect(await answerOn(socket)).toMatch(/^HTTP\/1.1 200 /)
  })

  it.each(['leaves', 'is answered'])('has the memory back of one who %s', async (how) => {
    const service = await start()
    const four = await beginFour(service)
    expect(await answerOn(await begin(service, BODY_BYTES))).toMatch(/^HTTP\/1.1 503 /)

    for (const socket of four) {
      if (how === 'leaves') socket.destroy()
      else socket.write('}')
    }

    await expect
      .poll(async () => {
        const next = await begin(service, BODY_BYTES)
        next.write('}')
        return answerOn(next)
      })
      .toMatch(/^HTTP\/1.1 200 /)
  })
})
