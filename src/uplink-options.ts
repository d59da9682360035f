// What an Uplink is made of: the choices of its host, and what its platform gives.

import type { ServiceClientOptions } from './client/service-client.ts'
import type { AddressPolicy, HostPolicy } from './core/address/address-policy.ts'
import type { WholeBodies } from './core/attempt/whole-body.ts'
import type { EngineOptions } from './core/engine.ts'
import type { Hearing } from './core/line/hearing.ts'
import type { LimitRate } from './core/line/timetable.ts'
import type { PartSize } from './core/plan.ts'
import type { Clock, Explain, Hasher, Journal, Random, Source, Transport } from './core/ports.ts'
import type { TuningMaker } from './core/tuning.ts'

/** What a host chooses. Every option has a safe default but the first two. */
export interface UplinkOptions {
  /** The service's base address: `https://…`, with any path. */
  readonly baseUrl: string
  /** `{ apiKey }` or `{ accessToken }`: a string, or an async function that is asked again after a refusal. */
  readonly credentials: ServiceClientOptions['credentials']
  /** The header of an access token. Assumption, not shown which one is taken; default `Authorization`. */
  readonly bearerHeader?: ServiceClientOptions['bearerHeader']
  /** Parts in flight over all uploads of this Uplink: 1 to 64, or `auto` (default). */
  readonly concurrency?: EngineOptions['concurrency']
  /**
   * Bytes of a video part, or a function of the file's bytes. Default: a 128th of the file, in browsers a 64th; at least 5 MiB, at
   * most 16 MiB.
   */
  readonly partSizeBytes?: PartSize
  /**
   * Bytes a second over all uploads together, retries included: a number, `2MB`, `off`, or a timetable of local times such as
   * `08:00,512KB 23:00,off`. Default: no limit.
   */
  readonly limitRate?: LimitRate
  /**
   * Yields to everything else on the line: measures how long the line takes to answer and goes only as fast as makes nobody
   * wait, in at most four parts at once unless `concurrency` says more. Default false.
   */
  readonly isBackground?: boolean
  /** Attempts of a part that reached the host, the first included. Default 8. */
  readonly retries?: number
  /** How long a host, the storage's or the service's, may be out of reach, ms. Default 1 h. */
  readonly giveUpAfterMs?: number
  /**
   * Waits so long also for a service that has never answered this Uplink. Default false: it is tried three times, because its
   * address is more likely misspelt, and waited for only where this machine was evidently without a network at one of the tries.
   */
  readonly isFirstContactAwaited?: boolean
  /**
   * `md5` (default): each part's digest is compared with its ETag where that is one. `full`: also, at resume, every part
   * that was sent before is read again, and before each confirmation the whole file, for its SHA-256. `off`: nothing is hashed.
   */
  readonly verify?: 'md5' | 'full' | 'off'
  /** Memory for bodies on their way, bytes. Default 48 MiB. */
  readonly memoryBytes?: number
  /** How long an attempt may wait, ms. */
  readonly timeouts?: EngineOptions['timeouts']
  /** For one try of a call to the service, ms. Default 30,000. */
  readonly callTimeoutMs?: number
  /** Plain HTTP off this machine, addresses and credentials included. Default false. */
  readonly isHttpAllowed?: boolean
  /**
   * Which hosts the storage addresses that the service hands out may name: `any` (default), `public`, or a function of
   * the host. For servers that embed the engine; `public` also judges, in Node, what a name stands for when connecting.
   * The base URL is yours and is not judged.
   */
  readonly addressPolicy?: AddressPolicy
}

/** What the world gives; the faces wire their platform's own. */
export interface UplinkPorts {
  readonly transport: Transport
  /** Sends parts to the storage. Default: `transport`. */
  readonly storageTransport?: Transport
  readonly journal: Journal
  readonly clock: Clock
  readonly random: Random
  /** Absent: nothing can be verified. */
  readonly hasher?: Hasher
  /** SHA-256 for `verify: full`. Absent: whole files get no digest. */
  readonly contentHasher?: Hasher
  /** Finds the file of a resumed session again. Absent: the host gives the source to `resume`. */
  readonly sourceAt?: (file: { readonly name: string; readonly location: string }) => Source
  /** Makes the memory through which bodies pass; shared memory where the hasher works elsewhere. */
  readonly allocate?: (bytes: number) => Uint8Array
  /** Sends short parts in one piece instead of through windows. Absent: through windows. */
  readonly wholeBodies?: WholeBodies
  /** Listens to the line where the storage's transport has round trips. Absent: the number of parts goes by rates alone. */
  readonly hearing?: Hearing
  /** `adaptiveTuning`, for `concurrency: 'auto'`, `limitRate` and `isBackground`. Absent: a number of parts, and no more. */
  readonly tuning?: TuningMaker
  /** Says why the service gave no answer, and whether for want of a network. Absent: not known. */
  readonly explain?: Explain
  /** `isPublicHost`, for `addressPolicy: 'public'`. Absent: that policy is refused. */
  readonly isPublicHost?: HostPolicy
}
