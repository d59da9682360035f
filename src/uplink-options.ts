// What an Uplink is made of: the options its host chooses and the ports its platform provides.

import type { ServiceClientOptions } from './client/service-client.ts'
import type { AddressPolicy, HostPolicy } from './core/address/address-policy.ts'
import type { WholeBodies } from './core/attempt/whole-body.ts'
import type { EngineOptions } from './core/engine.ts'
import type { Hearing } from './core/line/hearing.ts'
import type { LimitRate } from './core/line/timetable.ts'
import type { PartSize } from './core/plan.ts'
import type { Clock, Explain, Hasher, Journal, Random, Source, Transport } from './core/ports.ts'
import type { TuningMaker } from './core/tuning.ts'

/** The options a host chooses. All but the first two have a safe default. */
export interface UplinkOptions {
  /** The service's base URL: `https://…`, with any path. */
  readonly baseUrl: string
  /** `{ apiKey }` or `{ accessToken }`: a string, or an async function that is called again after a refusal. */
  readonly credentials: ServiceClientOptions['credentials']
  /** The header that carries an access token. Assumption: the interface does not show which one is accepted. Default `Authorization`. */
  readonly bearerHeader?: ServiceClientOptions['bearerHeader'] | undefined
  /** Parts in flight across all uploads of this Uplink: 1 to 64, or `auto`, which finds the number. Default `auto`; in browsers 5. */
  readonly concurrency?: EngineOptions['concurrency'] | undefined
  /**
   * Size of a video part in bytes, or a function of the file's size. Default: 1/128 of the file (1/64 in browsers), but at
   * least 5 MiB and at most 16 MiB.
   */
  readonly partSizeBytes?: PartSize | undefined
  /**
   * Bytes a second across all uploads, retries included: a number, `2MB`, `off`, or a timetable in local time such as
   * `08:00,512KB 23:00,off`. Default: no limit.
   */
  readonly limitRate?: LimitRate | undefined
  /**
   * Yields to all other traffic on the line: measures how long the line takes to answer and sends only as fast as keeps nobody
   * else waiting. At most four parts are in flight unless `concurrency` is a number. Default false.
   */
  readonly isBackground?: boolean | undefined
  /** How often a part is attempted, the first time included. Only attempts that reached the host count. Default 8. */
  readonly retries?: number | undefined
  /** How long a host, storage or service, may stay unreachable before the upload gives up, ms. Default 1 h. */
  readonly giveUpAfterMs?: number | undefined
  /**
   * Waits `giveUpAfterMs` also for a service that has never answered this Uplink, nor, at the same host and port, a session that
   * it resumes. Default false: such a service is tried three times only, because its address is more likely misspelt, and is
   * waited for only if this machine was evidently offline at one of them.
   */
  readonly isFirstContactAwaited?: boolean | undefined
  /**
   * `md5` (default): compares each part's digest with its ETag where the ETag is an MD5. `full`: also rereads every part that was
   * sent when a session is resumed, and the whole file before each confirmation, for its SHA-256. `off`: hashes nothing.
   */
  readonly verify?: 'md5' | 'full' | 'off' | undefined
  /** Memory for the bodies in transit, bytes. Default 48 MiB. */
  readonly memoryBytes?: number | undefined
  /** How long an attempt may wait in each of its phases, ms. */
  readonly timeouts?: EngineOptions['timeouts'] | undefined
  /** How long one try of a call to the service may take, ms. Default 30,000. */
  readonly callTimeoutMs?: number | undefined
  /** Allows plain HTTP to other machines, for storage addresses and for credentials. Default false. */
  readonly isHttpAllowed?: boolean | undefined
  /**
   * Which hosts the service's storage addresses may name: `any` (default), `public`, or a function of the host. Meant for
   * servers that embed the engine. In Node, `public` also checks the IP address that a name resolves to when connecting. Your
   * own base URL is not checked.
   */
  readonly addressPolicy?: AddressPolicy | undefined
}

/** What the world provides. The entry points for Node and browsers fill in their platform's own. */
export interface UplinkPorts {
  readonly transport: Transport
  /** Sends parts to the storage. Default: `transport`. */
  readonly storageTransport?: Transport | undefined
  readonly journal: Journal
  readonly clock: Clock
  readonly random: Random
  /** Without it nothing can be verified. */
  readonly hasher?: Hasher | undefined
  /** SHA-256 for `verify: full`. Without it whole files get no digest. */
  readonly contentHasher?: Hasher | undefined
  /** Finds the file of a resumed session again. Without it, or if it finds none, the host passes `source` to `resume`. */
  readonly sourceAt?: ((file: { readonly name: string; readonly location: string }) => Source | undefined) | undefined
  /** Allocates the memory that bodies pass through; shared memory when the hasher runs on another thread. */
  readonly allocate?: ((bytes: number) => Uint8Array) | undefined
  /** `wholeBodies()`, which sends short parts in one piece. Without it all parts go through windows. */
  readonly wholeBodies?: WholeBodies | undefined
  /**
   * `lineHearing()`, which listens to the line if the storage's transport can measure round trips. Without it concurrency is
   * tuned by throughput alone.
   */
  readonly hearing?: Hearing | undefined
  /** `adaptiveTuning`, for `concurrency: 'auto'`, `limitRate` and `isBackground`. Without it only a fixed `concurrency` is possible. */
  readonly tuning?: TuningMaker | undefined
  /** Explains why the service gave no answer, and whether this machine is offline. Without it that is unknown. */
  readonly explain?: Explain | undefined
  /** `isPublicHost`, for `addressPolicy: 'public'`. Without it that policy is refused. */
  readonly isPublicHost?: HostPolicy | undefined
}

/** Any of them, in place of the platform's own. */
export type OwnPorts = { readonly [Port in keyof UplinkPorts]?: UplinkPorts[Port] | undefined }
