// The names that every entry point exports: sources and transports for both platforms, the flows' types, the ports, the errors.
// S3-compatible stores that the host signs for are in s3.ts, so that the browser bundle holds just the three flows.

export { blobSource } from './adapters/web/blob-source.ts'
export { bytesSource } from './adapters/web/bytes-source.ts'
export { fetchTransport, type FetchTransportOptions } from './adapters/web/fetch-transport.ts'
export { memoryJournal } from './adapters/web/memory-journal.ts'
export { systemClock } from './adapters/web/system-clock.ts'
export { resolveCaptureKind, type CaptureKind } from './client/capture-kind.ts'
export type * from './client/contract/inputs-and-records.ts'
export type { BearerHeader, Credentials, CredentialSource } from './client/credentials.ts'
export type { CallOptions, FreeCallOptions, ListReply, ServiceClient } from './client/operations.ts'
export { createServiceClient, type ServiceClientOptions } from './client/service-client.ts'
export type { Query } from './client/base-url.ts'
export type { Hearing } from './core/line/hearing.ts'
export type { LimitRate } from './core/line/timetable.ts'
export type { TuningMaker, TuningOptions } from './core/tuning.ts'
export { redactAddress } from './core/address/address.ts'
export { redactText } from './core/redact.ts'
export type { AddressPolicy, HostPolicy } from './core/address/address-policy.ts'
export type { EtagForm } from './core/attempt/etag.ts'
export type { AttemptTimeouts } from './core/attempt/watchdog.ts'
export { createFixedEngine } from './core/engine.ts'
export type { WholeBodies } from './core/attempt/whole-body.ts'
export { windowBodies, type WindowBodies, type WindowBodiesOptions } from './core/attempt/window-bodies.ts'
export type { Engine, EngineOptions, FixedEngine, FixedEngineOptions } from './core/engine.ts'
export { HttpStatusError, isUploadError, TransportError, UploadError } from './core/errors.ts'
export type { AttemptEnding, ErrorSummary, UploadErrorCode, UploadErrorOptions } from './core/errors.ts'
export { applyRecord } from './core/journal/apply-record.ts'
export { foldJournal, type FoldedJournal } from './core/journal/fold-journal.ts'
export { JOURNAL_VERSION } from './core/journal/journal.ts'
export type { FinalStatus, FlowName, JournalRecord, RecordBody } from './core/journal/journal.ts'
export { createLedger, type FileState, type Ledger, type LedgerFile, type LedgerPart } from './core/journal/ledger.ts'
export type { FilePlan, PartSize, PlanFileOptions } from './core/plan.ts'
export { defaultPartSize, formatBytes, ONE_PUT_LIMITS, parseByteSize, planFile, S3_LIMITS } from './core/plan.ts'
export type * from './core/ports.ts'
export type { RenewalReason, TransferEvent, TransferJob } from './core/transfer/transfer-job.ts'
export type { TransferResult } from './core/transfer/transfer.ts'
export { AnalysisFailedError, type AnalysisReport } from './flows/analysis-report.ts'
export type { AnalysisSegment } from './flows/analysis-segments.ts'
export type {
  Analysis,
  AnalysisEvents,
  AnalysisRequestInput,
  AnalysisOptions,
  AnalysisState,
} from './flows/analysis.ts'
export type { CustomInput } from './flows/custom.ts'
export type { Events } from './flows/emitter.ts'
export type { CapturesInput } from './flows/captures.ts'
export type { UploadPlan } from './flows/plan-upload.ts'
export { DEFAULT_POLLING, type PollingOptions } from './flows/polling.ts'
export type { RenewAddresses, SessionReplaced } from './flows/renewal.ts'
export { makeReceipt, RECEIPT_VERSION } from './flows/receipt.ts'
export type { DeliveredFile, DeliveredPart, DeliveryReceipt } from './flows/receipt.ts'
export type { ResumeOptions, SessionSummary } from './flows/sessions.ts'
export type { LettingGo } from './flows/running.ts'
export type { UploadFile } from './flows/upload-definition.ts'
export { UploadFailedError } from './flows/upload.ts'
export type {
  FileReport,
  Outage,
  Upload,
  UploadEvents,
  UploadFileStatus,
  UploadProgress,
  UploadReport,
  UploadSnapshot,
  UploadState,
} from './flows/upload.ts'
export type { VideosInput } from './flows/videos.ts'
export type { AnalysisSegmentIds, AnalysisStatus } from './machines/analysis-data.ts'
export type { EndStatus } from './machines/session-data.ts'
export type { Uplink, UplinkOptions, UplinkPorts } from './uplink.ts'
