// What `serve` refuses before it starts, in the words of the command line.

import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { serveSettings } from '../../../src/cli/serve/serve-settings.ts'
import { installCli } from '../cli-under-test.ts'
import type { CliUnderTest } from '../cli-under-test.ts'

const TOKENS = ['--jwt-issuer', 'https://issuer.example', '--jwt-audience', 'uploads']
const ON_SERVER = { DATABASE_URL: 'postgres://a.example/mocap', S3_BUCKET: 'bucket' }
const SECRET = 'hidden-in-the-environment'

let cli: CliUnderTest
beforeAll(async () => {
  cli = await installCli()
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  await writeFile(join(cli.folder, 'private.pem'), pair.privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await writeFile(join(cli.folder, 'public.pem'), pair.publicKey.export({ type: 'spki', format: 'pem' }))
  await writeFile(join(cli.folder, 'torn.pem'), '-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n')
})
afterAll(() => cli.remove())

it.each<[string, string[], Record<string, string>]>([
  ['--address-life must be more than 0 and at most 7 days', ['--address-life', '8d'], {}],
  ['--complete-after must be 0 to ten years', ['--complete-after', '3641d'], {}],
  ['--database-connections must be an integer from 2 to 1000', ['--database-connections', '1001'], ON_SERVER],
  ['--database-connections is "1": give a whole number of 2', ['--database-connections', '1'], ON_SERVER],
  ['--database-connections is for a PostgreSQL server, and none is named', ['--database-connections', '10'], {}],
  ['--keep-free is for the disk of --data, which is not given', ['--keep-free', '64MiB'], {}],
  ['--end-sessions-after must not be shorter than --address-life', ['--end-sessions-after', '59m'], {}],
  ['--public-url must be an http or https URL', ['--public-url', 'ftp://a.example'], {}],
  ['MOCAP_METRICS_TOKEN must be visible ASCII', [], { MOCAP_METRICS_TOKEN: `${SECRET} ä` }],
  ['S3_ENDPOINT must be an http or https URL', [], { S3_BUCKET: 'bucket', S3_ENDPOINT: SECRET }],
  [
    'S3_ACCESS_KEY and S3_SECRET_KEY must hold',
    [],
    { S3_BUCKET: 'abc', S3_ACCESS_KEY: 'a', S3_SECRET_KEY: `${SECRET} ` },
  ],
  ['DATABASE_URL does not hold a URL', [], { DATABASE_URL: `mysql://user:${SECRET}@host/name` }],
  ['such as %23 for #', [], { DATABASE_URL: `postgres://user:${SECRET}#@host/name` }],
  ['need both --jwt-issuer and --jwt-audience', ['--jwt-issuer', 'https://issuer.example'], {}],
  ['need both --jwt-issuer and --jwt-audience', [], { MOCAP_JWT_JWKS_URL: 'https://issuer.example/keys' }],
  ['need either --jwt-jwks-url or --jwt-public-key-file', TOKENS, {}],
  [
    'need either --jwt-jwks-url or --jwt-public-key-file',
    [...TOKENS, '--jwt-public-key-file', 'public.pem'],
    { MOCAP_JWT_JWKS_URL: 'https://issuer.example/keys' },
  ],
  [
    '--jwt-issuer, --jwt-audience and --jwt-org-claim must not be empty',
    [...TOKENS, '--jwt-jwks-url', 'https://issuer.example/keys', '--jwt-org-claim', ''],
    {},
  ],
  ['--jwt-jwks-url must be an https URL', [...TOKENS, '--jwt-jwks-url', 'http://issuer.example/keys'], {}],
  ['The public key of access tokens', [...TOKENS, '--jwt-public-key-file', 'nowhere.pem'], {}],
  ['--jwt-public-key-file must be a public key in PEM', [...TOKENS, '--jwt-public-key-file', 'private.pem'], {}],
  ['--jwt-public-key-file must be a public key in PEM', [...TOKENS, '--jwt-public-key-file', 'torn.pem'], {}],
  [
    '--jwt-algorithms must be some of',
    [...TOKENS, '--jwt-public-key-file', 'public.pem'],
    { MOCAP_JWT_ALGORITHMS: 'RS256, HS256' },
  ],
])('is refused as wrong use: %s (%j)', async (words, args, env) => {
  const { code, stdout, stderr } = await cli.run(['serve', '--port', '0', ...args], env)

  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(words)
  expect(stderr).not.toContain(SECRET)
})

const times = { addressLife: '1h', stopWithin: '30s', endSessionsAfter: '30d' }
const options = { port: '0', host: '127.0.0.1', ...times }

it('takes a stop without any delay, and no other time of nothing', async () => {
  expect(await serveSettings({ ...options, stopDelay: '0s' }, {})).toMatchObject({ stopDelayMs: 0 })
  await expect(serveSettings({ ...options, stopWithin: '0s' }, {})).rejects.toThrow(/^--stop-within is "0s"/)
})

it('ends sessions never where it is told so', async () => {
  expect(await serveSettings({ ...options, endSessionsAfter: 'never' }, {})).toMatchObject({ endSessionsAfterMs: 0 })
})

it.each(['MOCAP_API_KEY', 'MOCAP_ACCESS_TOKEN'])(
  'takes no %s beside managed keys, under which it opens nothing',
  async (name) => {
    await expect(serveSettings({ ...options, managedKeys: true }, { [name]: SECRET })).rejects.toThrow(
      /^--managed-keys takes no fixed credentials: unset MOCAP_API_KEY and MOCAP_ACCESS_TOKEN\.$/,
    )
    expect(await serveSettings({ ...options, managedKeys: true }, { [name]: '' })).toMatchObject({
      credentials: 'managed',
    })
  },
)

it('takes 0 for what is kept free of the disk, and for no other size', async () => {
  expect(await serveSettings({ ...options, data: 'data', keepFree: '0' }, {})).toMatchObject({ keepFreeBytes: 0 })
  await expect(serveSettings({ ...options, maxBody: '0' }, {})).rejects.toThrow('--max-body must be at least one byte')
})

it('names the variable of a bucket that would be in the host of an IP address', async () => {
  const env = { S3_BUCKET: 'recordings', S3_ENDPOINT: 'http://10.0.0.1:7480', S3_PATH_STYLE: 'false' }

  await expect(serveSettings(options, env)).rejects.toThrow(/^S3_PATH_STYLE must be true/)
})
