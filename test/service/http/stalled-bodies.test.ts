// Real time: sockets on which nothing comes any more. The limit is 500 ms here.

import { once } from 'node:events'
import { connect } from 'node:net'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { API_KEY, startUnderTest, type ServiceUnderTest } from '../service-under-test.ts'

let service: ServiceUnderTest
beforeAll(async () => {
  service = await startUnderTest({ bodyIdleMs: 500 })
})
afterAll(() => service.close())

it.each([
  ['an operation', '/mocap_session', `x-api-key: ${API_KEY}\r\n`],
  ['no operation, without a credential', '/nowhere', ''],
])('ends a call to %s whose body stops coming', async (_, path, credential) => {
  const socket = connect(service.port, '127.0.0.1').on('error', () => undefined)
  await once(socket, 'connect')

  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${credential}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"half`,
  )
  socket.resume()

  await expect(once(socket, 'close')).resolves.toBeDefined()
})
