// Constructs: one engine, one client and the flows become one Uplink. Nothing else happens here.

import type { ServiceClient } from './client/operations.ts'
import { createServiceClient } from './client/service-client.ts'
import { readAddressPolicy } from './core/address/address-policy.ts'
import { createTunedEngine } from './core/engine.ts'
import { invalid } from './core/errors.ts'
import { given } from './core/given.ts'
import type { LimitRate } from './core/line/timetable.ts'
import { fixedTuning } from './core/tuning.ts'
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
import { listSessions, type SessionSummary } from './flows/session-list.ts'
import { cancelSession, receiptOf, resumeSession, type ResumeOptions } from './flows/sessions.ts'
import type { Upload, UploadReport } from './flows/upload.ts'
import { defineVideos, uploadVideos, type FlowContext, type VideosInput } from './flows/videos.ts'
import type { UplinkOptions, UplinkPorts } from './uplink-options.ts'

export type { UplinkOptions, UplinkPorts } from './uplink-options.ts'

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
  const { transport, storageTransport = transport, journal, clock, random, tuning = fixedTuning } = ports
  const { verify = 'md5', isHttpAllowed = false, giveUpAfterMs } = options
  const addressPolicy = readAddressPolicy(options.addressPolicy ?? 'any', ports.isPublicHost)
  // Hosts in plain JavaScript have no compiler to stop them.
  if (!['md5', 'full', 'off'].includes(verify)) invalid(`verify must be md5, full or off, not ${verify}.`)
  const hasher = verify === 'off' ? undefined : ports.hasher
  // Each by its name: a host may give them through the getters of a class, or more than belongs here.
  const engineOptions = given({
    hasher,
    giveUpAfterMs,
    retries: options.retries,
    limitRate: options.limitRate,
    isBackground: options.isBackground,
    concurrency: options.concurrency,
    memoryBytes: options.memoryBytes,
    timeouts: options.timeouts,
    allocate: ports.allocate,
    wholeBodies: ports.wholeBodies,
    hearing: ports.hearing,
  })
  const clientOptions = given({
    giveUpAfterMs,
    bearerHeader: options.bearerHeader,
    callTimeoutMs: options.callTimeoutMs,
    isFirstContactAwaited: options.isFirstContactAwaited,
    explain: ports.explain,
  })
  const { baseUrl, credentials } = options
  const engine = createTunedEngine({ transport: storageTransport, clock, random, ...engineOptions }, tuning)
  const service = { baseUrl, credentials, isHttpAllowed }
  const client = createServiceClient({ transport, clock, random, ...service, ...clientOptions })
  const context: FlowContext = {
    engine,
    journal,
    clock,
    random,
    client,
    isHttpAllowed,
    addressPolicy,
    sourceAt: ports.sourceAt,
    hasher,
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
