// Every operation whose path the interface shows: its method, its path, and what a repetition of it does.

/**
 * What a repetition of a call does. `read`: nothing. `repeatable`: the same again. `create`: a second one, of which
 * the first is an orphan that costs nothing. `once`: a second one that costs (a report), so it is never risked.
 */
export type OperationKind = 'read' | 'create' | 'once' | 'repeatable'

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Relative to the base address; ids in braces. */
  readonly path: string
  readonly kind: OperationKind
}

/** By the name of the client's method. */
export const routes = {
  'mocapSessions.create': { method: 'POST', path: '/mocap_session', kind: 'create' },
  // Names that were registered are registered again without an orphan; a refusal after a doubtful try says that it was.
  'mocapSessionFiles.register': { method: 'POST', path: '/mocap_session_file', kind: 'repeatable' },
  'playerGroupSegments.create': { method: 'POST', path: '/player_group_segments', kind: 'create' },
  'playerGroupSegments.update': {
    method: 'PATCH',
    path: '/player_group_segments/{player_group_segment_id}',
    kind: 'repeatable',
  },
  'requestedAnalyses.list': { method: 'GET', path: '/requested_analyses', kind: 'read' },
  'requestedAnalyses.create': { method: 'POST', path: '/requested_analyses', kind: 'once' },
  'requestedAnalyses.get': { method: 'GET', path: '/requested_analyses/{requested_analysis_id}', kind: 'read' },
  'requestedAnalyses.update': {
    method: 'PATCH',
    path: '/requested_analyses/{requested_analysis_id}',
    kind: 'repeatable',
  },
  'requestedAnalyses.submit': {
    method: 'PATCH',
    path: '/requested_analyses/{requested_analysis_id}/submit',
    kind: 'repeatable',
  },
  'videoUploads.create': { method: 'POST', path: '/upload_videos', kind: 'create' },
  'videoUploads.confirm': { method: 'PATCH', path: '/upload_videos', kind: 'repeatable' },
  'videoUploads.cancel': { method: 'DELETE', path: '/upload_videos/{upload_session_id}', kind: 'repeatable' },
} as const satisfies Readonly<Record<string, Route>>

export type OperationName = keyof typeof routes
