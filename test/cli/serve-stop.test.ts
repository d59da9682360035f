// `serve` under a supervisor: SIGTERM makes it unready, what is in flight is finished, and the exit code is 0.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'

import { installCli, jsonLines } from './cli-under-test.ts'
import type { CliProcess, CliUnderTest } from './cli-under-test.ts'

let cli: CliUnderTest
beforeAll(async () => {
  cli = await installCli()
})
afterAll(() => cli.remove())

interface Serving {
  readonly serve: CliProcess
  readonly url: string
  readonly metricsUrl: string
  /** A PUT of four bytes, two of which the service has. */
  readonly upload: ClientRequest
  readonly answered: Promise<IncomingMessage>
}

/** A service in the middle of a PUT. */
async function serving(...args: string[]): Promise<Serving> {
  const env = { MOCAP_API_KEY: 'key-of-the-test' }
  const place = ['--port', '0', '--metrics-port', '0', '--data', join(cli.folder, 'data')]
  const serve = cli.start(['serve', ...place, '--json', ...args], env)
  onTestFinished(async () => {
    serve.process.kill('SIGKILL')
    await serve.ended
  })
  let text = ''
  serve.process.stdout!.on('data', (chunk: string) => (text += chunk))
  await serve.seen(/"listening".*\n/)
  const { url, metricsUrl } = jsonLines(text)[0] as unknown as { url: string; metricsUrl: string }
  const call = async (path: string, body: object) => {
    const headers = { 'x-api-key': env.MOCAP_API_KEY, 'content-type': 'application/json' }
    const reply = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await reply.json()) as Record<string, string>
  }
  const session = { org_id: 'o', mocap_type_id: 2, session_date: '2026-11-20', session_type_id: 1 }
  const { id } = await call('/mocap_session', session)
  const address = (await call('/mocap_session_file', { session_id: id, filenames: ['a.action'] }))['a.action']!
  const upload = request(address, { method: 'PUT', headers: { 'content-length': '4', expect: '100-continue' } })
  const answered = once(upload, 'response').then(([answer]) => (answer as IncomingMessage).resume())
  upload.write('ab')
  await once(upload, 'continue')
  return { serve, url, metricsUrl, upload, answered }
}

/** The URL of a database that takes connections and never answers, and what settles with the first one. */
async function silentDatabase(): Promise<{ readonly DATABASE_URL: string; readonly asked: Promise<unknown> }> {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { DATABASE_URL: `postgres://u:p@127.0.0.1:${String(port)}/d`, asked: once(server, 'connection') }
}

it('says at once that it stops while it still starts, and ends at the second signal', async () => {
  const { DATABASE_URL, asked } = await silentDatabase()
  const serve = cli.start(['serve', '--port', '0', '--data', join(cli.folder, 'data-1')], { DATABASE_URL })
  onTestFinished(() => void serve.process.kill('SIGKILL'))
  await asked

  serve.process.kill('SIGINT')
  await serve.seen(/^Starting the service …\nStopping …\n$/)
  serve.process.kill('SIGTERM')

  expect(await serve.ended).toMatchObject({ code: 143, stdout: 'Starting the service …\nStopping …\n' })
})

it('stops if its parent dies while it still starts', async () => {
  const { DATABASE_URL, asked } = await silentDatabase()
  const child = spawn(process.execPath, [cli.entry, 'serve', '--port', '0', '--data', join(cli.folder, 'data-2')], {
    env: { PATH: '', DATABASE_URL },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await asked

  child.disconnect()

  let said = ''
  for await (const text of child.stdout!.setEncoding('utf8')) {
    said += String(text)
    if (said.includes('Stopping')) break
  }
  expect(said).toBe('Starting the service …\nStopping …\n')
})

it('is unready from SIGTERM on, and finishes what is in flight, for as long as --stop-delay says', async () => {
  const { serve, url, metricsUrl, upload, answered } = await serving('--stop-delay', '1h')
  const readiness = async () => {
    const reply = await fetch(`${url}/readyz`)
    return [reply.status, await reply.json()] as const
  }
  expect((await readiness())[0]).toBe(200)
  expect(await (await fetch(metricsUrl)).text()).toContain('operation="POST /mocap_session",status="200"')

  serve.process.kill('SIGTERM')

  await expect.poll(readiness).toEqual([503, { status: 'stopping' }])
  upload.end('cd')
  expect((await answered).statusCode).toBe(200)
})

it('finishes what is in flight after SIGTERM, takes no new connection meanwhile, and ends with 0', async () => {
  const { serve, url, upload, answered } = await serving('--stop-within', '1h')

  serve.process.kill('SIGTERM')
  await expect
    .poll(() =>
      fetch(`${url}/readyz`).then(
        ({ status }) => status,
        () => 'refused',
      ),
    )
    .toBe('refused')
  upload.end('cd')

  expect((await answered).statusCode).toBe(200)
  expect((await serve.ended).code).toBe(0)
})
