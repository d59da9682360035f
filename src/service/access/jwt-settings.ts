// Whose access tokens the service accepts, with checks that keep a mistake in these options from opening the service.

import { createPublicKey, type KeyObject } from 'node:crypto'

import { check } from '../option-checks.ts'

/** Access tokens (JWT) of an issuer. Each must carry the issuer, the audience, an expiry and the organisation. */
export interface JwtOptions {
  /** The required value of `iss`. */
  readonly issuer: string
  /** The value that `aud` must equal or contain. */
  readonly audience: string
  /** Where the issuer publishes its keys: https, or http on this machine, without a user. Give either this or `publicKeyPem`. */
  readonly jwksUrl?: string | undefined
  /** The issuer's public key (SPKI, `-----BEGIN PUBLIC KEY-----`) for one of `algorithms`. RSA: at least 2,048 bits. */
  readonly publicKeyPem?: string | undefined
  /** Accepted signature algorithms, asymmetric ones only. Default RS256 and ES256. */
  readonly algorithms?: readonly string[] | undefined
  /** The claim, a string, that names the organisation. Default org_id. */
  readonly orgClaim?: string | undefined
  /** How far the clocks may differ, s, at most 300. Default 30. */
  readonly clockToleranceSeconds?: number | undefined
}

export interface JwtSettings {
  readonly issuer: string
  readonly audience: string
  readonly keys: { readonly jwksUrl: string } | { readonly publicKey: KeyObject }
  readonly algorithms: readonly string[]
  readonly orgClaim: string
  readonly clockToleranceSeconds: number
}

const ASYMMETRIC = /^(?:RS|PS|ES)(?:256|384|512)$|^EdDSA$/

/** Throws a TypeError that names the rule. */
export function resolveJwt(options: JwtOptions): JwtSettings {
  const { issuer, audience, jwksUrl, publicKeyPem, orgClaim = 'org_id', clockToleranceSeconds = 30 } = options
  const algorithms = options.algorithms ?? ['RS256', 'ES256']
  check(issuer !== '' && audience !== '' && orgClaim !== '', 'jwt: issuer, audience and orgClaim must not be empty')
  check(
    algorithms.length > 0 && algorithms.every((one) => ASYMMETRIC.test(one)),
    'jwt: algorithms must be some of RS, PS, ES with 256, 384 or 512, and EdDSA: nothing that the service could sign itself',
  )
  check(clockToleranceSeconds >= 0 && clockToleranceSeconds <= 300, 'jwt: clockToleranceSeconds must be 0 to 300')
  check((jwksUrl === undefined) !== (publicKeyPem === undefined), 'jwt: either jwksUrl or publicKeyPem must be given')
  const rest = { issuer, audience, algorithms, orgClaim, clockToleranceSeconds }
  if (jwksUrl !== undefined) {
    check(isTrustworthy(jwksUrl), 'jwt: jwksUrl must be an https URL, or http on this machine, without a user')
    return { ...rest, keys: { jwksUrl } }
  }
  const publicKey = publicKeyOf(publicKeyPem)
  check(publicKey !== undefined, 'jwt: publicKeyPem must be a public key in PEM, -----BEGIN PUBLIC KEY-----')
  // Otherwise every token would be refused, and nobody would be told why.
  check(
    algorithms.some((algorithm) => isKeyFor(algorithm, publicKey)),
    'jwt: publicKeyPem must be a key for one of algorithms, of at least 2048 bits if it is RSA',
  )
  return { ...rest, keys: { publicKey } }
}

function publicKeyOf(pem = ''): KeyObject | undefined {
  // Node could derive a public key from a private key or a certificate, but neither belongs here.
  if (!pem.includes('-----BEGIN PUBLIC KEY-----')) return undefined
  try {
    return createPublicKey(pem)
  } catch {
    return undefined
  }
}

const CURVES: Readonly<Record<string, string>> = { ES256: 'prime256v1', ES384: 'secp384r1', ES512: 'secp521r1' }

/** Whether signatures of this algorithm can be checked with this key (RFC 7518, 3.3 to 3.5). */
function isKeyFor(algorithm: string, { asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean {
  if (algorithm === 'EdDSA') return type === 'ed25519'
  if (algorithm.startsWith('ES')) return details?.namedCurve === CURVES[algorithm]
  return type === 'rsa' && (details?.modulusLength ?? 0) >= 2048
}

function isTrustworthy(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname, username, password } = new URL(url)
  // Never fetched by Node, which would quote the password in its error.
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && /^(?:127\.0\.0\.1|\[::1\]|localhost)$/.test(hostname))
}
