// The service's credentials: held in closures, checked before use, asked for again once when refused, shown nowhere.

import { UploadError, invalid } from '../core/errors.ts'
import type { Clock } from '../core/ports.ts'
import { withinTime } from '../core/time/within-time.ts'

/** A credential, or a function that gets it: asked at the first call, and again when the service refuses it. */
export type CredentialSource = string | (() => string | Promise<string>)

/** One of the two: the legacy API key, or an access token. */
export type Credentials =
  | { readonly apiKey: CredentialSource; readonly accessToken?: undefined }
  | { readonly accessToken: CredentialSource; readonly apiKey?: undefined }

/** The header that carries an access token. Which of the two a service takes is not shown. */
export type BearerHeader = 'Authorization' | 'Authentication'

/** A credential ready for a request. */
export interface CredentialHeader {
  readonly name: string
  readonly value: string
  /** The bare key or token, to take it out of anything that is shown. */
  readonly secret: string
}

export interface CredentialHolder {
  /** True when a refused credential can be asked for again. */
  readonly canRefresh: boolean
  /** The credential in use; asks for it the first time. */
  current(): Promise<CredentialHeader>
  /** A newer one than `refused`. Calls at the same time share one question. */
  refresh(refused: CredentialHeader): Promise<CredentialHeader>
}

/**
 * Checks credentials and hides them. Throws ERR_UPLOAD_INVALID_ARGUMENT for a value that is empty or cannot stand in a
 * header; a function's value is checked when it comes.
 */
export function createCredentialHolder(options: {
  readonly credentials: Credentials
  readonly bearerHeader: BearerHeader
  readonly clock: Clock
  /** How long a function may take. */
  readonly timeoutMs: number
}): CredentialHolder {
  const { bearerHeader, clock, timeoutMs } = options
  const { label, source } = sourceOf(options.credentials)
  const toHeader = (secret: unknown): CredentialHeader => {
    checkSecret(secret, label)
    return label === 'apiKey'
      ? { name: 'x-api-key', value: secret, secret }
      : { name: bearerHeader.toLowerCase(), value: `Bearer ${secret}`, secret }
  }
  if (typeof source === 'string') {
    const header = toHeader(source)
    return { canRefresh: false, current: () => Promise.resolve(header), refresh: () => Promise.resolve(header) }
  }
  if (typeof source !== 'function') return invalid(`${label} is neither a string nor a function: give one of them.`)

  const late = `The ${label} function gave no answer within ${timeoutMs / 1000} s.`
  let known: CredentialHeader | undefined
  let asking: Promise<CredentialHeader> | undefined
  const ask = (): Promise<CredentialHeader> => {
    // A function that hangs must not hold every later call: after its time the next one asks anew.
    asking ??= withinTime(clock, timeoutMs, late, () => askSource(source, label), { credential: label })
      .then((secret) => (known = toHeader(secret)))
      .finally(() => (asking = undefined))
    return asking
  }
  return {
    canRefresh: true,
    current: () => (known === undefined ? ask() : Promise.resolve(known)),
    // Who was refused with an older credential takes the one that another call has got meanwhile.
    refresh: (refused) => (known === undefined || known === refused ? ask() : Promise.resolve(known)),
  }
}

function sourceOf(credentials: Credentials): {
  readonly label: 'apiKey' | 'accessToken'
  readonly source: CredentialSource
} {
  // Hosts in plain JavaScript may have given none.
  const { apiKey, accessToken } =
    (credentials as Partial<Record<'apiKey' | 'accessToken', CredentialSource | undefined>> | undefined) ?? {}
  if (apiKey !== undefined && accessToken === undefined) return { label: 'apiKey', source: apiKey }
  if (accessToken !== undefined && apiKey === undefined) return { label: 'accessToken', source: accessToken }
  return invalid('Credentials must be one of { apiKey } and { accessToken }: give exactly one.')
}

async function askSource(source: () => string | Promise<string>, label: string): Promise<string> {
  try {
    return await source()
  } catch (error) {
    // No cause and no message: what a token endpoint says in its errors is often the secret itself.
    const kind = error instanceof Error && /^\w{1,40}$/.test(error.name) ? error.name : 'a failure'
    throw new UploadError('ERR_UPLOAD_CREDENTIALS_REFUSED', `The ${label} function ended in ${kind}.`, {
      details: { credential: label },
    })
  }
}

function checkSecret(secret: unknown, label: string): asserts secret is string {
  if (typeof secret !== 'string' || secret === '') invalid(`${label} is empty or not a string: give its value.`)
  if (/[^\x20-\x7e]/.test(secret))
    invalid(`${label} has a control or non-ASCII character in it (a line break at its end?): give it as issued.`)
  if (secret.trim() !== secret) invalid(`${label} begins or ends with a blank: give it as issued.`)
  if (label === 'accessToken' && /^bearer /i.test(secret))
    invalid('accessToken begins with the word Bearer, which is added here: give the token alone.')
}
