// Segments and requested analyses on the wire, as schemas. The interface leaves out most of their fields, so all are
// kept as they come.

import * as v from 'valibot'
import { wireAnyObject, wireCount, wireDomHand, wireId, wireSegmentId, wireText } from './field-schemas.ts'

export const segmentRequest = v.object({
  movement_type_id: wireCount,
  dom_hand: wireDomHand,
  org_movement_ids: v.optional(v.array(wireText)),
})

export const segmentReply = v.looseObject({
  analysis_segment_id: wireSegmentId,
  num_players: v.optional(wireCount),
  num_movements: v.optional(wireCount),
})

export const analysisRequest = v.object({
  name: wireText,
  primary_analysis_segment_id: wireCount,
  comparison_analysis_segment_id: v.optional(wireCount),
  population_analysis_segment_id: v.optional(wireCount),
  status: v.optional(v.picklist(['draft', 'requested']), 'draft'),
})

/** The record of an analysis. The interface shows none of its fields, so none is required. */
export const analysisReply = v.looseObject({
  id: v.optional(wireId),
  requested_analysis_id: v.optional(wireId),
  name: v.optional(v.string()),
  status: v.optional(v.string()),
  primary_analysis_segment_id: v.optional(wireSegmentId),
  comparison_analysis_segment_id: v.optional(v.nullable(wireSegmentId)),
  population_analysis_segment_id: v.optional(v.nullable(wireSegmentId)),
})

/**
 * The interface does not show the list's shape: it is a bare array, or an array under a name that services of this kind
 * use.
 */
export const analysisListReply = v.union([v.array(wireAnyObject), wireAnyObject])

/** Bodies that the interface does not show. */
export const unshownRequest = wireAnyObject
export const unshownReply = v.optional(wireAnyObject)
