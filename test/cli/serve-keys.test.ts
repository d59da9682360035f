// `serve keys`: a key is made, shown once, opens its organisation, and is revoked; the command says what it cannot do.

import { existsSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { installCli, jsonLines, lastLine } from './cli-under-test.ts'
import type { CliUnderTest } from './cli-under-test.ts'

let cli: CliUnderTest
let data: string
beforeAll(async () => {
  cli = await installCli()
  data = join(cli.folder, 'data')
})
afterAll(() => cli.remove())

it('makes a key that opens a service of managed keys, lists it without its secret, and revokes it', async () => {
  const made = await cli.run(['serve', 'keys', 'create', '--data', data, '--org', 'org-4', '--name', 'room', '--json'])
  const [{ id, key }] = jsonLines(made.stdout) as unknown as [{ id: string; key: string }]
  expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: '' })
  expect(lastLine(made.stdout)).toMatchObject({ event: 'result', flow: 'serve', status: 'completed' })

  const serve = cli.start(['serve', '--port', '0', '--data', data, '--managed-keys', '--json'])
  let text = ''
  serve.process.stdout!.on('data', (chunk: string) => (text += chunk))
  await serve.seen(/"listening".*\n/)
  const [listening] = jsonLines(text)
  const called = await cli.run(['api', 'GET', '/requested_analyses'], {
    ...{ MOCAP_BASE_URL: String(listening?.['url']), MOCAP_API_KEY: key },
  })
  const whileInUse = await cli.run(['serve', 'keys', 'list', '--data', data, '--json'])
  serve.process.kill('SIGTERM')
  const { code, stderr } = await serve.ended
  const revoked = await cli.run(['serve', 'keys', 'revoke', id, '--data', data])
  const list = await cli.run(['serve', 'keys', 'list', '--data', data])

  expect(called.code).toBe(0)
  expect(listening).not.toHaveProperty('apiKey')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(whileInUse.code).toBe(1)
  expect(whileInUse.stderr).toMatch(/ is in use by process \d+\. .* \(ERR_SERVICE_DATA_IN_USE\)\n$/)
  expect(jsonLines(whileInUse.stdout).at(-1)).toMatchObject({
    error: { code: 'ERR_SERVICE_DATA_IN_USE', advice: 'Correct what the message names, then start again.' },
  })
  expect([revoked.code, list.code]).toEqual([0, 0])
  expect(list.stdout).toMatch(new RegExp(`^${id}  org-4  room  made .*, revoked `))
  expect(list.stdout).not.toContain(key.slice(-20))
})

it('says beside the list that there is no key yet', async () => {
  const serve = cli.start(['serve', '--port', '0', '--data', 'no-keys', '--managed-keys', '--json'])
  await serve.seen(/"listening".*\n/)
  serve.process.kill('SIGTERM')
  await serve.ended
  const list = await cli.run(['serve', 'keys', 'list', '--data', 'no-keys'])
  const asJson = await cli.run(['serve', 'keys', 'list', '--data', 'no-keys', '--json'])

  const stderr = 'There is no API key. `serve keys create` makes one.\n'
  expect(list).toEqual({ code: 0, stdout: '', stderr })
  expect(asJson).toMatchObject({ code: 0, stderr })
  expect(jsonLines(asJson.stdout)).toMatchObject([{ event: 'result', flow: 'serve', status: 'completed' }])
})

it.each([
  [['create', '--org', 'o', '--name', 'n'], 'Say where the keys are kept'],
  [['create', '--data', 'data', '--org', '', '--name', 'n'], 'The organisation of a key must be'],
  [['create', '--data', 'data', '--org', 'o'], '--name'],
  [['list', '--data', 'dtaa'], 'no service and no `serve keys create` has begun "dtaa"'],
  [['revoke', 'nobody', '--data', 'dtaa'], 'no service and no `serve keys create` has begun "dtaa"'],
  [['revoke', 'nobody', '--data', 'data'], 'No API key has this id'],
  [['list', '--data', 'data', '--port', '8787'], '--port has no effect on serve keys list: leave it out.'],
])('refuses %j as wrong use', async (args, words) => {
  const { code, stderr } = await cli.run(['serve', 'keys', ...args])

  expect(code).toBe(2)
  expect(stderr).toContain(words)
  expect(existsSync(join(cli.folder, 'dtaa'))).toBe(false)
})

it('says of a folder that it cannot look into why that is, not that nobody has begun it', async () => {
  await symlink('circle', join(cli.folder, 'circle'))

  const { code, stderr } = await cli.run(['serve', 'keys', 'list', '--data', 'circle'])

  expect(code).toBe(2)
  expect(stderr).toContain('--data: "circle" is there and is not a folder.')
})

it('takes either managed keys or a fixed one, and says loudly when it is the latter', async () => {
  const both = await cli.run(['serve', '--port', '0', '--managed-keys'], { MOCAP_API_KEY: 'fixed' })
  const serve = cli.start(['serve', '--port', '0', '--quiet'])
  await serve.seen(/API key/)
  serve.process.kill('SIGTERM')

  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--managed-keys takes no fixed credentials')])
  expect((await serve.ended).stderr).toContain('Development mode')
})
