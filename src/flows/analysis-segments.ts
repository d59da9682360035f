// The segments of a requested analysis as the host gives them. They are checked before any call is made.

import { checkFields, listOf, optional } from '../client/check-fields.ts'
import {
  checkDomHand,
  checkInteger,
  checkIs,
  checkRequired,
  checkSegmentId,
  checkSegmentsAgree,
  checkText,
} from '../client/checks.ts'
import type { DomHand } from '../client/contract.ts'
import { isWireObject } from '../client/contract/fields.ts'

/** Criteria to make a segment from, or the id of an existing one. */
export type AnalysisSegment =
  | { readonly movementTypeId: number; readonly domHand: DomHand; readonly movementIds?: readonly string[] | undefined }
  | { readonly segmentId: string | number }

export type AnalysisSegments = Readonly<Record<'primary' | 'comparison' | 'population', AnalysisSegment | undefined>>
type Criteria = Extract<AnalysisSegment, { movementTypeId: number }>

/** Throws ERR_UPLOAD_INVALID_ARGUMENT for anything the service would refuse. */
export function checkSegments(segments: AnalysisSegments): void {
  const criteria: Partial<Record<keyof AnalysisSegments, Criteria>> = {}
  for (const [role, segment] of Object.entries(segments) as [keyof AnalysisSegments, AnalysisSegment | undefined][]) {
    if (segment === undefined) continue
    checkIs(segment, role, isWireObject, ': give { movementTypeId, domHand } or { segmentId }.')
    if ('segmentId' in segment) checkSegmentId(segment.segmentId, `${role}.segmentId`)
    else {
      const movementIds = optional(listOf(checkText, { least: 0 }))
      checkFields(segment, { movementTypeId: checkInteger, domHand: checkDomHand, movementIds }, role)
      criteria[role] = segment
    }
  }
  checkRequired(segments.primary, 'primary')
  // Only criteria can be compared here. The service compares the segments that exist already.
  checkSegmentsAgree(criteria)
}
