// A segment as `analysis request` takes it: criteria under the wire's names or ours, or the id of an existing segment.

import { listOf } from '../../client/check-fields.ts'
import { checkDomHand, checkInteger, checkSegmentId, checkSegmentsAgree, checkText } from '../../client/checks.ts'
import { isWireObject } from '../../client/contract/fields.ts'
import { invalid } from '../../core/errors.ts'
import type { AnalysisRequestInput } from '../../flows/analysis.ts'
import type { AnalysisSegment } from '../../flows/analysis-segments.ts'
import { readJsonOption } from './option-values.ts'

const NAMES = new Map<string, 'movementTypeId' | 'domHand' | 'movementIds' | 'segmentId'>([
  ['movement_type_id', 'movementTypeId'],
  ['movementTypeId', 'movementTypeId'],
  ['dom_hand', 'domHand'],
  ['domHand', 'domHand'],
  ['org_movement_ids', 'movementIds'],
  ['orgMovementIds', 'movementIds'],
  ['movementIds', 'movementIds'],
  ['analysis_segment_id', 'segmentId'],
  ['analysisSegmentId', 'segmentId'],
  ['segmentId', 'segmentId'],
])

/** Reads the segment of one option. Rejects with ERR_UPLOAD_INVALID_ARGUMENT that names the option and the field. */
export async function segmentFromOption(text: string, label: string): Promise<AnalysisSegment> {
  const json = await readJsonOption(text, label)
  if (!isWireObject(json))
    return invalid(`${label} is not a JSON object: give {"movement_type_id":1,"dom_hand":"RHA"}.`)
  const fields: Partial<Record<string, unknown>> = {}
  for (const [name, value] of Object.entries(json)) {
    const known = NAMES.get(name)
    if (known === undefined) {
      return invalid(
        `${label} has an unknown field ${JSON.stringify(name.slice(0, 40))}: a segment has movement_type_id, dom_hand, org_movement_ids.`,
      )
    }
    fields[known] = value
  }
  const { segmentId, movementTypeId, domHand, movementIds } = fields
  if (segmentId !== undefined) {
    if (Object.keys(fields).length > 1) invalid(`${label} has both a segment's id and criteria: give only one of them.`)
    return { segmentId: checkSegmentId(segmentId, `${label} analysis_segment_id`) }
  }
  return {
    movementTypeId: checkInteger(movementTypeId, `${label} movement_type_id`),
    domHand: checkDomHand(domHand, `${label} dom_hand`),
    ...(movementIds === undefined ? {} : { movementIds: movementIdsOf(movementIds, `${label} org_movement_ids`) }),
  }
}

/** Refuses segments that differ in movement type or hand, as far as their criteria are given. */
export function checkAgreement({ primary, comparison, population }: AnalysisRequestInput): void {
  const criteria = [primary, comparison, population].map((one) => (one && 'domHand' in one ? one : undefined))
  const [first, second, third] = criteria
  if (first !== undefined) checkSegmentsAgree({ primary: first, comparison: second, population: third })
}

function movementIdsOf(value: unknown, label: string): string[] {
  return listOf(checkText)(value, label) as string[]
}
