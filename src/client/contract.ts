// The one source of the service's schemas: every operation with its route and its bodies as they are on the wire. Only
// this file and contract/ know the wire's snake_case and its *chunk*. The service and the tests read whole bodies by the
// schemas; the client reads replies by the guards of contract/fields, so that pages load no schema library.

import type * as v from 'valibot'
import {
  analysisListReply,
  analysisReply,
  analysisRequest,
  segmentReply,
  segmentRequest,
  unshownReply,
  unshownRequest,
} from './contract/analysis-schemas.ts'
import {
  mocapSessionFileReply,
  mocapSessionFileRequest,
  mocapSessionReply,
  mocapSessionRequest,
} from './contract/capture-schemas.ts'
import {
  videoCancelReply,
  videoConfirmReply,
  videoConfirmRequest,
  videoUploadReply,
  videoUploadRequest,
} from './contract/video-schemas.ts'
import { routes, type OperationName, type Route } from './contract/routes.ts'

/** A route with the schemas of its bodies. */
export interface Operation extends Route {
  /** Absent: the operation has no body. */
  readonly request?: v.GenericSchema
  readonly reply: v.GenericSchema
}

/** Every operation, by the name of the client's method. */
export const operations = {
  'mocapSessions.create': { ...routes['mocapSessions.create'], request: mocapSessionRequest, reply: mocapSessionReply },
  'mocapSessionFiles.register': {
    ...routes['mocapSessionFiles.register'],
    request: mocapSessionFileRequest,
    reply: mocapSessionFileReply,
  },
  'playerGroupSegments.create': {
    ...routes['playerGroupSegments.create'],
    request: segmentRequest,
    reply: segmentReply,
  },
  'playerGroupSegments.update': {
    ...routes['playerGroupSegments.update'],
    request: unshownRequest,
    reply: unshownReply,
  },
  'requestedAnalyses.list': { ...routes['requestedAnalyses.list'], reply: analysisListReply },
  'requestedAnalyses.create': { ...routes['requestedAnalyses.create'], request: analysisRequest, reply: analysisReply },
  'requestedAnalyses.get': { ...routes['requestedAnalyses.get'], reply: analysisReply },
  'requestedAnalyses.update': { ...routes['requestedAnalyses.update'], request: unshownRequest, reply: unshownReply },
  'requestedAnalyses.submit': { ...routes['requestedAnalyses.submit'], reply: unshownReply },
  'videoUploads.create': { ...routes['videoUploads.create'], request: videoUploadRequest, reply: videoUploadReply },
  'videoUploads.confirm': { ...routes['videoUploads.confirm'], request: videoConfirmRequest, reply: videoConfirmReply },
  'videoUploads.cancel': { ...routes['videoUploads.cancel'], reply: videoCancelReply },
} as const satisfies Readonly<Record<OperationName, Operation>>

export type { OperationKind, OperationName } from './contract/routes.ts'
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
export type * from './contract/inputs-and-records.ts'
