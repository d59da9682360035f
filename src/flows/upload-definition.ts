// What one upload is made of: what its flow says of it, and what every flow of an Uplink shares.

import type { AddressRules } from '../core/address/address-policy.ts'
import type { Engine } from '../core/engine.ts'
import type { FlowName } from '../core/journal/journal.ts'
import type { PartSize } from '../core/plan.ts'
import type { Clock, Hasher, Journal, Protocol, Random } from '../core/ports.ts'
import type { RenewAddresses } from './renewal.ts'
import type { Running } from './running.ts'
import type { UploadFile } from './upload.ts'

/** What every flow of an Uplink shares, which storage addresses may be used among it. */
export interface FlowPorts extends AddressRules {
  readonly engine: Engine
  readonly journal: Journal
  readonly clock: Clock
  readonly random: Random
  /** Absent: sources of an earlier life are compared by size and time of change only. */
  readonly hasher: Hasher | undefined
  /** SHA-256 of whole files, computed before each confirmation; absent: not computed. */
  readonly contentHasher: Hasher | undefined
  readonly running: Running
}

export interface UploadDefinition {
  readonly flow: FlowName
  /** Plain data from which the protocol can be made again; journalled, so never a credential. */
  readonly params: Readonly<Record<string, unknown>>
  readonly files: readonly UploadFile[]
  readonly protocol: Protocol
  readonly partSizeBytes?: PartSize | undefined
  readonly renewAddresses?: RenewAddresses | undefined
  readonly signal?: AbortSignal | undefined
  /** How much of what was sent in an earlier life is read again. Default `sample`. */
  readonly verifyDepth?: 'sample' | 'full' | undefined
  /** An earlier life began to cancel, and may have told the service without hearing its answer. Default false. */
  readonly wasCancelAsked?: boolean
}
