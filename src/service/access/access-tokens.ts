// An issuer's access tokens: a JWT signed with its key, meant for us, not expired, and naming an organisation.

import { createPublicKey } from 'node:crypto'

import { createRemoteJWKSet, errors, jwtVerify, type JWTVerifyResult } from 'jose'

import { Refusal } from '../http/replies.ts'
import { isUsableName } from './api-keys.ts'
import type { JwtSettings } from './jwt-settings.ts'

/** Returns the organisation that a token names; undefined when the token cannot be trusted. */
export type TokenCheck = (token: string) => Promise<string | undefined>

/** The issuer's keys could not be fetched, which says nothing about the token. */
const AWAY = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID'])

/** Makes the check. Keys from a URL are fetched when first needed, cached, and fetched again when a token names an unknown key. */
export function tokenCheck(settings: JwtSettings, now: () => number): TokenCheck {
  const verify = verifier(settings, now)
  return async (token) => {
    try {
      const { payload } = await verify(token)
      const orgId = payload[settings.orgClaim]
      return typeof orgId === 'string' && isUsableName(orgId) ? orgId : undefined
    } catch (error) {
      if (error instanceof errors.JOSEError && !AWAY.has(error.code)) return undefined
      // The key's type does not match the token's algorithm.
      if (error instanceof TypeError && !('jwksUrl' in settings.keys)) return undefined
      const message = 'The keys of the issuer of access tokens cannot be had. Try again.'
      throw new Refusal(503, 'unavailable', message, {}, error)
    }
  }
}

function verifier({ keys, ...settings }: JwtSettings, now: () => number): (token: string) => Promise<JWTVerifyResult> {
  const options = () => ({
    issuer: settings.issuer,
    audience: settings.audience,
    algorithms: [...settings.algorithms],
    clockTolerance: settings.clockToleranceSeconds,
    currentDate: new Date(now()),
    requiredClaims: ['exp', settings.orgClaim],
  })
  if ('jwksUrl' in keys) {
    const remote = createRemoteJWKSet(new URL(keys.jwksUrl))
    return async (token) => {
      try {
        return await jwtVerify(token, remote, options())
      } catch (error) {
        if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
        // The token names no key. While an issuer changes its key, two of the same kind are there.
        for await (const key of error) {
          const verified = await jwtVerify(token, key, options()).catch(unlessOfAnotherKey)
          if (verified !== undefined) return verified
        }
        throw error
      }
    }
  }
  const key = createPublicKey(keys.publicKeyPem)
  return (token) => jwtVerify(token, key, options())
}

/** Undefined for a signature by another key. Throws any other failure. */
function unlessOfAnotherKey(error: unknown): undefined {
  if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
}
