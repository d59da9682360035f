// `serve` under a supervisor: SIGTERM makes it unready, what is in flight is finished, and the exit code is 0.

import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { installCli, jsonLines } from './cli-under-test.ts'
import type { CliUnderTest } from './cli-under-test.ts'

let cli: CliUnderTest
beforeAll(async () => {
  cli = await installCli()
})
afterAll(() => cli.remove())

it('finishes what is in flight after SIGTERM, unready meanwhile, and ends with 0', async () => {
  const env = { MOCAP_API_KEY: 'key-of-the-test' }
  const serve = cli.start(['serve', '--port', '0', '--metrics-port', '0', '--stop-delay', '5s', '--json'], env)
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
  const answered = once(upload, 'response') as Promise<[IncomingMessage]>
  upload.write('ab')
  await once(upload, 'continue')
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  expect(await (await fetch(metricsUrl)).text()).toContain('operation="POST /mocap_session",status="200"')

  serve.process.kill('SIGTERM')
  let ready = await fetch(`${url}/readyz`)
  while (ready.status === 200) ready = await fetch(`${url}/readyz`)
  upload.end('cd')
  const [answer] = await answered
  answer.resume()

  expect([ready.status, await ready.json()]).toEqual([503, { status: 'stopping' }])
  expect(answer.statusCode).toBe(200)
  expect((await serve.ended).code).toBe(0)
})
