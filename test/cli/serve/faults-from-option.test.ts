// What `serve --faults` takes, and how it says what is wrong, before any service starts.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { faultsFromOption } from '../../../src/cli/serve/faults-from-option.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cli-faults-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function fileOf(text: string): Promise<string> {
  const path = join(folder, 'rules.json')
  await writeFile(path, text)
  return path
}

it('reads a file of rules, and knows the nights by name', async () => {
  const path = await fileOf('{ "rules": [{ "operation": "put", "fault": { "status": 500 } }] }')

  expect(await faultsFromOption(path)).toMatchObject({ seed: 1, rules: [{ operation: 'put', fault: { status: 500 } }] })
  expect(await faultsFromOption('night:flaky-line')).toMatchObject({ rules: expect.any(Array) as unknown })
})

it.each([
  ['{', '--faults: "FILE" is not JSON'],
  ['{ "rules": [{ "operation": "put" }] }', '--faults: The faults are malformed: rules.0.fault: is missing'],
])('refuses %s as invalid input', async (text, message) => {
  const path = await fileOf(text)

  await expect(faultsFromOption(path)).rejects.toMatchObject({
    code: 'ERR_UPLOAD_INVALID_ARGUMENT',
    message: expect.stringContaining(message.replace('FILE', path)) as unknown,
  })
})

it('refuses a file that is not there and a night that nobody knows', async () => {
  const code = 'ERR_UPLOAD_INVALID_ARGUMENT'

  await expect(faultsFromOption(join(folder, 'none.json'))).rejects.toMatchObject({ code })
  await expect(faultsFromOption('night:none')).rejects.toMatchObject({ code })
})
