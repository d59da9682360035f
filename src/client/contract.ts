// The one source of the service's schemas: every operation with its path and bodies as they are on the wire, and the
// way between them and the names inside. Only this file and contract/ know the wire's snake_case and its *chunk*.

import type * as v from 'valibot'
import {
  analysisListReply,
  analysisReply,
  analysisRequest,
  segmentReply,
  segmentRequest,
  unshownReply,
  unshownRequest,
} from './contract/analyses.ts'
import {
  mocapSessionFileReply,
  mocapSessionFileRequest,
  mocapSessionReply,
  mocapSessionRequest,
} from './contract/captures.ts'
import {
  videoCancelReply,
  videoConfirmReply,
  videoConfirmRequest,
  videoUploadReply,
  videoUploadRequest,
} from './contract/videos.ts'

/**
 * What a repetition of a call does. `read`: nothing. `repeatable`: the same again. `create`: a second one, of which
 * the first is an orphan that costs nothing. `once`: a second one that costs (a report), so it is never risked.
 */
export type OperationKind = 'read' | 'create' | 'once' | 'repeatable'

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Relative to the base address; ids in braces. */
  readonly path: string
  /** Absent: the operation has no body. */
  readonly request?: v.GenericSchema
  readonly reply: v.GenericSchema
  readonly kind: OperationKind
}

/** Every operation whose path the interface shows, by the name of the client's method. */
export const operations = {
  'mocapSessions.create': {
    method: 'POST',
    path: '/mocap_session',
    request: mocapSessionRequest,
    reply: mocapSessionReply,
    kind: 'create',
  },
  'mocapSessionFiles.register': {
    method: 'POST',
    path: '/mocap_session_file',
    request: mocapSessionFileRequest,
    reply: mocapSessionFileReply,
    // Names that were registered are registered again without an orphan; a refusal after a doubtful try says that it was.
    kind: 'repeatable',
  },
  'playerGroupSegments.create': {
    method: 'POST',
    path: '/player_group_segments',
    request: segmentRequest,
    reply: segmentReply,
    kind: 'create',
  },
  'playerGroupSegments.update': {
    method: 'PATCH',
    path: '/player_group_segments/{player_group_segment_id}',
    request: unshownRequest,
    reply: unshownReply,
    kind: 'repeatable',
  },
  'requestedAnalyses.list': { method: 'GET', path: '/requested_analyses', reply: analysisListReply, kind: 'read' },
  'requestedAnalyses.create': {
    method: 'POST',
    path: '/requested_analyses',
    request: analysisRequest,
    reply: analysisReply,
    kind: 'once',
  },
  'requestedAnalyses.get': {
    method: 'GET',
    path: '/requested_analyses/{requested_analysis_id}',
    reply: analysisReply,
    kind: 'read',
  },
  'requestedAnalyses.update': {
    method: 'PATCH',
    path: '/requested_analyses/{requested_analysis_id}',
    request: unshownRequest,
    reply: unshownReply,
    kind: 'repeatable',
  },
  'requestedAnalyses.submit': {
    method: 'PATCH',
    path: '/requested_analyses/{requested_analysis_id}/submit',
    reply: unshownReply,
    kind: 'repeatable',
  },
  'videoUploads.create': {
    method: 'POST',
    path: '/upload_videos',
    request: videoUploadRequest,
    reply: videoUploadReply,
    kind: 'create',
  },
  'videoUploads.confirm': {
    method: 'PATCH',
    path: '/upload_videos',
    request: videoConfirmRequest,
    reply: videoConfirmReply,
    kind: 'repeatable',
  },
  'videoUploads.cancel': {
    method: 'DELETE',
    path: '/upload_videos/{upload_session_id}',
    reply: videoCancelReply,
    kind: 'repeatable',
  },
} as const satisfies Readonly<Record<string, Operation>>

export type OperationName = keyof typeof operations

export {
  analysisListReply,
  analysisReply,
  analysisRequest,
  mocapSessionFileReply,
  mocapSessionFileRequest,
  mocapSessionReply,
  mocapSessionRequest,
  segmentReply,
  segmentRequest,
  unshownReply,
  unshownRequest,
  videoCancelReply,
  videoConfirmReply,
  videoConfirmRequest,
  videoUploadReply,
  videoUploadRequest,
}
export type { ServiceId, WireObject } from './contract/fields.ts'
export type {
  MocapSession,
  MocapSessionFileWireReply,
  MocapSessionFileWireRequest,
  MocapSessionInput,
  MocapSessionWireReply,
  MocapSessionWireRequest,
  RegisterFilesInput,
} from './contract/captures.ts'
export type {
  ConfirmFileInput,
  VideoConfirmWireRequest,
  VideoFileInput,
  VideoUpload,
  VideoUploadFile,
  VideoUploadInput,
  VideoUploadPart,
  VideoUploadWireReply,
  VideoUploadWireRequest,
} from './contract/videos.ts'
export type {
  AnalysisInput,
  AnalysisWireReply,
  AnalysisWireRequest,
  DomHand,
  RequestedAnalysis,
  Segment,
  SegmentInput,
  SegmentWireReply,
  SegmentWireRequest,
} from './contract/analyses.ts'
