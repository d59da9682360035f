// Constructs: one engine, one client and the flows become one Uplink. Nothing else happens here.

import type { ServiceClient } from './client/operations.ts'
import { createServiceClient, type ServiceClientOptions } from './client/service-client.ts'
import { readAddressPolicy, type AddressPolicy, type HostPolicy } from './core/address/address-policy.ts'
import { createTunedEngine, type EngineOptions } from './core/engine.ts'
import type { Hearing } from './core/line/hearing.ts'
import { invalid } from './core/errors.ts'
import { given } from './core/given.ts'
import type { PartSize } from './core/plan.ts'
import type { Clock, Explain, Hasher, Journal, Random, Source, Transport } from './core/ports.ts'
import type { LimitRate } from './core/line/timetable.ts'
import { fixedTuning, type TuningMaker } from './core/tuning.ts'
import type { WholeBodies } from './core/attempt/whole-body.ts'
import {
  requestAnalysis,
  watchAnalysis,
  type Analysis,
  type AnalysisInput,
  type AnalysisOptions,
} from './flows/analysis.ts'
import { defineCaptures, uploadCaptures, type CapturesInput } from './flows/captures.ts'
import { uploadCustom, type CustomInput } from './flows/custom.ts'
import { planUpload, type UploadPlan } from './flows/plan-upload.ts'
import type { DeliveryReceipt } from './flows/receipt.ts'
import { cancelSession, listSessions, receiptOf, resumeSession } from './flows/sessions.ts'
import type { ResumeOptions, SessionSummary } from './flows/sessions.ts'
import type { Upload, UploadReport } from './flows/upload.ts'
import { defineVideos, uploadVideos, type FlowContext, type VideosInput } from './flows/videos.ts'

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
  /** Memory for bodies on their way, bytes. Default 32 MiB. */
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

export interface Uplink {
  uploadVideos(input: VideosInput): Upload
  uploadCaptures(input: CapturesInput): Upload
  /** Uploads by a protocol of the host's own, such as `s3Multipart`. */
  upload(input: CustomInput): Upload
  requestAnalysis(input: AnalysisInput): Analysis
  /** Waits for an analysis that was submitted before. */
  watchAnalysis(analysisId: string | number, options?: AnalysisOptions): Analysis
  /** What the journal holds, oldest first. */
  sessions(): Promise<readonly SessionSummary[]>
  /** Takes a session up where its journal ends. Rejects with ERR_UPLOAD_JOURNAL when that cannot be. */
  resume(key: string, options?: ResumeOptions): Promise<Upload>
  /** What a session of the journal delivered, part by part; see DeliveryReceipt. Works also while it is being driven. */
  receipt(key: string): Promise<DeliveryReceipt>
  /** Gives a session of the journal up. */
  cancelSession(key: string, options?: Pick<ResumeOptions, 'protocol'>): Promise<UploadReport>
  /** What an upload would do: files, parts, calls. Looks at the files; calls nobody. */
  planVideos(input: VideosInput): Promise<UploadPlan>
  planCaptures(input: CapturesInput): Promise<UploadPlan>
  /** Every operation of the interface as a typed method, and `call` for the others. */
  readonly client: ServiceClient
  /**
   * Another limit from now on, in the words of the option, also for parts under way; a part that goes unread from a Blob
   * keeps its own speed. Throws ERR_UPLOAD_INVALID_ARGUMENT and changes nothing then.
   */
  limitRate(limit: LimitRate): void
  /** Parts in flight and the cap, now. */
  stats(): { readonly inFlight: number; readonly cap: number }
  /**
   * A hint of the platform that the network may be back, after sleep for example: hosts that are out of reach are probed
   * at once instead of at their time. The browser's face calls it by itself.
   */
  probeNow(): void
  /** Closes connections. Uploads must be settled, paused or cancelled before. */
  close(): Promise<void>
}

export function createUplink(options: UplinkOptions, ports: UplinkPorts): Uplink {
  const { transport, storageTransport = transport, journal, clock, random, hasher, allocate } = ports
  const { verify = 'md5', isHttpAllowed = false, retries, giveUpAfterMs, limitRate } = options
  const addressPolicy = readAddressPolicy(options.addressPolicy ?? 'any', ports.isPublicHost)
  // Hosts in plain JavaScript have no compiler to stop them.
  if (!['md5', 'full', 'off'].includes(verify)) invalid(`verify must be md5, full or off, not ${verify}.`)
  const engineOptions: EngineOptions = {
    transport: storageTransport,
    clock,
    random,
    ...(verify === 'off' || hasher === undefined ? {} : { hasher }),
    ...given({
      giveUpAfterMs,
      retries,
      limitRate,
      isBackground: options.isBackground,
      concurrency: options.concurrency,
      memoryBytes: options.memoryBytes,
      timeouts: options.timeouts,
      allocate,
      wholeBodies: ports.wholeBodies,
      hearing: ports.hearing,
    }),
  }
  const engine = createTunedEngine(engineOptions, ports.tuning ?? fixedTuning)
  const client = createServiceClient({
    transport,
    clock,
    random,
    baseUrl: options.baseUrl,
    credentials: options.credentials,
    isHttpAllowed,
    ...given({
      giveUpAfterMs,
      bearerHeader: options.bearerHeader,
      callTimeoutMs: options.callTimeoutMs,
      isFirstContactAwaited: options.isFirstContactAwaited,
      explain: ports.explain,
    }),
  })
  const context: FlowContext = {
    engine,
    journal,
    clock,
    random,
    client,
    isHttpAllowed,
    addressPolicy,
    sourceAt: ports.sourceAt,
    hasher: verify === 'off' ? undefined : hasher,
    contentHasher: verify === 'full' ? ports.contentHasher : undefined,
    partSizeBytes: options.partSizeBytes,
    verifyDepth: verify === 'full' ? 'full' : 'sample',
  }

  return {
    uploadVideos: (input) => uploadVideos(context, input),
    uploadCaptures: (input) => uploadCaptures(context, input),
    upload: (input) => uploadCustom(context, input),
    requestAnalysis: (input) => requestAnalysis(context, input),
    watchAnalysis: (analysisId, analysisOptions) => watchAnalysis(context, analysisId, analysisOptions),
    sessions: () => listSessions(context),
    resume: (key, resumeOptions = {}) => resumeSession(context, key, resumeOptions),
    receipt: (key) => receiptOf(context, key),
    cancelSession: (key, cancelOptions) => cancelSession(context, key, cancelOptions),
    planVideos: (input) => planUpload(defineVideos(context, input)),
    planCaptures: (input) => planUpload(defineCaptures(context, input)),
    client,
    limitRate: (limit) => engine.limitRate(limit),
    stats: () => engine.stats(),
    probeNow: () => engine.probeNow(),
    async close() {
      await Promise.all([...new Set([transport, storageTransport])].map((each) => each.close()))
    },
  }
}
