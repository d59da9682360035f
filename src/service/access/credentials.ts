// Who may call: an organisation's API key, its issuer's access token, or a fixed key or token of the development mode. Values are
// compared by digest, in constant time.

import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'

import type { ServiceContext } from '../context.ts'
import { refuse } from '../http/replies.ts'
import type { ServiceSettings } from '../settings.ts'
import type { Admission } from './admission.ts'
import { organisationOfKey } from './api-keys.ts'
import { DEVELOPMENT, type Caller } from './callers.ts'
import { digestOf } from './secret-digest.ts'

/** Runs before a request's body is read. Sets the caller, or throws the refusal with the flow's status. */
export type CredentialCheck = (request: FastifyRequest) => Promise<void>

/** Makes the check. `status`: the interface shows 401 for the video flow and 403 for the others. */
export function credentialCheck(
  { settings, db, tokenCheck }: ServiceContext,
  admission: Admission,
  status: 401 | 403,
): CredentialCheck {
  const keys = settings.credentials.apiKeys.map(digestOf)
  const tokens = settings.credentials.accessTokens.map(digestOf)
  const callerOf = async ({ headers, log }: FastifyRequest): Promise<Caller | undefined> => {
    const key = headers['x-api-key']
    const isFixed =
      isAmong(keys, key) || settings.bearerHeaders.some((name) => isAmong(tokens, bearerOf(headers[name])))
    if (isFixed) return { orgId: DEVELOPMENT, isDevelopment: true }
    let orgId = typeof key === 'string' ? await organisationOfKey(db, key) : undefined
    for (const name of tokenCheck === undefined ? [] : settings.bearerHeaders) {
      const token = bearerOf(headers[name])
      if (orgId === undefined && token !== undefined) orgId = await tokenCheck?.(token, log)
    }
    return orgId === undefined ? undefined : { orgId, isDevelopment: false }
  }
  return async (request) => {
    admission.checkAddress(request)
    const caller = await callerOf(request)
    if (caller === undefined) {
      admission.countRefusal(request)
      refuse(status, 'credentials_refused', 'A valid API key or access token is needed.')
    }
    admission.countCall(request, caller.orgId)
    request.caller = caller
  }
}

/** Whether a request has any header in which a service credential travels. */
export function carriesCredential(settings: ServiceSettings, request: FastifyRequest): boolean {
  return ['x-api-key', 'authorization', ...settings.bearerHeaders].some((name) => request.headers[name] !== undefined)
}

function bearerOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? /^bearer +(\S+)$/i.exec(header)?.[1] : undefined
}

function isAmong(accepted: readonly Buffer[], value: string | string[] | undefined): boolean {
  if (typeof value !== 'string') return false
  const given = digestOf(value)
  // All values are compared, so that the time taken does not reveal which one came close.
  return accepted.filter((one) => timingSafeEqual(one, given)).length > 0
}
