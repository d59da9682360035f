// Segments and requested analyses on the wire as schemas. Most of their records is not shown, so it is kept as it comes.

import * as v from 'valibot'
import { wireAnyObject, wireCount, wireDomHand, wireId, wireSegmentId, wireText } from './field-schemas.ts'

export const segmentRequest = v.looseObject({
  movement_type_id: wireCount,
  dom_hand: wireDomHand,
  org_movement_ids: v.optional(v.array(wireText)),
})

export const segmentReply = v.looseObject({
  analysis_segment_id: wireSegmentId,
  num_players: v.optional(wireCount),
  num_movements: v.optional(wireCount),
})

export const analysisRequest = v.looseObject({
  name: wireText,
  primary_analysis_segment_id: wireCount,
  comparison_analysis_segment_id: v.optional(wireCount),
  population_analysis_segment_id: v.optional(wireCount),
  status: v.optional(v.picklist(['draft', 'requested']), 'draft'),
})

/** The record of an analysis; none of its fields is shown, so none is demanded. */
export const analysisReply = v.looseObject({
  id: v.optional(wireId),
  requested_analysis_id: v.optional(wireId),
  name: v.optional(v.string()),
  status: v.optional(v.string()),
  primary_analysis_segment_id: v.optional(wireSegmentId),
  comparison_analysis_segment_id: v.optional(v.nullable(wireSegmentId)),
  population_analysis_segment_id: v.optional(v.nullable(wireSegmentId)),
})

/** The list's shape is not shown: a bare array, or one array under a name that such services use. */
export const analysisListReply = v.union([v.array(wireAnyObject), wireAnyObject])

/** Bodies that the interface does not show. */
export const unshownRequest = wireAnyObject
export const unshownReply = v.optional(wireAnyObject)
