// The service's client: every operation of the interface as one typed method, and `call` for the others. It checks
// before it calls, repeats what is safe to repeat, and never shows a credential.

import { invalid } from '../core/errors.ts'
import type { Clock, Explain, Random, Transport } from '../core/ports.ts'
import { parseBaseUrl } from './base-url.ts'
import { checkInteger } from './checks.ts'
import { createCredentialHolder } from './credentials.ts'
import type { BearerHeader, Credentials } from './credentials.ts'
import { createOperations } from './operation-calls.ts'
import type { ServiceClient } from './operations.ts'
import { createCaller } from './caller.ts'
import { routes } from './contract/routes.ts'

export interface ServiceClientOptions {
  /** `https://host` with any path; no user, query or fragment. */
  readonly baseUrl: string
  readonly credentials: Credentials
  /** The header of an access token. Which one the service takes is not shown. Default `Authorization`. */
  readonly bearerHeader?: BearerHeader
  readonly transport: Transport
  readonly clock: Clock
  readonly random: Random
  /** For one try of a call, and for a function that gets a credential. Default 30,000. */
  readonly callTimeoutMs?: number
  /** Repetitions after the first try, of tries that the host answered otherwise than by 429, 502, 503 or 504. Default 5. */
  readonly retries?: number
  /** How long a host that has answered before may be away, or one answer 429, 502, 503 or 504. Default 3,600,000. */
  readonly giveUpAfterMs?: number
  /** Waits so long also for a host that has never answered. Default false: three tries, since it is more likely misspelt. */
  readonly isFirstContactAwaited?: boolean
  /** Says why there was no answer, and whether for want of a network: then such a host is waited for too. Default: not known. */
  readonly explain?: Explain
  /** The longest reply that is read. Default 64 MiB. */
  readonly maxReplyBytes?: number
  /** Ends every call, and refuses those that come later, with its reason. Default: nothing does. */
  readonly signal?: AbortSignal
  /** Whether plain HTTP may go to another machine, credentials included. Default false. */
  readonly isHttpAllowed?: boolean
}

/**
 * Makes a client; makes no call. Throws ERR_UPLOAD_INVALID_ARGUMENT or ERR_UPLOAD_INSECURE_URL for a base URL or
 * credentials that cannot work.
 */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const { clock, bearerHeader = 'Authorization', isHttpAllowed = false } = options
  const {
    callTimeoutMs: timeoutMs = 30_000,
    retries = 5,
    giveUpAfterMs = 3_600_000,
    maxReplyBytes = 64 * 1024 * 1024,
  } = options
  checkInteger(timeoutMs, 'callTimeoutMs', 1)
  checkInteger(retries, 'retries')
  checkInteger(giveUpAfterMs, 'giveUpAfterMs')
  checkInteger(maxReplyBytes, 'maxReplyBytes', 1)
  if (!['Authorization', 'Authentication'].includes(bearerHeader))
    invalid('bearerHeader is unknown: give Authorization or Authentication.')
  const baseUrl = parseBaseUrl(options.baseUrl, isHttpAllowed)
  const credentials = createCredentialHolder({ credentials: options.credentials, bearerHeader, clock, timeoutMs })
  const list = routes['requestedAnalyses.list']
  // That there is an answer is all that is asked: of a long list no more is read.
  const question = { operation: list.words, url: baseUrl.resolve(list.path), maxReplyBytes: 1, ...list }
  const { host } = baseUrl
  const settings = { timeoutMs, maxReplyBytes, retries, giveUpAfterMs, question, credentials, host }
  const caller = createCaller(Object.assign({}, options, settings))
  return createOperations(baseUrl, caller)
}
