// Creates and updates player group segments. What they select from is unknown to this service.

import type { FastifyInstance } from 'fastify'
import type { Selectable } from 'kysely'

import { callerOf, withoutOwner } from '../access/callers.ts'
import { timeOf, type ServiceContext } from '../context.ts'
import type { Tables } from '../database/tables.ts'
import { refuse } from '../http/replies.ts'
import { MAX_DATABASE_INTEGER, readBody, segmentRequest, segmentUpdate } from '../http/wire.ts'

export function segmentRoutes(app: FastifyInstance, context: ServiceContext): void {
  const { db } = context

  app.post('/player_group_segments', { config: { answersMalformed: true } }, async (request) => {
    const body = readBody(segmentRequest, request)
    const now = timeOf(context)
    const values = {
      owner: callerOf(request).orgId,
      movement_type_id: body.movement_type_id,
      dom_hand: body.dom_hand,
      org_movement_ids: JSON.stringify(body.org_movement_ids ?? []),
      created_at: now,
      updated_at: now,
    }
    const segment = await db
      .transaction()
      .execute((trx) => trx.insertInto('player_group_segments').values(values).returningAll().executeTakeFirstOrThrow())
    return describe(segment)
  })

  // The payload is not shown. Assumption: any of the creation's fields; the reply is the whole record.
  app.patch<{ Params: { id: string } }>('/player_group_segments/:id', async (request) => {
    const id = idOf(request.params.id)
    const owner = callerOf(request).orgId
    const body = readBody(segmentUpdate, request)
    const segment = await db.transaction().execute(async (trx) => {
      const found = await trx
        .selectFrom('player_group_segments')
        .selectAll()
        .where('id', '=', id)
        .where('owner', '=', owner)
        .forUpdate()
        .executeTakeFirst()
      if (found === undefined) refuse(404, 'segment_not_found', 'No segment has this id.')
      const next = {
        movement_type_id: body.movement_type_id ?? found.movement_type_id,
        dom_hand: body.dom_hand ?? found.dom_hand,
        org_movement_ids: JSON.stringify(body.org_movement_ids ?? found.org_movement_ids),
        updated_at: timeOf(context),
      }
      const isAnotherPopulation = next.movement_type_id !== found.movement_type_id || next.dom_hand !== found.dom_hand
      if (isAnotherPopulation) {
        const user = await trx
          .selectFrom('requested_analyses')
          .select('id')
          .where('owner', '=', owner)
          .where((where) =>
            where.or([
              where('primary_analysis_segment_id', '=', id),
              where('comparison_analysis_segment_id', '=', id),
              where('population_analysis_segment_id', '=', id),
            ]),
          )
          .limit(1)
          .executeTakeFirst()
        if (user !== undefined) {
          refuse(409, 'segment_in_use', 'A requested analysis uses the segment: movement type and hand are fixed.')
        }
      }
      return trx
        .updateTable('player_group_segments')
        .set(next)
        .where('id', '=', id)
        .where('owner', '=', owner)
        .returningAll()
        .executeTakeFirstOrThrow()
    })
    return describe(segment)
  })
}

/** The integer in a path. Refuses with 404 anything that cannot be an id. */
export function idOf(text: string): number {
  const id = /^\d{1,10}$/.test(text) ? Number(text) : Infinity
  return id <= MAX_DATABASE_INTEGER ? id : refuse(404, 'not_found', 'No record has this id.')
}

function describe(record: Selectable<Tables['player_group_segments']>): object {
  const { id, ...segment } = withoutOwner(record)
  return { analysis_segment_id: id, ...segment }
}
