// The command as a real process, with marked secrets and a bad night: the marks are in nothing that it prints, and in the
// state folder only inside files that their owner alone can read.

import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'

import { startIndependentService, type IndependentService } from '../helpers/independent-service.ts'
import { installCli, lastLine, type CliUnderTest, VIDEO } from './cli-under-test.ts'

/** A refusal that is final at once. */
const FORGED = '<Error><Code>SignatureDoesNotMatch</Code></Error>'

let cli: CliUnderTest
let service: IndependentService

beforeAll(async () => {
  cli = await installCli()
  for (const name of ['good.mp4', 'bad.mov']) await writeFile(join(cli.folder, name), Buffer.alloc(70_000, name))
})
afterAll(() => cli.remove())
afterEach(() => service.close())

it('shows no key, token or signature in output, listings or receipts, and keeps addresses in files for their owner alone', async () => {
  service = await startIndependentService({
    faults: [
      { operation: 'create', nth: 1, action: { status: 503, headers: { 'retry-after': '0' } } },
      { operation: 'put', nth: 1, fileName: 'good.mp4', action: 'resetMidBody' },
      { operation: 'put', nth: 'every', fileName: 'bad.mov', action: { status: 403, body: FORGED } },
    ],
  })
  const env = { MOCAP_BASE_URL: service.url, MOCAP_API_KEY: service.apiKey, MOCAP_DEBUG: '1' }
  const files = ['good.mp4', 'bad.mov']

  const json = await cli.run(['video', ...files, ...VIDEO, '--json'], env)
  const key = String(lastLine(json.stdout)['key'])
  const outputs = [
    json,
    await cli.run(['video', ...files, ...VIDEO], env),
    await cli.run(['sessions'], env),
    await cli.run(['sessions', '--json'], env),
    await cli.run(['receipt', 'show', key], env),
    await cli.run(['resume', key], env),
    await cli.run(['cancel', key], env),
    await cli.run(['video', ...files, ...VIDEO], { ...env, MOCAP_API_KEY: `${service.apiKey}x` }),
    await cli.run(['api', 'GET', '/nothing'], env),
  ]

  expect(lastLine(json.stdout)).toMatchObject({ status: 'partial' })
  expect(outputs[2]!.stdout).toContain(key)
  const queries = service.requestsOf('put').map(({ target }) => target.split('?')[1]!)
  const signatures = queries.map((query) => new URLSearchParams(query).get('X-Amz-Signature')!)
  expect(signatures.length).toBeGreaterThan(3)
  const secrets = [service.apiKey, ...queries, ...signatures]
  for (const { stdout, stderr } of outputs) for (const secret of secrets) expect(stdout + stderr).not.toContain(secret)

  const places = await readdir(cli.stateDir, { recursive: true })
  expect(places.length).toBeGreaterThan(1)
  const holders = new Set<string>()
  for (const place of places) {
    const found = await stat(join(cli.stateDir, place))
    for (const secret of secrets) expect(place).not.toContain(secret)
    expect([place, (found.mode & 0o777).toString(8)]).toEqual([place, found.isDirectory() ? '700' : '600'])
    if (found.isDirectory()) continue
    const text = await readFile(join(cli.stateDir, place), 'utf8')
    expect(text).not.toContain(service.apiKey)
    if (signatures.some((signature) => text.includes(signature))) holders.add(place.split('/').at(-1)!)
  }
  // Addresses are in journals, which need them to go on, and nowhere else.
  expect([...holders]).toEqual(['journal'])
  expect((await stat(cli.stateDir)).mode & 0o777).toBe(0o700)
  expect(service.records.credentialLeaks).toEqual([])
})
