// Segments and requested analyses on the wire. The interface leaves out most of their fields, so all are kept as they
// come.

import { fromWire, isWireObject, ownField, readCount, readId, readText, segmentIdOf } from './fields.ts'
import type { ServiceId, WireObject } from './fields.ts'

/** Field names under which services of this kind put a list. */
const listNames = ['requested_analyses', 'data', 'results', 'items']

export type DomHand = 'RHA' | 'LHA'

export interface SegmentInput {
  readonly movementTypeId: number
  /** RHA is right-handed, LHA left-handed. */
  readonly domHand: DomHand
  /** The organisation's own ids of the movements to include. Default: all that fit. */
  readonly orgMovementIds?: readonly string[] | undefined
  /** Fields of the service that its interface does not show, under their wire names. Default: none. */
  readonly extra?: WireObject | undefined
}

export interface Segment {
  readonly analysisSegmentId: number
  readonly numPlayers?: number
  readonly numMovements?: number
  /** Present if an earlier try had no clear answer, so that the service may hold a segment nobody will use. */
  readonly hasPossibleOrphan?: true
  readonly [wireName: string]: unknown
}

export interface AnalysisInput {
  readonly name: string
  /** A number, or its digits as the service gave them. Sent as an integer. */
  readonly primaryAnalysisSegmentId: ServiceId
  readonly comparisonAnalysisSegmentId?: ServiceId | undefined
  readonly populationAnalysisSegmentId?: ServiceId | undefined
  /** Default: not sent, which the service takes as `draft`. */
  readonly status?: 'draft' | 'requested' | undefined
  readonly extra?: WireObject | undefined
}

/**
 * What is known of an analysis. The interface does not show the id's name on the wire: it is read from `id`, else from
 * `requested_analysis_id`.
 */
export interface RequestedAnalysis {
  readonly id?: ServiceId
  readonly name?: string
  /** The service's own word: `draft`, `requested`, or one that the interface does not show. */
  readonly status?: string
  readonly primaryAnalysisSegmentId?: number
  readonly comparisonAnalysisSegmentId?: number
  readonly populationAnalysisSegmentId?: number
  readonly [wireName: string]: unknown
}

/**
 * Returns undefined if the reply lacks the segment's id, which is how the service says that the request was malformed.
 */
export function segmentFromWire(raw: WireObject): Segment | undefined {
  const reads = { analysis_segment_id: segmentIdOf, num_players: readCount, num_movements: readCount }
  return fromWire(raw, reads, { needed: ['analysis_segment_id'] }) as Segment | undefined
}

export function analysisFromWire(raw: WireObject): RequestedAnalysis {
  const id = readId(ownField(raw, 'id')) === undefined ? 'requested_analysis_id' : 'id'
  const reads = {
    [id]: readId,
    name: readText,
    status: readText,
    primary_analysis_segment_id: segmentIdOf,
    comparison_analysis_segment_id: segmentIdOf,
    population_analysis_segment_id: segmentIdOf,
  }
  return fromWire(raw, reads, { names: { requested_analysis_id: 'id' } })
}

/** The list in a reply. Undefined if there is none, or if more than one field could be it. */
export function analysisListFromWire(raw: unknown): readonly RequestedAnalysis[] | undefined {
  const lists: unknown[] = Array.isArray(raw)
    ? [raw]
    : listNames.map((name) => (isWireObject(raw) ? ownField(raw, name) : undefined)).filter(Array.isArray)
  const [list] = lists
  if (lists.length !== 1 || !Array.isArray(list) || !list.every(isWireObject)) return undefined
  return list.map(analysisFromWire)
}
