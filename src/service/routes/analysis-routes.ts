// Requested analyses: draft → requested → completed. Completion is simulated by time. It survives a restart, because it is counted
// from the stored time of the request.

import type { FastifyInstance, FastifyRequest } from 'fastify'

import { callerOf, withoutOwner } from '../access/callers.ts'
import { timeOf, type ServiceContext } from '../context.ts'
import { cutPage, pageOf, refuseCursor } from '../http/paging.ts'
import { malformed, refuse } from '../http/replies.ts'
import { analysisRequest, analysisUpdate, MAX_DATABASE_INTEGER, readBody } from '../http/wire.ts'
import {
  checkSegmentsAgree,
  completeDue,
  find,
  idsOf,
  wholeName,
  type Analysis,
  type Segments,
} from './analysis-records.ts'
import { idOf } from './segment-routes.ts'

/** How many of the newest are listed, and the most in a page. The interface shows no paging; a query asks for it. */
const MAX_LISTED = 10_000

interface WithId {
  Params: { id: string }
}
export function analysisRoutes(app: FastifyInstance, context: ServiceContext): void {
  const { db } = context

  app.get('/requested_analyses', async (request) => {
    const page = pageOf(request.query, MAX_LISTED)
    const afterId = page?.after === undefined ? undefined : idInCursor(page.after)
    await completeDue(context)
    const analyses = await db
      .selectFrom('requested_analyses')
      .selectAll()
      .select(wholeName)
      .where('owner', '=', callerOf(request).orgId)
      .$if(afterId !== undefined, (query) => query.where('id', '<', Number(afterId)))
      .orderBy('id', 'desc')
      .limit(page === undefined ? MAX_LISTED : page.limit + 1)
      .execute()
    if (page === undefined) return { requested_analyses: analyses.map(withoutOwner) }
    const cut = cutPage(analyses, page, ({ id }) => [id])
    return { requested_analyses: cut.page.map(withoutOwner), next: cut.next }
  })

  app.post('/requested_analyses', async (request) => {
    const body = readBody(analysisRequest, request)
    const now = timeOf(context)
    const owner = callerOf(request).orgId
    const { status } = body
    const segments = {
      primary_analysis_segment_id: body.primary_analysis_segment_id,
      comparison_analysis_segment_id: body.comparison_analysis_segment_id ?? null,
      population_analysis_segment_id: body.population_analysis_segment_id ?? null,
    }
    const made = await db.transaction().execute(async (trx) => {
      await checkSegmentsAgree(trx, owner, segments)
      const requestedAt = status === 'requested' ? now : null
      return trx
        .insertInto('requested_analyses')
        .values({
          owner,
          name: body.name,
          ...segments,
          status,
          requested_at: requestedAt,
          created_at: now,
          updated_at: now,
        })
        .returningAll()
        .returning(wholeName)
        .executeTakeFirstOrThrow()
    })
    return withoutOwner(made)
  })

  app.get<WithId>('/requested_analyses/:id', async (request) => {
    await completeDue(context)
    return withoutOwner(await find(db, { id: idOf(request.params.id), owner: callerOf(request).orgId }))
  })

  // The payload is not shown. Assumption: any of the creation's fields. Once requested, only the name may change.
  app.patch<WithId>('/requested_analyses/:id', async (request) => {
    const body = readBody(analysisUpdate, request)
    return change(context, request, (found) => {
      const status = body.status ?? found.status
      const segments = {
        primary_analysis_segment_id: body.primary_analysis_segment_id ?? found.primary_analysis_segment_id,
        comparison_analysis_segment_id: givenOr(
          body.comparison_analysis_segment_id,
          found.comparison_analysis_segment_id,
        ),
        population_analysis_segment_id: givenOr(
          body.population_analysis_segment_id,
          found.population_analysis_segment_id,
        ),
      }
      const isFixed = found.status !== 'draft'
      if (isFixed && (idsOf(segments).join() !== idsOf(found).join() || status !== found.status)) {
        refuse(409, 'already_requested', 'The analysis is requested: only its name can be changed.')
      }
      if (!isFixed && status === 'completed') malformed('status', 'expected ("draft" | "requested")')
      return { ...segments, name: body.name ?? found.name, status }
    })
  })

  app.patch<WithId>('/requested_analyses/:id/submit', async (request) =>
    change(context, request, (found) => (found.status === 'draft' ? { ...found, status: 'requested' } : found)),
  )
}

function idInCursor([id]: readonly unknown[]): number {
  return typeof id === 'number' && Number.isInteger(id) && Math.abs(id) <= MAX_DATABASE_INTEGER ? id : refuseCursor()
}

/** A field that is absent stays as it is; null empties it. */
function givenOr<T>(given: T | undefined, found: T): T {
  return given === undefined ? found : given
}

async function change(
  context: ServiceContext,
  request: FastifyRequest<WithId>,
  decide: (found: Analysis) => Segments & { readonly name: string; readonly status: string },
): Promise<object> {
  const which = { id: idOf(request.params.id), owner: callerOf(request).orgId }
  await completeDue(context)
  const changed = await context.db.transaction().execute(async (trx) => {
    const found = await find(trx, which, true)
    const next = decide(found)
    // Repeated, since its answer was lost: the time of the last change stays.
    if (next === found) return found
    await checkSegmentsAgree(trx, which.owner, next)
    const now = timeOf(context)
    return trx
      .updateTable('requested_analyses')
      .set({
        name: next.name,
        status: next.status,
        primary_analysis_segment_id: next.primary_analysis_segment_id,
        comparison_analysis_segment_id: next.comparison_analysis_segment_id,
        population_analysis_segment_id: next.population_analysis_segment_id,
        requested_at: next.status === 'draft' ? null : (found.requested_at ?? now),
        updated_at: now,
      })
      .where('id', '=', which.id)
      .where('owner', '=', which.owner)
      .returningAll()
      .returning(wholeName)
      .executeTakeFirstOrThrow()
  })
  return withoutOwner(changed)
}
