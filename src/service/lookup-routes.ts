// The lists that the interface refers to without showing their paths. Paths and fields here are assumptions; only ids
// are shown. The records are samples, except that the capture sessions of this service are among the sessions.

import type { FastifyInstance } from 'fastify'

import type { ServiceContext } from './context.ts'

const MOVEMENT_TYPES = [
  { id: 1, name: 'Baseball hitting', slug: 'baseball-hitting' },
  { id: 2, name: 'Baseball pitching', slug: 'baseball-pitching' },
  { id: 3, name: 'Golf swing', slug: 'golf-swing' },
]
const SESSION_TYPES = [
  { id: 1, name: 'Game' },
  { id: 2, name: 'Practice' },
]
const PLAYERS = [
  { id: 'p-17', name: 'Sample Player One', dom_hand_hitting: 'RHA', dom_hand_throwing: 'RHA' },
  { id: 'p-18', name: 'Sample Player Two', dom_hand_hitting: 'LHA', dom_hand_throwing: 'RHA' },
]
const MAX_SESSIONS = 1_000

export function lookupRoutes(app: FastifyInstance, { db, settings }: ServiceContext): void {
  app.get('/movement_types', () => Promise.resolve({ movement_types: MOVEMENT_TYPES }))
  app.get('/players', () => Promise.resolve({ players: PLAYERS }))
  app.get('/session_types', () => Promise.resolve({ session_types: SESSION_TYPES }))
  app.get('/mocap_types', () =>
    Promise.resolve({
      mocap_types: [
        { id: 2, name: 'Tracking system', is_video: settings.videoMocapTypeIds.has(2) },
        ...[...settings.videoMocapTypeIds]
          .filter((id) => id !== 2)
          .map((id) => ({ id, name: 'Video', is_video: true })),
      ],
    }),
  )
  app.get('/sessions', async () => {
    const sessions = await db
      .selectFrom('mocap_sessions')
      .selectAll()
      .orderBy('created_at', 'desc')
      .limit(MAX_SESSIONS)
      .execute()
    const sample = { id: 'sample-session', session_type_id: 2, session_date: '2026-01-15', status: 'pending' }
    return { sessions: [...sessions.map((session) => ({ ...session, session_id: session.id })), sample] }
  })
}
