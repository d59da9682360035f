// The service's client: every operation of the interface as one typed method, and `call` for the others. It checks
// before it calls, repeats what is safe to repeat, and never shows a credential.

import { invalid } from '../core/errors.ts'
import type { Clock, Random, Transport } from '../core/ports.ts'
import { parseBaseUrl } from './base-url.ts'
import type { Query } from './base-url.ts'
import { checkInteger } from './checks.ts'
import { createCredentialHolder } from './credentials.ts'
import type { BearerHeader, Credentials } from './credentials.ts'
import type {
  AnalysisInput,
  ConfirmFileInput,
  MocapSession,
  MocapSessionInput,
  RegisterFilesInput,
  RequestedAnalysis,
  Segment,
  SegmentInput,
  ServiceId,
  VideoUpload,
  VideoUploadInput,
  WireObject,
} from './contract.ts'
import { createOperations } from './operation-calls.ts'
import type { ServiceClientEvent } from './next-step.ts'
import { createCaller } from './repeat.ts'

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
  readonly timeoutMs?: number
  /** Repetitions after the first try, of tries that the host answered otherwise than by 429 with Retry-After. Default 5. */
  readonly retries?: number
  /** How long a host that has answered before may be away, or answer 429 with Retry-After. Default 3,600,000. */
  readonly giveUpAfterMs?: number
  /** The longest reply that is read. Default 64 MiB. */
  readonly maxReplyBytes?: number
  /** Whether plain HTTP may go to another machine, credentials included. Default false. */
  readonly isHttpAllowed?: boolean
  /** Told of repetitions and waiting; its failures are ignored. */
  readonly onEvent?: (event: ServiceClientEvent) => void
}

export interface CallOptions {
  /** Ends the call at once, with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** For an operation whose path is not shown. */
export interface FreeCallOptions extends CallOptions {
  /** Sent as JSON. Default: no body. */
  readonly data?: unknown
  readonly query?: Query
}

/** A list as far as it is understood; `raw` is the whole reply, with whatever it says of further pages. */
export interface ListReply<TItem> {
  readonly items: readonly TItem[]
  readonly raw: unknown
}

/**
 * Every method rejects with ERR_UPLOAD_INVALID_ARGUMENT before any call is made, ERR_UPLOAD_CREDENTIALS_REFUSED,
 * ERR_UPLOAD_SERVICE_REFUSED, ERR_UPLOAD_SERVICE_REPLY, ERR_UPLOAD_REDIRECT_REFUSED, ERR_UPLOAD_RETRIES_EXHAUSTED or
 * ERR_UPLOAD_HOST_UNREACHABLE, or with the signal's reason. `details.isDoubtful` is true when the service may have
 * acted on a try all the same.
 */
export interface ServiceClient {
  readonly mocapSessions: {
    create(input: MocapSessionInput, options?: CallOptions): Promise<MocapSession>
  }
  readonly mocapSessionFiles: {
    /** The address of each name, in the order asked. Addresses are secrets. */
    register(input: RegisterFilesInput, options?: CallOptions): Promise<Map<string, string>>
  }
  readonly playerGroupSegments: {
    create(input: SegmentInput, options?: CallOptions): Promise<Segment>
    /** `data` goes out as it is: its fields are not shown. */
    update(input: { readonly id: ServiceId; readonly data: WireObject }, options?: CallOptions): Promise<WireObject>
  }
  readonly requestedAnalyses: {
    /** `query` goes out as it is: its names are not shown. */
    list(input?: { readonly query?: Query }, options?: CallOptions): Promise<ListReply<RequestedAnalysis>>
    /** Never repeated when it may have been done: a doubtful end rejects at once, for the caller to look it up. */
    create(input: AnalysisInput, options?: CallOptions): Promise<RequestedAnalysis>
    get(id: ServiceId, options?: CallOptions): Promise<RequestedAnalysis>
    /** `data` goes out as it is: its fields are not shown. */
    update(
      input: { readonly id: ServiceId; readonly data: WireObject },
      options?: CallOptions,
    ): Promise<RequestedAnalysis>
    submit(id: ServiceId, options?: CallOptions): Promise<RequestedAnalysis>
  }
  readonly videoUploads: {
    create(input: VideoUploadInput, options?: CallOptions): Promise<VideoUpload>
    confirm(input: ConfirmFileInput, options?: CallOptions): Promise<void>
    /** A session that is gone after a doubtful try counts as cancelled. */
    cancel(uploadSessionId: ServiceId, options?: CallOptions): Promise<void>
  }
  /**
   * Any other operation. The path begins with `/` and stays below the base URL. A POST is never repeated when it may
   * have been done; `data` is undefined for an empty reply.
   */
  call(
    method: string,
    path: string,
    options?: FreeCallOptions,
  ): Promise<{ readonly status: number; readonly data: unknown }>
}

/**
 * Makes a client; makes no call. Throws ERR_UPLOAD_INVALID_ARGUMENT or ERR_UPLOAD_INSECURE_URL for a base URL or
 * credentials that cannot work.
 */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const { transport, clock, random, bearerHeader = 'Authorization', isHttpAllowed = false } = options
  const { timeoutMs = 30_000, retries = 5, giveUpAfterMs = 3_600_000, maxReplyBytes = 64 * 1024 * 1024 } = options
  checkInteger(timeoutMs, 'timeoutMs', 1)
  checkInteger(retries, 'retries')
  checkInteger(giveUpAfterMs, 'giveUpAfterMs')
  checkInteger(maxReplyBytes, 'maxReplyBytes', 1)
  if (!['Authorization', 'Authentication'].includes(bearerHeader))
    invalid('bearerHeader is unknown: give Authorization or Authentication.')
  const baseUrl = parseBaseUrl(options.baseUrl, isHttpAllowed)
  const credentials = createCredentialHolder({ credentials: options.credentials, bearerHeader, clock, timeoutMs })
  const onEvent = options.onEvent ?? (() => undefined)
  const host = baseUrl.host
  const caller = createCaller({
    transport,
    ...{ clock, random, timeoutMs, maxReplyBytes, retries, giveUpAfterMs },
    ...{ credentials, host, onEvent },
  })
  return createOperations(baseUrl, caller)
}
