// Access tokens of an issuer: what is taken, and everything about a token that makes it nothing.

import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import dns from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { exportJWK, SignJWT, UnsecuredJWT, type JWK, type JWTPayload } from 'jose'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'

import { tokenCheck } from '../../../src/service/access/access-tokens.ts'
import { resolveJwt, type JwtOptions } from '../../../src/service/access/jwt-settings.ts'
import { startService } from '../../../src/service/index.ts'
import { START, startUnderTest, type ServiceUnderTest } from '../service-under-test.ts'

const ISSUER = 'https://issuer.example'
const AUDIENCE = 'uploads'
const seconds = START / 1000
const claims: JWTPayload = { iss: ISSUER, aud: AUDIENCE, exp: seconds + 600, org_id: 'org-4' }

const issuer = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const publicKeyPem = issuer.publicKey.export({ type: 'spki', format: 'pem' }) as string

const signed = (payload: JWTPayload, key: KeyObject | Uint8Array = issuer.privateKey, alg = 'ES256') =>
  new SignJWT(payload).setProtectedHeader({ alg, kid: 'one' }).sign(key)

let service: ServiceUnderTest
beforeAll(async () => {
  service = await startUnderTest({ credentials: 'managed', jwt: { issuer: ISSUER, audience: AUDIENCE, publicKeyPem } })
})
afterAll(() => service.close())

const list = (token: string, at = service, header = 'authorization') =>
  at.call('GET', '/requested_analyses', undefined, { [header]: `Bearer ${token}` })

/** A service that reads the keys from a URL, and the lines that it logs. */
const startLogged = async (jwt: Partial<JwtOptions>) => {
  const lines: string[] = []
  const log = { write: (line: string) => void lines.push(line) }
  const at = await startUnderTest({ log, jwt: { issuer: ISSUER, audience: AUDIENCE, ...jwt } })
  onTestFinished(() => at.close())
  return { at, lines }
}

describe('an access token', () => {
  it('of the issuer opens the organisation that it names, in either header', async () => {
    const token = await signed(claims)
    const session = (orgId: string) =>
      service.call(
        'POST',
        '/mocap_session',
        { org_id: orgId, mocap_type_id: 2, session_date: '2026-11-20', session_type_id: 1 },
        { authorization: `Bearer ${token}` },
      )

    expect([(await list(token)).status, (await list(token, service, 'authentication')).status]).toEqual([200, 200])
    expect([(await session('org-4')).status, (await session('org-5')).status]).toEqual([200, 403])
    const both = { authorization: `Bearer ${token}`, authentication: 'Bearer of.another.kind' }
    expect((await service.call('GET', '/requested_analyses', undefined, both)).status).toBe(200)
  })

  it('is taken within the tolerance of the clocks and not beyond', async () => {
    expect((await list(await signed({ ...claims, exp: seconds - 29 }))).status).toBe(200)
    expect((await list(await signed({ ...claims, exp: seconds - 31 }))).status).toBe(403)
    expect((await list(await signed({ ...claims, nbf: seconds + 31 }))).status).toBe(403)
  })

  it.each<[string, () => Promise<string> | string]>([
    ['another issuer', () => signed({ ...claims, iss: 'https://other.example' })],
    ['another audience', () => signed({ ...claims, aud: 'others' })],
    ['no audience', () => signed({ iss: ISSUER, exp: seconds + 600, org_id: 'org-4' })],
    ['no end', () => signed({ iss: ISSUER, aud: AUDIENCE, org_id: 'org-4' })],
    ['no organisation', () => signed({ iss: ISSUER, aud: AUDIENCE, exp: seconds + 600 })],
    ['an organisation that is no text', () => signed({ ...claims, org_id: 4 })],
    ['an empty organisation', () => signed({ ...claims, org_id: '' })],
    ['an organisation that no database holds', () => signed({ ...claims, org_id: 'org\0' })],
    ['an organisation without end', () => signed({ ...claims, org_id: 'o'.repeat(257) })],
    ['the key of a stranger', () => signed(claims, stranger.privateKey)],
    ['no signature', () => new UnsecuredJWT(claims).encode()],
    ['the public key as a shared secret', () => signed(claims, Buffer.from(publicKeyPem), 'HS256')],
    ['a changed payload', async () => (await signed(claims)).replace(/\.[^.]+\./, `.${btoa('{"org_id":"org-4"}')}.`)],
    ['no form at all', () => 'a.b.c'],
  ])('with %s opens nothing', async (_what, token) => {
    const answer = await list(await token())

    expect([answer.status, answer.json]).toEqual([
      403,
      { error: { code: 'credentials_refused', message: 'A valid API key or access token is needed.' } },
    ])
  })
})

it.each([
  [undefined, 'RS256', 'PS256'],
  [['PS256'], 'PS256', 'RS256'],
])(
  'with the algorithms %o a token signed by %s opens its organisation, and one by %s nothing',
  async (named, right, wrong) => {
    const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const pem = pair.publicKey.export({ type: 'spki', format: 'pem' }) as string
    const algorithms = named === undefined ? {} : { algorithms: named }
    const settings = resolveJwt({ issuer: ISSUER, audience: AUDIENCE, publicKeyPem: pem, ...algorithms })
    const check = tokenCheck(settings, () => START)

    expect(await check(await signed(claims, pair.privateKey, right))).toBe('org-4')
    expect(await check(await signed(claims, pair.privateKey, wrong))).toBeUndefined()
  },
)

it('says nothing in the log of a token of another kind than the key in a file', async () => {
  const settings = resolveJwt({ issuer: ISSUER, audience: AUDIENCE, publicKeyPem, algorithms: ['ES256', 'ES384'] })
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
  const log = { error: vi.fn() }

  expect(await tokenCheck(settings, () => START)(await signed(claims, privateKey, 'ES384'), log)).toBeUndefined()
  expect(log.error).not.toHaveBeenCalled()
})

/** A host of keys. `answer` gives status and keys of each answer; `isCut`: whether there is none. */
async function startKeyHost(
  answer: () => readonly [status: number, keys: readonly JWK[] | string],
  isCut = () => false,
): Promise<string> {
  const host = createServer((_request, response) => {
    if (isCut()) {
      response.destroy()
      return
    }
    const [status, keys] = answer()
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ keys }))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void host.close())
  await once(host, 'listening')
  return `http://127.0.0.1:${(host.address() as AddressInfo).port}/keys`
}

describe('the keys of an issuer', () => {
  it('are read from its URL; when that is away the answer is 503, not a refusal', async () => {
    const jwk = { ...(await exportJWK(issuer.publicKey)), kid: 'one', alg: 'ES256' }
    let [isAway, isCut] = [true, false]
    const jwksUrl = await startKeyHost(
      () => [isAway ? 500 : 200, [jwk]],
      () => isCut,
    )
    const { at, lines } = await startLogged({ jwksUrl, orgClaim: 'tenant' })
    const token = await signed({ ...claims, tenant: 'org-9' })
    expect((await list(token, at)).status).toBe(503)
    expect(lines.join('')).toContain('Expected 200 OK from the JSON Web Key Set HTTP response')
    isCut = true
    expect((await list(token, at)).status).toBe(503)
    expect(lines.join('')).toContain('"message":"fetch failed"')
    expect(lines.join('')).toContain('"cause":"other side closed"')
    expect(lines.join('')).not.toContain(token.slice(-40))
    isAway = isCut = false
    expect((await list(token, at)).status).toBe(200)
    expect((await list(await signed({ ...claims, tenant: 'org-9' }, stranger.privateKey), at)).status).toBe(403)
  })

  it.each([
    ['are none', false, 'JSON Web Key Set malformed'],
    ['do not come in time', true, 'The operation was aborted due to timeout'],
  ])('that %s are answered 503, and the log says so', async (_what, isLate, reason) => {
    const jwksUrl = await startKeyHost(() => [200, 'no list'])
    const { at, lines } = await startLogged({ jwksUrl })
    const late = AbortSignal.abort(new DOMException(reason, 'TimeoutError'))
    if (isLate) vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late)

    expect((await list(await signed(claims), at)).status).toBe(503)
    expect(lines.join('')).toContain(reason)
  })

  it('are on a host with several addresses, none of which takes a connection, and the log says so', async () => {
    const { port } = new URL(await startKeyHost(() => [200, []]))
    const { at, lines } = await startLogged({ jwksUrl: `https://keys.example:${port}/keys` })
    const others = ['127.0.0.2', '127.0.0.3'].map((address) => ({ address, family: 4 }))
    const resolve = dns.lookup as (...asked: unknown[]) => void
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation((...asked: unknown[]) => {
      const [name, , done] = asked as [string, object, (error: null, all: typeof others) => void]
      if (name === 'keys.example') done(null, others)
      else resolve(...asked)
    })
    onTestFinished(() => lookup.mockRestore())

    expect((await list(await signed(claims), at)).status).toBe(503)
    expect(lines.join('')).toContain('"message":"fetch failed"')
    expect(lines.join('')).toContain('"cause":"ECONNREFUSED"')
  })

  it('are all tried where a token does not name one, as while an issuer changes its key', async () => {
    const next = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const keys = await Promise.all([issuer, next].map(({ publicKey }) => exportJWK(publicKey)))
    const jwksUrl = await startKeyHost(() => [200, keys])
    const check = tokenCheck(resolveJwt({ issuer: ISSUER, audience: AUDIENCE, jwksUrl }), () => START)
    const unnamed = (key: KeyObject, payload = claims) =>
      new SignJWT(payload).setProtectedHeader({ alg: 'ES256' }).sign(key)

    expect(await check(await unnamed(issuer.privateKey))).toBe('org-4')
    expect(await check(await unnamed(next.privateKey))).toBe('org-4')
    expect(await check(await unnamed(stranger.privateKey))).toBeUndefined()
    expect(await check(await unnamed(next.privateKey, { ...claims, aud: 'others' }))).toBeUndefined()
  })

  it('are fetched again after the clock was set right that was a year ahead at the first fetch', async () => {
    const next = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    let known = { ...(await exportJWK(issuer.publicKey)), kid: 'one' }
    const jwksUrl = await startKeyHost(() => [200, [known]])
    const check = tokenCheck(resolveJwt({ issuer: ISSUER, audience: AUDIENCE, jwksUrl }), () => START)
    const old = await signed(claims)
    const wall = vi.spyOn(Date, 'now').mockReturnValue(START + 365 * 86_400_000)
    expect(await check(old)).toBe('org-4')

    wall.mockReturnValue(START)
    known = { ...(await exportJWK(next.publicKey)), kid: 'two' }
    const renewed = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'two' }).sign(next.privateKey)
    expect(await check(renewed)).toBe('org-4')
    expect(await check(old)).toBeUndefined()
  })
})

it.each([
  ['that the token names', 'private'],
  ['that no token names', undefined],
])('opens nothing with a private key %s, which the log explains, and other keys do', async (_what, kid) => {
  const keys = [
    { ...(await exportJWK(stranger.privateKey)), kid: 'private' },
    { ...(await exportJWK(issuer.publicKey)), kid: 'one' },
  ]
  const jwksUrl = await startKeyHost(() => [200, keys])
  const { at, lines } = await startLogged({ jwksUrl })
  const token = (privateKey: KeyObject) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'ES256', ...(kid && { kid }) }).sign(privateKey)

  const refused = await list(await token(stranger.privateKey), at)
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('credentials_refused')])
  expect(lines.join('')).toContain('a key of the issuer of access tokens cannot be used')
  expect(lines.join('')).toContain('must be public keys')
  expect(lines.join('')).not.toContain(keys[0]!.d)
  expect((await list(await signed(claims), at)).status).toBe(200)
})

describe('a key of an issuer that is too short', () => {
  const short = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const long = generateKeyPairSync('rsa', { modulusLength: 2048 })
  /** jose itself does not sign with such a key. */
  const shortSigned = (header: object) => {
    const text = [{ alg: 'RS256', ...header }, claims]
      .map((one) => Buffer.from(JSON.stringify(one)).toString('base64url'))
      .join('.')
    return `${text}.${sign('sha256', Buffer.from(text), short.privateKey).toString('base64url')}`
  }

  it('opens nothing, which the log explains, and other keys do', async () => {
    const keys = [
      { ...(await exportJWK(short.publicKey)), kid: 'short' },
      { ...(await exportJWK(issuer.publicKey)), kid: 'one' },
    ]
    const jwksUrl = await startKeyHost(() => [200, keys])
    const { at, lines } = await startLogged({ jwksUrl })

    const refused = await list(shortSigned({ kid: 'short' }), at)
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('credentials_refused')])
    expect(lines.join('')).toContain('a key of the issuer of access tokens cannot be used')
    expect(lines.join('')).toContain('RS256 requires key modulusLength to be 2048 bits or larger')
    expect((await list(await signed(claims), at)).status).toBe(200)
  })

  it('is passed over where a token names none', async () => {
    const keys = await Promise.all([short, long].map(({ publicKey }) => exportJWK(publicKey)))
    const jwksUrl = await startKeyHost(() => [200, keys])
    const check = tokenCheck(resolveJwt({ issuer: ISSUER, audience: AUDIENCE, jwksUrl }), () => START)
    const errors: unknown[] = []
    const log = { error: (one: unknown) => void errors.push(one) }

    const token = new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).sign(long.privateKey)
    expect([await check(await token, log), errors]).toEqual(['org-4', []])
    expect([await check(shortSigned({}), log), errors]).toEqual([
      undefined,
      [{ err: expect.any(TypeError) as unknown }],
    ])
  })
})

describe('startService', () => {
  const pemOf = ({ publicKey }: { publicKey: KeyObject }) => publicKey.export({ type: 'spki', format: 'pem' }) as string
  const ofBits = (modulusLength: number) => pemOf(generateKeyPairSync('rsa', { modulusLength }))
  const jwt = { issuer: ISSUER, audience: AUDIENCE }
  it.each([
    ['either jwksUrl or publicKeyPem', jwt],
    ['either jwksUrl or publicKeyPem', { ...jwt, publicKeyPem, jwksUrl: 'https://a.example' }],
    ['jwksUrl must be an https URL', { ...jwt, jwksUrl: 'http://a.example' }],
    ['jwksUrl must be an https URL', { ...jwt, jwksUrl: 'https://user:secret-word@a.example' }],
    ['jwksUrl must be an https URL', { ...jwt, jwksUrl: 'https://:secret-word@a.example' }],
    ['publicKeyPem must be', { ...jwt, publicKeyPem: 'not a key' }],
    ['publicKeyPem must be a key for one of algorithms', { ...jwt, publicKeyPem: ofBits(1024) }],
    [
      'publicKeyPem must be a key for one of algorithms',
      { ...jwt, publicKeyPem: pemOf(generateKeyPairSync('ed25519')) },
    ],
    ['publicKeyPem must be a key for one of algorithms', { ...jwt, publicKeyPem, algorithms: ['RS256', 'ES384'] }],
    ['algorithms must be', { ...jwt, publicKeyPem, algorithms: ['HS256'] }],
    ['algorithms must be', { ...jwt, publicKeyPem, algorithms: ['none'] }],
    ['clockToleranceSeconds must be', { ...jwt, publicKeyPem, clockToleranceSeconds: 301 }],
    ['issuer, audience and orgClaim must not be empty', { ...jwt, audience: '', publicKeyPem }],
  ])('refuses settings by the rule %s', async (rule, options) => {
    await expect(startService({ jwt: options })).rejects.toThrow(`startService: jwt: ${rule}`)
  })
})
