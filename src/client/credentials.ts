// The service's credentials: kept in closures, checked before use, asked for again once when refused, and never shown.

import { invalid, TransportError, UploadError } from '../core/errors.ts'
import type { Clock } from '../core/ports.ts'
import { timeout, withinTime } from '../core/time/within-time.ts'

/**
 * A credential, or a function that gets it. The function is called for the first call, and again when the service
 * refuses its result. If it rejects with a TypeError, as fetch does without a connection, or gives no answer in time, it
 * is called again, as often and as long as a service that cannot be reached. Any other rejection is final.
 */
export type CredentialSource = string | (() => string | Promise<string>)

/** Exactly one of the two: the legacy API key, or an access token. */
export type Credentials =
  | { readonly apiKey: CredentialSource; readonly accessToken?: undefined }
  | { readonly accessToken: CredentialSource; readonly apiKey?: undefined }

/** The header that carries an access token. The interface does not show which of the two the service takes. */
export type BearerHeader = 'Authorization' | 'Authentication'

/** A credential ready for a request. */
export interface CredentialHeader {
  readonly name: string
  readonly value: string
  /** The bare key or token, so that it can be removed from anything that is shown. */
  readonly secret: string
}

export interface CredentialHolder {
  /** True if a refused credential can be asked for again. */
  readonly canRefresh: boolean
  /** The credential in use, or a newer one than `refused`. Concurrent calls share one question. */
  current(refused?: CredentialHeader): Promise<CredentialHeader>
}

/**
 * Checks credentials and hides them. Throws ERR_UPLOAD_INVALID_ARGUMENT for a value that is empty or cannot stand in a
 * header. A function's value is checked when it arrives. `timeoutMs`: how long a function may take. `signal`: nobody
 * waits for it any more.
 */
export function createCredentialHolder(
  credentials: Credentials,
  bearerHeader: BearerHeader,
  clock: Clock,
  timeoutMs: number,
  signal?: AbortSignal,
): CredentialHolder {
  const { label, source } = sourceOf(credentials)
  const toHeader = (secret: unknown): CredentialHeader => {
    checkSecret(secret, label)
    return label === 'apiKey'
      ? { name: 'x-api-key', value: secret, secret }
      : { name: bearerHeader.toLowerCase(), value: `Bearer ${secret}`, secret }
  }
  const canRefresh = typeof source === 'function'
  let known = canRefresh ? undefined : toHeader(source)
  let asking: Promise<CredentialHeader> | undefined
  const ask = (): Promise<CredentialHeader> => {
    asking ??= askSource(clock, timeoutMs, source as () => string, label, signal)
      .then((secret) => (known = toHeader(secret)))
      .finally(() => (asking = undefined))
    return asking
  }
  return {
    canRefresh,
    // A call that was refused with an older credential takes the one that another call got in the meantime.
    current: (refused) => (known === undefined || known === refused ? ask() : Promise.resolve(known)),
  }
}

function sourceOf(credentials: Credentials): {
  readonly label: 'apiKey' | 'accessToken'
  readonly source: CredentialSource
} {
  // Hosts written in plain JavaScript may have given none.
  const { apiKey, accessToken } =
    (credentials as Partial<Record<'apiKey' | 'accessToken', CredentialSource | undefined>> | undefined) ?? {}
  const source = apiKey ?? accessToken
  if (source === undefined || (apiKey !== undefined && accessToken !== undefined))
    invalid('Give credentials: either { apiKey } or { accessToken }.')
  return { label: apiKey === undefined ? 'accessToken' : 'apiKey', source }
}

/**
 * Asks a function of the host. Rejects with a TransportError if whoever it asks seems to be out of reach, else with
 * ERR_UPLOAD_CREDENTIALS_REFUSED. Neither has a cause or the function's own words: the errors of a token endpoint often
 * contain the secret itself.
 */
async function askSource(
  clock: Clock,
  timeoutMs: number,
  source: () => string | Promise<string>,
  label: string,
  signal?: AbortSignal,
): Promise<string> {
  const late = timeout(`The ${label} function gave no answer within ${timeoutMs / 1000} s.`)
  const details = { credential: label }
  try {
    // A function that hangs must not hold up every later call: once its time is up, the next one asks anew.
    return await withinTime(
      clock,
      timeoutMs,
      () => late,
      async () => source(),
      signal,
    )
  } catch (error) {
    const isLate = error === late
    const kind = error instanceof Error && /^\w{1,40}$/.test(error.name) ? error.name : 'a failure'
    const words = isLate ? late.message : `The ${label} function ended in ${kind}.`
    if (isLate || kind === 'TypeError') {
      const how = { ending: 'neverWhole', phase: 'connect', details } as const
      throw new TransportError(isLate ? 'ERR_UPLOAD_TIMEOUT' : 'ERR_UPLOAD_NETWORK', words, how)
    }
    throw new UploadError('ERR_UPLOAD_CREDENTIALS_REFUSED', words, { details })
  }
}

/** Throws ERR_UPLOAD_INVALID_ARGUMENT, whose message begins with the label, for what cannot stand in a header. */
export function checkSecret(secret: unknown, label: 'apiKey' | 'accessToken'): asserts secret is string {
  if (typeof secret !== 'string' || !secret) invalid(`${label} is empty or not a string: give its value.`)
  if (/[^\x20-\x7e]/.test(secret))
    invalid(`${label} has a control or non-ASCII character in it (a line break at its end?): give it as issued.`)
  if (secret.trim() !== secret) invalid(`${label} begins or ends with a blank: give it as issued.`)
  if (label === 'accessToken' && /^bearer /i.test(secret))
    invalid('accessToken begins with the word Bearer, which is added here: give the token alone.')
}
