// Puts one engine, one client and the flows together into one Uplink. Nothing else happens here.

import type { ServiceClient } from './client/operations.ts'
import { createClient } from './client/service-client.ts'
import { readAddressPolicy } from './core/address/address-policy.ts'
import { createTunedEngine } from './core/engine.ts'
import { invalid } from './core/errors.ts'
import { failingAsOurs } from './core/journal/journal-failure.ts'
import type { LimitRate } from './core/line/timetable.ts'
import { giveTime } from './core/time/unless-late.ts'
import { fixedTuning } from './core/tuning.ts'
import { requestAnalysis, watchAnalysis } from './flows/analysis-request.ts'
import type { Analysis, AnalysisOptions, AnalysisRequestInput } from './flows/analysis.ts'
import { startUpload } from './flows/upload-session.ts'
import { defineCaptures, type CapturesInput } from './flows/captures.ts'
import { defineCustom, type CustomInput } from './flows/custom.ts'
import { planUpload, type UploadPlan } from './flows/plan-upload.ts'
import type { DeliveryReceipt } from './flows/receipt.ts'
import { closedError, createRunning } from './flows/running.ts'
import { createSessionList, type SessionSummary } from './flows/session-list.ts'
import { endSession, receiptOf, resumeSession, type ResumeOptions } from './flows/sessions.ts'
import type { Upload, UploadReport } from './flows/upload.ts'
import type { FlowContext } from './flows/upload-definition.ts'
import { defineVideos, type VideosInput } from './flows/videos.ts'
import type { UplinkOptions, UplinkPorts } from './uplink-options.ts'

export type { UplinkOptions, UplinkPorts } from './uplink-options.ts'

/** One engine, one client and one journal for all uploads of a host. Make one for each service and keep it. */
export interface Uplink {
  /** Uploads single-camera videos. Throws ERR_UPLOAD_INVALID_ARGUMENT for invalid input. */
  uploadVideos(input: VideosInput): Upload
  /** Uploads motion captures. Throws ERR_UPLOAD_INVALID_ARGUMENT for invalid input. */
  uploadCaptures(input: CapturesInput): Upload
  /** Uploads with a protocol of your own, such as `s3Multipart`. */
  upload(input: CustomInput): Upload
  /** Requests an analysis. Throws ERR_UPLOAD_INVALID_ARGUMENT for invalid input. */
  requestAnalysis(input: AnalysisRequestInput): Analysis
  /** Waits for an analysis that was submitted earlier. */
  watchAnalysis(analysisId: string | number, options?: AnalysisOptions): Analysis
  /** Lists the sessions in the journal, oldest first. */
  sessions(): Promise<readonly SessionSummary[]>
  /** Continues a session where its journal ends. Rejects with ERR_UPLOAD_JOURNAL when that is not possible. */
  resume(key: string, options?: ResumeOptions): Promise<Upload>
  /** What a session in the journal has delivered, part by part; see DeliveryReceipt. Also works while the session is running. */
  receipt(key: string): Promise<DeliveryReceipt>
  /**
   * Gives up the unfinished rest of a session. Confirmed files stay and are named in the report; a service session that holds
   * none of them is ended. A file whose confirmation got no answer may be confirmed, so it counts as if it were. A session that
   * is confirmed whole is left as it is. Rejects with ERR_UPLOAD_JOURNAL when the session is unknown, damaged or being driven.
   * Safe to repeat while `isServiceTold` is false and the service still has a session to end.
   */
  discardSession(key: string, options?: Pick<ResumeOptions, 'protocol'>): Promise<UploadReport>
  /**
   * Gives up a whole session, confirmed files included, and tells the service. Rejects as `discardSession` does, and also for a
   * session that is confirmed whole.
   */
  cancelSession(key: string, options?: Pick<ResumeOptions, 'protocol'>): Promise<UploadReport>
  /**
   * Removes the journal's record of a session, its receipt included, and tells nobody. Use it for a session that is over or
   * cannot be read. Rejects with ERR_UPLOAD_JOURNAL while the session is being driven; does nothing for an unknown one.
   */
  forgetSession(key: string): Promise<void>
  /** What an upload would do: its files, parts and calls. Looks at the files but calls nobody. */
  planVideos(input: VideosInput): Promise<UploadPlan>
  /** The same for motion captures. */
  planCaptures(input: CapturesInput): Promise<UploadPlan>
  /** Every operation of the interface as a typed method, and `call` for all others. */
  readonly client: ServiceClient
  /**
   * Sets a new rate limit, in the form of the `limitRate` option. It also applies to parts under way, except for a part that a browser
   * sends straight from a Blob, which keeps its speed. Throws ERR_UPLOAD_INVALID_ARGUMENT and changes nothing when it is invalid.
   */
  limitRate(limit: LimitRate): void
  /** The number of parts in flight and the cap, right now. */
  stats(): { readonly inFlight: number; readonly cap: number }
  /**
   * A hint from the platform that the network may be back, after sleep for example: unreachable hosts are probed, and calls
   * without an answer made again, now and not at their scheduled time, unless only so many tries are made. In browsers this is
   * called automatically.
   */
  probeNow(): void
  /**
   * Stops everything that runs, paused uploads included, and closes all connections. Idempotent; never rejects. Attempts end by
   * reset and nothing new begins: every method that does more than look fails with ERR_UPLOAD_CLOSED, and so do every `done()`
   * and every call of `client`. Sessions stay as they are. Once `close` settles, their keys are free and another Uplink can
   * `resume` them. A create under way, and a cancel being told to the service, may each finish within a minute, a confirmation
   * under way, or the create of a session that takes over, within 4 s. When nothing hangs, closing takes no longer than one
   * answer of the service.
   */
  close(): Promise<void>
}

export function createUplink(options: UplinkOptions, ports: UplinkPorts): Uplink {
  const { transport, storageTransport = transport, clock, random, tuning = fixedTuning } = ports
  const { verify = 'md5', isHttpAllowed = false, giveUpAfterMs } = options
  const addressPolicy = readAddressPolicy(options.addressPolicy ?? 'any', ports.isPublicHost)
  // Callers in plain JavaScript have no compiler to stop them.
  if (!['md5', 'full', 'off'].includes(verify)) invalid(`verify must be md5, full or off, not ${verify}.`)
  const hasher = verify === 'off' ? undefined : ports.hasher
  const provesAll = verify === 'full'
  // Each option is named, because a host may pass an object with getters on its class or with fields that do not belong here.
  const engineOptions = {
    transport: storageTransport,
    clock,
    random,
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
  }
  const closing = new AbortController()
  const clientOptions = {
    baseUrl: options.baseUrl,
    credentials: options.credentials,
    transport,
    clock,
    random,
    signal: closing.signal,
    isHttpAllowed,
    giveUpAfterMs,
    bearerHeader: options.bearerHeader,
    callTimeoutMs: options.callTimeoutMs,
    isFirstContactAwaited: options.isFirstContactAwaited,
    explain: ports.explain,
  }
  const engine = createTunedEngine(engineOptions, tuning)
  const { client, memory } = createClient(clientOptions)
  const running = createRunning()
  const context: FlowContext = {
    running,
    engine,
    journal: failingAsOurs(ports.journal),
    clock,
    random,
    client,
    memory,
    isHttpAllowed,
    addressPolicy,
    sourceAt: ports.sourceAt,
    hasher,
    contentHasher: provesAll ? ports.contentHasher : undefined,
    provesAll,
    partSizeBytes: options.partSizeBytes,
  }

  /** For every method that begins something. */
  const open = (): FlowContext => {
    running.refuseIfClosed()
    return context
  }
  const closeAll = async (): Promise<void> => {
    await running.close()
    closing.abort(closedError())
    await giveTime(clock, Promise.allSettled([transport, storageTransport].map(async (each) => each.close())))
  }
  let closed: Promise<void> | undefined

  return {
    uploadVideos: (input) => startUpload(open(), defineVideos(context, input)),
    uploadCaptures: (input) => startUpload(open(), defineCaptures(context, input)),
    upload: (input) => startUpload(open(), defineCustom(context, input)),
    requestAnalysis: (input) => requestAnalysis(open(), input),
    watchAnalysis: (analysisId, analysisOptions) => watchAnalysis(open(), analysisId, analysisOptions),
    sessions: createSessionList(context),
    resume: async (key, resumeOptions = {}) => running.add(resumeSession(open(), key, resumeOptions)),
    receipt: (key) => receiptOf(context, key),
    discardSession: async (key, own) => running.add(endSession(open(), key, true, own)),
    cancelSession: async (key, own) => running.add(endSession(open(), key, false, own)),
    forgetSession: async (key) => open().journal.remove(key),
    planVideos: async (input) => planUpload(defineVideos(context, input)),
    planCaptures: async (input) => planUpload(defineCaptures(context, input)),
    client,
    limitRate: engine.limitRate,
    stats: engine.stats,
    probeNow() {
      engine.probeNow()
      for (const wake of memory.wakes) wake()
    },
    close: () => (closed ??= closeAll()),
  }
}
