// Constructs: one engine, one client and the flows become one Uplink. Nothing else happens here.

import type { ServiceClient } from './client/operations.ts'
import { createServiceClient } from './client/service-client.ts'
import { readAddressPolicy } from './core/address/address-policy.ts'
import { createTunedEngine } from './core/engine.ts'
import { invalid } from './core/errors.ts'
import { given } from './core/given.ts'
import { failingAsOurs } from './core/journal/journal-failure.ts'
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
import { closedError, createRunning } from './flows/running.ts'
import { listSessions, type SessionSummary } from './flows/session-list.ts'
import { endSession, receiptOf, resumeSession, type ResumeOptions } from './flows/sessions.ts'
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
  /**
   * Lets go of what is left of a session: what is confirmed of it stays, which the report names, and a service session that holds
   * no confirmed file is ended. A file whose confirmation was not answered may be confirmed, and counts as if it were. Of one
   * that is confirmed whole it changes nothing. Rejects with ERR_UPLOAD_JOURNAL when it is unknown, damaged or being driven; safe
   * to repeat, as long as `isServiceTold` is false of one that has something to tell.
   */
  discardSession(key: string, options?: Pick<ResumeOptions, 'protocol'>): Promise<UploadReport>
  /**
   * Gives a session up whole, confirmed files too, and tells the service. Rejects as `discardSession` does, and for one that is
   * confirmed whole.
   */
  cancelSession(key: string, options?: Pick<ResumeOptions, 'protocol'>): Promise<UploadReport>
  /**
   * Removes the journal's record of a session, its receipt too, and tells nobody: for one that is over, or that cannot be read.
   * Rejects with ERR_UPLOAD_JOURNAL while it is being driven; one that is unknown is forgotten already.
   */
  forgetSession(key: string): Promise<void>
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
  /**
   * Lets go of all that runs, paused uploads too, and closes connections; idempotent, never rejects. Attempts end by reset and
   * nothing begins any more: every verb but those that only look fails with ERR_UPLOAD_CLOSED, and so does every `done()` and every
   * call of `client`. Sessions stay as they are, and their keys are free when it settles: `resume` of another Uplink goes on with
   * them. A create on its way is let finish, and a cancel told to the service, for a minute at most each. Where nothing hangs it
   * takes no longer than an answer of the service.
   */
  close(): Promise<void>
}

export function createUplink(options: UplinkOptions, ports: UplinkPorts): Uplink {
  const { transport, storageTransport = transport, clock, random, tuning = fixedTuning } = ports
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
  const closing = new AbortController()
  const { signal } = closing
  const client = createServiceClient({ transport, clock, random, signal, ...service, ...clientOptions })
  const running = createRunning()
  const context: FlowContext = {
    running,
    engine,
    journal: failingAsOurs(ports.journal),
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

  /** For whatever begins something. */
  const open = (): FlowContext => {
    running.refuseIfClosed()
    return context
  }
  const closeAll = async (): Promise<void> => {
    await running.close()
    closing.abort(closedError())
    await Promise.allSettled([...new Set([transport, storageTransport])].map(async (each) => each.close()))
  }
  let closed: Promise<void> | undefined

  return {
    uploadVideos: (input) => uploadVideos(open(), input),
    uploadCaptures: (input) => uploadCaptures(open(), input),
    upload: (input) => uploadCustom(open(), input),
    requestAnalysis: (input) => requestAnalysis(open(), input),
    watchAnalysis: (analysisId, analysisOptions) => watchAnalysis(open(), analysisId, analysisOptions),
    sessions: () => listSessions(context),
    resume: async (key, resumeOptions = {}) => running.add(resumeSession(open(), key, resumeOptions)),
    receipt: (key) => receiptOf(context, key),
    discardSession: async (key, own) => running.add(endSession(open(), key, true, own)),
    cancelSession: async (key, own) => running.add(endSession(open(), key, false, own)),
    forgetSession: async (key) => open().journal.remove(key),
    planVideos: (input) => planUpload(defineVideos(context, input)),
    planCaptures: (input) => planUpload(defineCaptures(context, input)),
    client,
    limitRate: (limit) => engine.limitRate(limit),
    stats: () => engine.stats(),
    probeNow: () => engine.probeNow(),
    close: () => (closed ??= closeAll()),
  }
}
