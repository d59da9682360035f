// The types of what the client takes and returns, without the schemas: with these would come the types of the schema library.

export type { AnalysisInput, DomHand, RequestedAnalysis, Segment, SegmentInput } from './analyses.ts'
export type { MocapSession, MocapSessionInput, RegisterFilesInput } from './captures.ts'
export type { ServiceId, WireObject } from './fields.ts'
export type {
  ConfirmFileInput,
  VideoFileInput,
  VideoUpload,
  VideoUploadFile,
  VideoUploadInput,
  VideoUploadPart,
} from './videos.ts'
