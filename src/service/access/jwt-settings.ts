// Whose access tokens the service takes, and the checks that keep a mistake there from opening it.

import { createPublicKey } from 'node:crypto'

/** Access tokens (JWT) of an issuer. Each must name issuer, audience, an end and the organisation. */
export interface JwtOptions {
  /** What `iss` must be. */
  readonly issuer: string
  /** What `aud` must be, or hold. */
  readonly audience: string
  /** Where the issuer publishes its keys: https, or http on this machine. Either this or `publicKeyPem`. */
  readonly jwksUrl?: string
  /** The issuer's public key (SPKI, `-----BEGIN PUBLIC KEY-----`). */
  readonly publicKeyPem?: string
  /** Signatures that are taken. Asymmetric ones only. Default RS256 and ES256. */
  readonly algorithms?: readonly string[]
  /** The claim that names the organisation, a text. Default org_id. */
  readonly orgClaim?: string
  /** How far the clocks may differ, s, at most 300. Default 30. */
  readonly clockToleranceSeconds?: number
}

export interface JwtSettings {
  readonly issuer: string
  readonly audience: string
  readonly keys: { readonly jwksUrl: string } | { readonly publicKeyPem: string }
  readonly algorithms: readonly string[]
  readonly orgClaim: string
  readonly clockToleranceSeconds: number
}

const ASYMMETRIC = /^(?:RS|PS|ES)(?:256|384|512)$|^EdDSA$/

/** Throws a TypeError that names the rule. */
export function resolveJwt(options: JwtOptions): JwtSettings {
  const { issuer, audience, jwksUrl, publicKeyPem, orgClaim = 'org_id', clockToleranceSeconds = 30 } = options
  const algorithms = options.algorithms ?? ['RS256', 'ES256']
  check(issuer !== '' && audience !== '' && orgClaim !== '', 'issuer, audience and orgClaim must not be empty')
  check(
    algorithms.length > 0 && algorithms.every((one) => ASYMMETRIC.test(one)),
    'algorithms must be some of RS, PS, ES with 256, 384 or 512, and EdDSA: nothing that the service could sign itself',
  )
  check(clockToleranceSeconds >= 0 && clockToleranceSeconds <= 300, 'clockToleranceSeconds must be 0 to 300')
  check((jwksUrl === undefined) !== (publicKeyPem === undefined), 'either jwksUrl or publicKeyPem must be given')
  const rest = { issuer, audience, algorithms, orgClaim, clockToleranceSeconds }
  if (jwksUrl !== undefined) {
    check(isTrustworthy(jwksUrl), 'jwksUrl must be an https URL, or http on this machine')
    return { ...rest, keys: { jwksUrl } }
  }
  check(
    publicKeyPem !== undefined && isPublicKey(publicKeyPem),
    'publicKeyPem must be a public key in PEM, -----BEGIN PUBLIC KEY-----',
  )
  return { ...rest, keys: { publicKeyPem } }
}

function isPublicKey(pem: string): boolean {
  // Of a private key or a certificate, a public one could be made as well: neither has a place here.
  if (!pem.includes('-----BEGIN PUBLIC KEY-----')) return false
  try {
    createPublicKey(pem)
    return true
  } catch {
    return false
  }
}

function isTrustworthy(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && /^(?:127\.0\.0\.1|\[::1\]|localhost)$/.test(hostname))
}

function check(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new TypeError(`startService: jwt: ${rule}.`)
}
