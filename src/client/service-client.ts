// The service's client: every operation of the interface as one typed method, and `call` for all others. It checks
// before it calls, repeats what is safe to repeat, and never shows a credential.

import { invalid } from '../core/errors.ts'
import type { Clock, Explain, Random, Transport } from '../core/ports.ts'
import { parseBaseUrl } from './base-url.ts'
import { checkBoolean, checkInteger } from './checks.ts'
import { createCredentialHolder } from './credentials.ts'
import type { BearerHeader, Credentials } from './credentials.ts'
import { createOperations } from './operation-calls.ts'
import type { ServiceClient } from './operations.ts'
import { createCaller } from './caller.ts'
import { createHostMemory, type HostMemory } from './host-memory.ts'
import { routes } from './contract/routes.ts'

export interface ServiceClientOptions {
  /** `https://host`, with any path but without user, query or fragment. */
  readonly baseUrl: string
  readonly credentials: Credentials
  /**
   * The header of an access token. Default `Authorization`. The interface does not show which one the service takes.
   */
  readonly bearerHeader?: BearerHeader | undefined
  readonly transport: Transport
  readonly clock: Clock
  readonly random: Random
  /** Time limit of one try of a call, and of a function that gets a credential, ms. Default 30,000. */
  readonly callTimeoutMs?: number | undefined
  /**
   * How many tries may follow the first. Tries without an answer, or answered with 429, 502, 503, 504 or 511, do not count
   * (`giveUpAfterMs` limits those), but a create that may have been heard does. Default 5.
   */
  readonly retries?: number | undefined
  /**
   * How long a host that has answered before may be away, or any host may answer 429, 502, 503, 504 or 511, ms. Default
   * 3,600,000.
   */
  readonly giveUpAfterMs?: number | undefined
  /**
   * Whether a host that has never answered is waited for just as long. Default false: it gets three tries, since it is
   * more likely misspelt than away.
   */
  readonly isFirstContactAwaited?: boolean | undefined
  /**
   * Says why there was no answer, and whether this machine has no network. Without a network, a host that has never
   * answered is waited for as well. Default: neither is known.
   */
  readonly explain?: Explain | undefined
  /** The longest reply that is read, bytes. Default 64 MiB. */
  readonly maxReplyBytes?: number | undefined
  /** Ends every call with its reason, and refuses later ones. Default: none. */
  readonly signal?: AbortSignal | undefined
  /** Whether plain HTTP, credentials included, may go to another machine. Default false. */
  readonly isHttpAllowed?: boolean | undefined
}

/**
 * Makes a client, without making a call. Throws ERR_UPLOAD_INVALID_ARGUMENT or ERR_UPLOAD_INSECURE_URL for a base URL
 * or credentials that cannot work.
 */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  return createClient(options).client
}

/** The same, with what the client knows of its host, for an Uplink that may know more from its journal. */
export function createClient(options: ServiceClientOptions): {
  readonly client: ServiceClient
  readonly memory: HostMemory
} {
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
  // The text 'false' must not allow what it denies.
  const baseUrl = parseBaseUrl(options.baseUrl, checkBoolean(isHttpAllowed, 'isHttpAllowed'))
  const credentials = createCredentialHolder(options.credentials, bearerHeader, clock, timeoutMs, options.signal)
  const list = routes['requestedAnalyses.list']
  // It only matters that an answer comes, so of a long list one byte is kept.
  const question = { operation: list.words, url: baseUrl.resolve(list.path), maxReplyBytes: 1, ...list }
  const memory = createHostMemory(baseUrl.host)
  const settings = { timeoutMs, maxReplyBytes, retries, giveUpAfterMs, question, credentials, memory }
  const caller = createCaller(Object.assign({}, options, settings))
  return { client: createOperations(baseUrl, caller, clock), memory }
}
