// Credentials from files: whoever renews one while a night's upload runs just writes the file.

import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { findCredentials, refuseSecretsOnCommandLine } from '../../../src/cli/options/credentials-from-options.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'credentials-'))
})
afterEach(() => rm(folder, { recursive: true }))

it.each([
  ['apiKey', 'apiKeyFile'],
  ['accessToken', 'accessTokenFile'],
] as const)('reads the %s again from its file when it is asked again', async (kind, option) => {
  const path = join(folder, 'secret')
  await writeFile(path, 'the first\n')
  const found = (await findCredentials({ [option]: path }, {})) as unknown as Record<string, () => Promise<string>>
  expect(await found[kind]?.()).toBe('the first')

  await writeFile(path, 'the second\n')

  expect(await found[kind]?.()).toBe('the second')
})

it('refuses a file that is empty before anything is begun', async () => {
  const path = join(folder, 'secret')
  await writeFile(path, '\n')

  await expect(findCredentials({ apiKeyFile: path }, {})).rejects.toMatchObject({
    code: 'ERR_UPLOAD_INVALID_ARGUMENT',
  })
})

it('takes a file as editors of Windows write it', async () => {
  const path = join(folder, 'secret')
  await writeFile(path, '\ufeffthe key\r\n')

  const { apiKey } = (await findCredentials({ apiKeyFile: path }, {})) as { apiKey: () => Promise<string> }

  expect(await apiKey()).toBe('the key')
})

it('takes what a pipe holds, which can be read only once, and asks no more', async () => {
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])

  const [found] = await Promise.all([findCredentials({ apiKeyFile: path }, {}), writeFile(path, 'the key\n')])

  expect(found).toEqual({ apiKey: 'the key' })
})

it.each(['hush', 'hush\r', 'hush\nhush', 'a=hush'])(
  'refuses a secret on the command line without a word of it: %j',
  (secret) => {
    expect(() => refuseSecretsOnCommandLine(['video', `--api-key=${secret}`])).toThrow(
      /^--api-key is refused: on the command line (?!.*hush)/s,
    )
  },
)
