// The lists that the interface refers to without showing their paths. Paths and fields are assumptions; only ids are shown. The
// records are samples, except that the sessions include this service's capture sessions.

import type { FastifyInstance } from 'fastify'

import { callerOf, withoutOwner } from '../access/callers.ts'
import type { ServiceContext } from '../context.ts'
import { cutPage, pageOf, refuseCursor } from '../http/paging.ts'

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
const SAMPLE_SESSION = { id: 'sample-session', session_type_id: 2, session_date: '2026-01-15', status: 'pending' }
/** How many of the newest are listed, and the most in a page. */
const MAX_SESSIONS = 1_000
/** The database has no year 0. */
const YEAR_ONE = Date.parse('0001-01-01T00:00:00.000Z')

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
  app.get('/sessions', async (request) => {
    const page = pageOf(request.query, MAX_SESSIONS)
    const after = page?.after === undefined ? undefined : placeInCursor(page.after)
    const rows = await db
      .selectFrom('mocap_sessions')
      .selectAll()
      .where('owner', '=', callerOf(request).orgId)
      .$if(after !== undefined, (query) =>
        query.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('created_at', 'id'), '<', tuple(after?.createdAt ?? new Date(0), after?.id ?? '')),
        ),
      )
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(page === undefined ? MAX_SESSIONS : page.limit + 1)
      .execute()
    const sessions = rows.map((session) => ({ ...withoutOwner(session), session_id: session.id }))
    if (page === undefined) return { sessions: [...sessions, SAMPLE_SESSION] }
    const cut = cutPage(sessions, page, ({ created_at, id }) => [created_at.toISOString(), id])
    return { sessions: cut.next === null ? [...cut.page, SAMPLE_SESSION] : cut.page, next: cut.next }
  })
}

interface Place {
  readonly createdAt: Date
  readonly id: string
}

function placeInCursor([moment, id]: readonly unknown[]): Place {
  const isPlace =
    typeof moment === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(moment) &&
    Date.parse(moment) >= YEAR_ONE &&
    typeof id === 'string' &&
    /^[0-9a-f-]{36}$/.test(id)
  return isPlace ? { createdAt: new Date(moment), id } : refuseCursor()
}
