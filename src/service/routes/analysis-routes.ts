// Requested analyses: draft → requested → completed. Completion is simulated by time, and survives a restart because it
// is counted from the stored moment of the request.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Kysely, Selectable, Transaction } from 'kysely'

import { callerOf, withoutOwner } from '../access/callers.ts'
import { timeOf, type ServiceContext } from '../context.ts'
import type { Tables } from '../database/tables.ts'
import { cutPage, pageOf, refuseCursor } from '../http/paging.ts'
import { refuse } from '../http/replies.ts'
import { analysisRequest, analysisUpdate, MAX_DATABASE_INTEGER, readBody } from '../http/wire.ts'
import { idOf } from './segment-routes.ts'

/** The newest so many are listed, or in a page at most. The interface shows no paging: a query asks for it. */
const MAX_LISTED = 10_000

type Analysis = Selectable<Tables['requested_analyses']>
interface WithId {
  Params: { id: string }
}
interface Which {
  readonly id: number
  readonly owner: string
}
interface Segments {
  readonly primary_analysis_segment_id: number
  readonly comparison_analysis_segment_id: number | null
  readonly population_analysis_segment_id: number | null
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
    const body = readBody(analysisRequest, request.body)
    const now = timeOf(context)
    const owner = callerOf(request).orgId
    const status = body.status ?? 'draft'
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
        .executeTakeFirstOrThrow()
    })
    return withoutOwner(made)
  })

  app.get<WithId>('/requested_analyses/:id', async (request) => {
    await completeDue(context)
    return withoutOwner(await find(db, { id: idOf(request.params.id), owner: callerOf(request).orgId }))
  })

  // The payload is not shown. An assumption: any of the creation's fields; once requested, only the name may change.
  app.patch<WithId>('/requested_analyses/:id', async (request) => {
    const body = readBody(analysisUpdate, request.body)
    return change(context, request, (found) => {
      const status = body.status ?? found.status
      const segments = {
        primary_analysis_segment_id: body.primary_analysis_segment_id ?? found.primary_analysis_segment_id,
        comparison_analysis_segment_id: body.comparison_analysis_segment_id ?? found.comparison_analysis_segment_id,
        population_analysis_segment_id: body.population_analysis_segment_id ?? found.population_analysis_segment_id,
      }
      const isFixed = found.status !== 'draft'
      if (isFixed && (idsOf(segments).join() !== idsOf(found).join() || status !== found.status)) {
        refuse(409, 'already_requested', 'The analysis is requested: only its name can be changed.')
      }
      return { ...segments, name: body.name ?? found.name, status }
    })
  })

  app.patch<WithId>('/requested_analyses/:id/submit', async (request) =>
    change(context, request, (found) => ({
      ...found,
      status: found.status === 'draft' ? 'requested' : found.status,
    })),
  )
}

function idInCursor([id]: readonly unknown[]): number {
  return typeof id === 'number' && Number.isInteger(id) && Math.abs(id) <= MAX_DATABASE_INTEGER ? id : refuseCursor()
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
      .executeTakeFirstOrThrow()
  })
  return withoutOwner(changed)
}

async function find(db: Kysely<Tables>, { id, owner }: Which, isLocked = false): Promise<Analysis> {
  const query = db.selectFrom('requested_analyses').selectAll().where('id', '=', id).where('owner', '=', owner)
  const found = await (isLocked ? query.forUpdate() : query).executeTakeFirst()
  return found ?? refuse(404, 'analysis_not_found', 'No requested analysis has this id.')
}

/** Completes what was requested long enough ago, whosever it is; what another copy is completing at this moment is left to it. */
async function completeDue(context: ServiceContext): Promise<void> {
  const { analysisCompletesAfterMs, now } = context.settings
  if (analysisCompletesAfterMs === undefined) return
  await context.db
    .updateTable('requested_analyses')
    .set({ status: 'completed', updated_at: timeOf(context) })
    .where('id', 'in', (due) =>
      due
        .selectFrom('requested_analyses')
        .select('id')
        .where('status', '=', 'requested')
        .where('requested_at', '<=', new Date(now() - analysisCompletesAfterMs))
        .forUpdate()
        .skipLocked(),
    )
    .execute()
}

function idsOf(segments: Segments): (number | null)[] {
  return [
    segments.primary_analysis_segment_id,
    segments.comparison_analysis_segment_id,
    segments.population_analysis_segment_id,
  ]
}

async function checkSegmentsAgree(trx: Transaction<Tables>, owner: string, segments: Segments): Promise<void> {
  const ids = [...new Set(idsOf(segments).filter((id) => id !== null))]
  // The locks keep a segment as it is judged until the analysis that uses it can be seen; in order, so that no two
  // transactions wait for each other.
  const found = await trx
    .selectFrom('player_group_segments')
    .select(['id', 'movement_type_id', 'dom_hand'])
    .where('id', 'in', ids)
    .where('owner', '=', owner)
    .orderBy('id')
    .forShare()
    .execute()
  const missing = ids.find((id) => !found.some((segment) => segment.id === id))
  if (missing !== undefined) {
    refuse(422, 'unknown_segment', `There is no segment ${missing}.`, { analysis_segment_id: missing })
  }
  const kinds = new Set(found.map(({ movement_type_id, dom_hand }) => `${movement_type_id} ${dom_hand}`))
  if (kinds.size > 1) {
    refuse(422, 'segments_disagree', 'All segments of an analysis must have the same movement_type_id and dom_hand.')
  }
}
