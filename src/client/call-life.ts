// A call on its way, and what its steps work with.

import type { Explain } from '../core/ports.ts'
import type { AttemptPorts, ServiceCall } from './attempt.ts'
import type { CredentialHeader, CredentialHolder } from './credentials.ts'
import type { HostMemory } from './host-memory.ts'
import type { Patience } from './persist.ts'

export interface CallerOptions extends AttemptPorts, Patience {
  readonly credentials: CredentialHolder
  /** `host:port`, for messages. */
  readonly host: string
  /** A call that changes nothing, to ask whether the service is there. */
  readonly question: ServiceCall
  readonly isFirstContactAwaited?: boolean
  readonly explain?: Explain
  /** Ends all calls. */
  readonly signal?: AbortSignal
}

/** What all calls of one client share. */
export interface CallContext extends CallerOptions {
  readonly memory: HostMemory
}

/** A call and what has happened to it so far. */
export interface CallLife extends ServiceCall {
  readonly signal: AbortSignal
  credential: CredentialHeader
  isCredentialRenewed: boolean
  /** The last try had no answer, and its connection may be to blame. */
  isFreshConnection: boolean
  attempts: number
  /** An earlier try may have been acted on. */
  isDoubtful: boolean
  /** This machine was without a network at one of the tries: that is in the way then, and no misspelt address. */
  isOffline?: boolean | undefined
  /** Without an answer at first contact, or with one that is hidden: what tells of an address or a rule, and of no outage. */
  missingTries: number
}
