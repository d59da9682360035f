// Records of requested analyses as the routes need them: finds them, completes those that are due, and checks their segments
// against each other.

import type { Kysely, Selectable, Transaction } from 'kysely'

import { timeOf, type ServiceContext } from '../context.ts'
import { isDiskFull } from '../database/database-errors.ts'
import type { Tables } from '../database/tables.ts'
import { wholeText } from '../database/whole-text.ts'
import { refuse } from '../http/replies.ts'

export type Analysis = Selectable<Tables['requested_analyses']>

/** In place of the name as all columns hold it. */
export const wholeName = wholeText('name', 'name')

interface Which {
  readonly id: number
  readonly owner: string
}
export interface Segments {
  readonly primary_analysis_segment_id: number
  readonly comparison_analysis_segment_id: number | null
  readonly population_analysis_segment_id: number | null
}

export async function find(db: Kysely<Tables>, { id, owner }: Which, isLocked = false): Promise<Analysis> {
  const query = db
    .selectFrom('requested_analyses')
    .selectAll()
    .select(wholeName)
    .where('id', '=', id)
    .where('owner', '=', owner)
  const found = await (isLocked ? query.forUpdate() : query).executeTakeFirst()
  return found ?? refuse(404, 'analysis_not_found', 'No requested analysis has this id.')
}

/**
 * Completes every analysis that is due, whoever owns it. Rows that another copy is completing right now are left to it. On a full disk
 * all are left for later: those who only read come here too.
 */
export async function completeDue(context: ServiceContext): Promise<void> {
  const { analysisCompletesAfterMs, now } = context.settings
  if (analysisCompletesAfterMs === undefined) return
  try {
    await context.roomForRecords?.forRecord()
  } catch (error) {
    if (isDiskFull(error)) return
    throw error
  }
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

export function idsOf(segments: Segments): (number | null)[] {
  return [
    segments.primary_analysis_segment_id,
    segments.comparison_analysis_segment_id,
    segments.population_analysis_segment_id,
  ]
}

export async function checkSegmentsAgree(trx: Transaction<Tables>, owner: string, segments: Segments): Promise<void> {
  const ids = [...new Set(idsOf(segments).filter((id) => id !== null))]
  // The locks keep the judged segments unchanged until the analysis that uses them is visible. They are taken in order, so that no
  // two transactions deadlock.
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
