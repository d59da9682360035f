// `serve` with an issuer of access tokens: a token that it signed opens the organisation that it names, end to end.

import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { exportJWK, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { installCli, jsonLines, lastLine } from './cli-under-test.ts'
import type { CliUnderTest } from './cli-under-test.ts'

const ISSUER = 'https://issuer.example'
const issuer = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const signed = (claims: Record<string, string>, by = issuer) =>
  new SignJWT({ iss: ISSUER, aud: 'uploads', ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setExpirationTime('10 minutes')
    .sign(by.privateKey)

let cli: CliUnderTest
beforeAll(async () => {
  cli = await installCli()
})
afterAll(() => cli.remove())

/** Starts `serve --managed-keys` and hands its URL to the work; it is ended afterwards. */
async function serving(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  work: (url: string) => Promise<void>,
): Promise<string> {
  const serve = cli.start(['serve', '--port', '0', '--managed-keys', '--log', '--json', ...args], env)
  let text = ''
  serve.process.stdout!.on('data', (chunk: string) => (text += chunk))
  await serve.seen(/"listening".*\n/)
  try {
    await work(String(jsonLines(text)[0]?.['url']))
  } finally {
    serve.process.kill('SIGTERM')
  }
  const { code, stdout, stderr } = await serve.ended
  expect(code).toBe(0)
  return stdout + stderr
}

it('lets an upload through with a token that a public key verifies, and writes no token anywhere', async () => {
  const key = join(cli.folder, 'issuer.pem')
  await writeFile(key, issuer.publicKey.export({ type: 'spki', format: 'pem' }))
  await writeFile(join(cli.folder, 'swing-01.action'), 'one swing')
  const [own, foreign] = [await signed({ org_id: 'org-4' }), await signed({ org_id: 'org-4' }, stranger)]
  const capture = (url: string, org: string, token: string) =>
    cli.run(
      [
        ...['capture', 'swing-01.action', '--org', org, '--mocap-type', '2', '--session-type', '1'],
        ...['--date', '2026-11-20', '--json'],
      ],
      { MOCAP_BASE_URL: url, MOCAP_ACCESS_TOKEN: token },
    )

  const args = ['--jwt-issuer', ISSUER, '--jwt-audience', 'uploads', '--jwt-public-key-file', key]
  const said = await serving(args, {}, async (url) => {
    const taken = await capture(url, 'org-4', own)
    const elsewhere = await capture(url, 'org-5', own)
    const refused = await capture(url, 'org-4', foreign)

    expect([taken.code, lastLine(taken.stdout)['status']]).toEqual([0, 'confirmed'])
    expect([elsewhere.code, refused.code]).toEqual([4, 4])
  })
  expect(said).toContain('"path":"/mocap_session"')
  expect(said).toMatch(/"reqId":"[\w-]+".*"statusCode":200.*"responseTime"/)
  for (const secret of [own, foreign, 'X-Amz-Signature', 'swing-01']) expect(said).not.toContain(secret)
})

it('reads the keys at the URL of the environment, and the organisation in the claim that it names', async () => {
  const jwk = { ...(await exportJWK(issuer.publicKey)), kid: 'one', alg: 'ES256' }
  const host = createServer((_request, response) => response.end(JSON.stringify({ keys: [jwk] })))
  host.listen(0, '127.0.0.1')
  await once(host, 'listening')
  const env = {
    MOCAP_JWT_ISSUER: ISSUER,
    MOCAP_JWT_AUDIENCE: 'uploads',
    MOCAP_JWT_JWKS_URL: `http://127.0.0.1:${String((host.address() as AddressInfo).port)}/keys`,
    MOCAP_JWT_ORG_CLAIM: 'tenant',
  }
  const list = async (url: string, claims: Record<string, string>) =>
    (
      await cli.run(['api', 'GET', '/requested_analyses'], {
        ...{ MOCAP_BASE_URL: url, MOCAP_ACCESS_TOKEN: await signed(claims) },
      })
    ).code
  try {
    await serving([], env, async (url) => {
      expect([await list(url, { tenant: 'org-9' }), await list(url, { org_id: 'org-9' })]).toEqual([0, 4])
    })
  } finally {
    host.close()
  }
})
