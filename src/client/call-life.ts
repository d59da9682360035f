// The state of a call on its way, and what its steps work with.

import type { Explain } from '../core/ports.ts'
import type { CallPorts, ServiceCall } from './attempt.ts'
import type { CredentialHeader, CredentialHolder } from './credentials.ts'
import type { HostMemory } from './host-memory.ts'
import type { Patience } from './persist.ts'

/** What all calls of one client share. */
export interface CallContext extends CallPorts, Patience {
  readonly credentials: CredentialHolder
  /** A call that changes nothing, made to ask whether the service is there. */
  readonly question: ServiceCall
  readonly isFirstContactAwaited?: boolean | undefined
  readonly explain?: Explain | undefined
  /** Ends all calls. */
  readonly signal?: AbortSignal | undefined
  readonly memory: HostMemory
}

/** A call and what has happened to it so far. */
export interface CallLife extends ServiceCall {
  readonly signal: AbortSignal
  /** That of the last try; a blank one before the first. */
  credential: CredentialHeader
  /** The credential that the service refused, in place of which a newer one is asked for. */
  refused?: CredentialHeader | undefined
  /** Set after a try without an answer: its connection may be to blame, so the next try gets a new one. */
  isFreshConnection: boolean
  attempts: number
  /** Whether an earlier try may have been acted on, or the one that was under way when the call was ended. */
  isDoubtful: boolean
  /**
   * Whether this machine had no network at one of the tries. Then the network is to blame, and not a misspelt address.
   */
  isOffline?: boolean | undefined
  /**
   * Tries without an answer at first contact, and tries whose answer was hidden. They point to a wrong address or to a
   * CORS rule, not to an outage.
   */
  missingTries: number
}
