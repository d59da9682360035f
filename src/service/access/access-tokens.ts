// An issuer's access tokens: a JWT signed with its key, meant for us, not expired, and naming an organisation.

import type { FastifyBaseLogger } from 'fastify'
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  jwtVerify,
  type FetchImplementation,
  type JWTVerifyResult,
} from 'jose'

import { Refusal } from '../http/replies.ts'
import { isUsableName } from './api-keys.ts'
import type { JwtSettings } from './jwt-settings.ts'

/** Returns the organisation that a token names; undefined when the token cannot be trusted. The log hears of keys that are of no use. */
export type TokenCheck = (token: string, log?: Pick<FastifyBaseLogger, 'error'>) => Promise<string | undefined>

/** There is no connection to the issuer's keys. Fetch says so by a TypeError, and so does jose of a key that it does not take. */
class KeysAwayError extends Error {}
/** What came instead of the keys. Like the error above, it says nothing about the token. */
const AWAY = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID'])
/** What jose says of a private key among the keys, with the code of keys that are none. */
const PRIVATE_KEY = /must be public keys/

/** How far a clock is set back before keys are fetched anew, ms: by less, it is set all the time. */
const CLOCK_STEP_MS = 30_000

/** Makes the check. Keys from a URL are fetched when first needed, cached, and fetched again when a token names an unknown key. */
export function tokenCheck(settings: JwtSettings, now: () => number): TokenCheck {
  const verify = verifier(settings, now)
  return async (token, log) => {
    try {
      const { payload } = await verify(token)
      const orgId = payload[settings.orgClaim]
      return typeof orgId === 'string' && isUsableName(orgId) ? orgId : undefined
    } catch (error) {
      const isOfJose = error instanceof errors.JOSEError
      const isPrivateKey = isOfJose && PRIVATE_KEY.test(error.message)
      if (error instanceof KeysAwayError || (isOfJose && AWAY.has(error.code) && !isPrivateKey)) {
        const message = 'The keys of the issuer of access tokens cannot be had. Try again.'
        throw new Refusal(503, 'unavailable', message, {}, error instanceof KeysAwayError ? error.cause : error)
      }
      // The key in a file was checked at the start, so it is of another type than the token's algorithm.
      if ((isPrivateKey || !isOfJose) && 'jwksUrl' in settings.keys)
        log?.error({ err: error }, 'a key of the issuer of access tokens cannot be used')
      return undefined
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
    requiredClaims: ['exp'],
  })
  if ('jwksUrl' in keys) {
    const notFetched = () => createRemoteJWKSet(new URL(keys.jwksUrl), { [customFetch]: fetchKeys })
    let remote = notFetched()
    let lookedAt = Date.now()
    return async (token) => {
      // By the wall clock, jose would count the keys as new until a clock that was set back has caught up.
      if (Date.now() < lookedAt - CLOCK_STEP_MS) remote = notFetched()
      lookedAt = Date.now()
      try {
        return await jwtVerify(token, remote, options())
      } catch (error) {
        if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
        // The token names no key. While an issuer changes its key, two of the same kind are there.
        let failure: Error = error
        for await (const key of error) {
          try {
            return await jwtVerify(token, key, options())
          } catch (cause) {
            if (cause instanceof errors.JWSSignatureVerificationFailed) continue
            // Another key may be the token's own.
            if (!(cause instanceof TypeError)) throw cause
            failure = cause
          }
        }
        // Private ones were passed over, without a word.
        if (remote.jwks()?.keys.some((key) => key.d !== undefined) === true)
          throw new TypeError('The keys of an issuer must be public keys', { cause: failure })
        throw failure
      }
    }
  }
  return (token) => jwtVerify(token, keys.publicKey, options())
}

const fetchKeys: FetchImplementation = (url, init) =>
  fetch(url, init).catch((cause: unknown) => {
    throw new KeysAwayError('', { cause })
  })
