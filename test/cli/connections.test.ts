// How the CLI reaches a service: certificates of its own, and the proxy that the environment names.

import { createServer } from 'node:https'
import { createServer as createProxy } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'

import { refusingAddress } from '../../src/testing/refusing-address.ts'
import { localhostCertificate, localhostKey } from '../helpers/localhost-certificate.ts'
import { installCli } from './cli-under-test.ts'
import type { CliUnderTest } from './cli-under-test.ts'

let cli: CliUnderTest
let url: string
const server = createServer({ key: localhostKey, cert: localhostCertificate }, (request, response) => {
  const { method, url: path } = request
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ method, path, key: request.headers['x-api-key'] }))
})

beforeAll(async () => {
  cli = await installCli()
  await writeFile(join(cli.folder, 'ca.pem'), localhostCertificate)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://localhost:${(server.address() as AddressInfo).port}/base`
})
afterAll(async () => {
  await cli.remove()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

it('trusts the certificates of --ca-file, and no others without it', async () => {
  const env = { MOCAP_BASE_URL: url, MOCAP_API_KEY: 'key-1' }

  const trusted = await cli.run(['api', 'GET', '/players', '--ca-file', 'ca.pem'], env)
  const refused = await cli.run(['api', 'GET', '/players'], env)

  expect(trusted).toEqual({ code: 0, stderr: '', stdout: '{"method":"GET","path":"/base/players","key":"key-1"}\n' })
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  // On a busy machine the three tries take so long that the wait is told too.
  expect(refused.stderr).toMatch(/^(waiting: [^\n]*\n)?error: [^\n]*certificate[^\n]*--ca-file[^\n]*\n$/i)
})

it('goes through HTTPS_PROXY, and around it for hosts of NO_PROXY', async () => {
  const tunnels: string[] = []
  const proxy = createProxy().on('connect', (request, socket) => {
    tunnels.push(String(request.url))
    const far = connect(Number(new URL(url).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      far.pipe(socket).pipe(far)
    })
    for (const end of [far, socket]) end.on('error', () => end.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const HTTPS_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const env = { MOCAP_BASE_URL: url, MOCAP_API_KEY: 'key-1', HTTPS_PROXY }
  const call = ['api', 'GET', '/players', '--ca-file', 'ca.pem']

  const through = await cli.run(call, env)
  const throughCount = tunnels.length
  const around = await cli.run(call, { ...env, NO_PROXY: 'localhost' })
  proxy.close()

  expect([through.code, around.code]).toEqual([0, 0])
  expect({ throughCount, tunnels }).toEqual({ throughCount: 1, tunnels: [new URL(url).host] })
})

it.each([
  [['api', 'GET', '/players']],
  [['analysis', 'list']],
  [['analysis', 'create', '--name', 'Night game', '--primary', '1']],
])('names a proxy at which nobody is, and not the service that is behind it: %j', async (command) => {
  const { port, close } = await refusingAddress()
  onTestFinished(close)
  const env = { MOCAP_BASE_URL: url, MOCAP_API_KEY: 'key-1', HTTPS_PROXY: `http://ana:word@127.0.0.1:${port}` }

  const { code, stderr } = await cli.run(command, env)

  expect(code).toBe(1)
  expect(stderr).toContain(` in 3 attempts. The proxy 127.0.0.1:${port} could not be used for ${new URL(url).host}: `)
  expect(stderr).not.toMatch(/base URL|word@/)
})

it('says of an answer whose numbers it cannot show as they are that it shows others', async () => {
  const plain = createProxy((_, response) => response.end('{"id":12345678901234567890,"count":2}'))
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void plain.close())
  const { port } = plain.address() as AddressInfo
  const env = { MOCAP_BASE_URL: `http://127.0.0.1:${port}`, MOCAP_API_KEY: 'key-1' }
  const warning = 'warning: numbers beyond 2^53 are shown rounded: their last digits are wrong.\n'

  expect(await cli.run(['api', 'GET', '/big'], env)).toMatchObject({ code: 0, stderr: warning })
  expect(await cli.run(['analysis', 'get', '7', '--json'], env)).toMatchObject({ code: 0, stderr: warning })
})
