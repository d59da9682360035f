// What one upload is made of: what its flow defines, and what all flows of an Uplink share.

import type { HostMemory } from '../client/host-memory.ts'
import type { ServiceClient } from '../client/operations.ts'
import type { AddressRules } from '../core/address/address-policy.ts'
import type { Engine } from '../core/engine.ts'
import type { FlowName } from '../core/journal/journal.ts'
import type { PartSize } from '../core/plan.ts'
import type { Clock, Hasher, Journal, Protocol, Random, Source } from '../core/ports.ts'
import type { RenewAddresses } from './renewal.ts'
import type { Running } from './running.ts'

/** What all flows of an Uplink share, including the rules for storage addresses. */
export interface FlowContext extends AddressRules {
  readonly engine: Engine
  readonly journal: Journal
  readonly clock: Clock
  readonly random: Random
  /** Without it, sources from an earlier run are compared by size and modification time only. */
  readonly hasher: Hasher | undefined
  /** Computes the SHA-256 of a whole file before each confirmation. Without it that is skipped. */
  readonly contentHasher: Hasher | undefined
  /** Every part that an earlier run sent is read again, and not just a sample of them. */
  readonly provesAll: boolean
  readonly running: Running
  /** What the protocols of the service call. */
  readonly client: ServiceClient
  /** What the client knows of its host. */
  readonly memory: HostMemory
  /** For uploads that name no part size. */
  readonly partSizeBytes: PartSize | undefined
  /** How the platform finds a file from an earlier run again. Absent where it cannot. */
  readonly sourceAt?: ((file: { readonly name: string; readonly location: string }) => Source | undefined) | undefined
}

/** A source, and beside it what belongs to the flow. */
export interface UploadFile {
  readonly source: Source
  /** Frames a second of this clip; only passed on to the service. Default: not sent. */
  readonly frameRate?: number | undefined
}

export interface UploadDefinition {
  readonly flow: FlowName
  /** Plain data from which the protocol can be made again. It is journalled, so it never holds a credential. */
  readonly params: Readonly<Record<string, unknown>>
  readonly files: readonly UploadFile[]
  readonly protocol: Protocol
  readonly partSizeBytes?: PartSize | undefined
  readonly renewAddresses?: RenewAddresses | undefined
  readonly signal?: AbortSignal | undefined
  /** An earlier run began to cancel and may have told the service without hearing its answer. Default false. */
  readonly wasCancelAsked?: boolean
}
