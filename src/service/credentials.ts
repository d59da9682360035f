// Who may call: an API key in x-api-key, or an access token as a bearer. Values are compared by digest, in constant time.

import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'

import type { ServiceSettings } from './options.ts'
import { refuse } from './replies.ts'

/** A check to run before a request's body is read; it throws the refusal with the status of the flow. */
export type CredentialCheck = (request: FastifyRequest) => Promise<void>

/** Makes the check. `status`: the interface shows 401 for the video flow and 403 for the others. */
export function credentialCheck(settings: ServiceSettings, status: 401 | 403): CredentialCheck {
  const keys = settings.credentials.apiKeys.map(digest)
  const tokens = settings.credentials.accessTokens.map(digest)
  return (request) => {
    const isKnown =
      isAmong(keys, request.headers['x-api-key']) ||
      settings.bearerHeaders.some((name) => isAmong(tokens, bearerOf(request.headers[name])))
    if (!isKnown) refuse(status, 'credentials_refused', 'A valid API key or access token is needed.')
    return Promise.resolve()
  }
}

/** Whether a request carries anything in a header where a service credential travels. */
export function carriesCredential(settings: ServiceSettings, request: FastifyRequest): boolean {
  return ['x-api-key', 'authorization', ...settings.bearerHeaders].some((name) => request.headers[name] !== undefined)
}

function bearerOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? /^bearer +(\S+)$/i.exec(header)?.[1] : undefined
}

function isAmong(accepted: readonly Buffer[], value: string | string[] | undefined): boolean {
  if (typeof value !== 'string') return false
  const given = digest(value)
  // All are compared, so that the time taken says nothing about which one was near.
  return accepted.filter((one) => timingSafeEqual(one, given)).length > 0
}

function digest(value: string): Buffer {
  return createHash('sha256').update(value).digest()
}
