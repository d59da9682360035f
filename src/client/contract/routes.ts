// Every operation whose path the interface shows: its method, its path, and what repeating it does.

import type { Names } from './fields.ts'

/**
 * What repeating a call does. `read`: nothing. `repeatable`: the same again. `create`: makes a second one, and leaves
 * the first as an orphan that costs nothing. `once`: makes a second one that costs (a report), so it is never risked.
 */
export type OperationKind = 'read' | 'create' | 'once' | 'repeatable'

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Relative to the base address, with ids in braces. */
  readonly path: string
  readonly kind: OperationKind
  /** What is asked for, in messages to people: "the service failed to …". */
  readonly words: string
  /** The wire's names of the fields sent, where they are not ours in snake case. */
  readonly names?: Names
}

/** Routes by the name of the client's method. */
export const routes = {
  'mocapSessions.create': {
    method: 'POST',
    path: '/mocap_session',
    kind: 'create',
    words: 'create the capture session',
  },
  // Registering names again leaves no orphan. A refusal after a doubtful try means that this try registered them.
  'mocapSessionFiles.register': {
    method: 'POST',
    path: '/mocap_session_file',
    kind: 'repeatable',
    words: 'register the capture files',
    names: { frameRate: 'video_framerate' },
  },
  'playerGroupSegments.create': {
    method: 'POST',
    path: '/player_group_segments',
    kind: 'create',
    words: 'create the segment',
  },
  'playerGroupSegments.update': {
    method: 'PATCH',
    path: '/player_group_segments/{player_group_segment_id}',
    kind: 'repeatable',
    words: 'update the segment',
  },
  'requestedAnalyses.list': { method: 'GET', path: '/requested_analyses', kind: 'read', words: 'list the analyses' },
  'requestedAnalyses.create': {
    method: 'POST',
    path: '/requested_analyses',
    kind: 'once',
    words: 'create the analysis',
  },
  'requestedAnalyses.get': {
    method: 'GET',
    path: '/requested_analyses/{requested_analysis_id}',
    kind: 'read',
    words: 'look up the analysis',
  },
  'requestedAnalyses.update': {
    method: 'PATCH',
    path: '/requested_analyses/{requested_analysis_id}',
    kind: 'repeatable',
    words: 'update the analysis',
  },
  'requestedAnalyses.submit': {
    method: 'PATCH',
    path: '/requested_analyses/{requested_analysis_id}/submit',
    kind: 'repeatable',
    words: 'submit the analysis',
  },
  'videoUploads.create': {
    method: 'POST',
    path: '/upload_videos',
    kind: 'create',
    words: 'create the video session',
    names: { name: 'raw_file_name', sizeBytes: 'file_size_bytes', partCount: 'number_of_chunks' },
  },
  'videoUploads.confirm': {
    method: 'PATCH',
    path: '/upload_videos',
    kind: 'repeatable',
    words: 'confirm the file',
    names: { sessionFileId: 'affected_file_id', parts: 'file_part_info', isSuccessful: 'upload_successful' },
  },
  'videoUploads.cancel': {
    method: 'DELETE',
    path: '/upload_videos/{upload_session_id}',
    kind: 'repeatable',
    words: 'cancel the session',
  },
} as const satisfies Readonly<Record<string, Route>>

export type OperationName = keyof typeof routes
