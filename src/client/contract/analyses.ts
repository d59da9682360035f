// Segments and requested analyses on the wire. Most of their records is not shown, so it is kept as it comes.

import { fromWire, isWireObject, ownField, readCount, readId, readText, segmentIdOf } from './fields.ts'
import type { ServiceId, WireObject } from './fields.ts'

/** Names under which such services put a list. */
const listNames = ['requested_analyses', 'data', 'results', 'items']

export type DomHand = 'RHA' | 'LHA'

export interface SegmentInput {
  readonly movementTypeId: number
  /** RHA is right-handed, LHA left-handed. */
  readonly domHand: DomHand
  /** The organisation's own ids of movements to include. Default: all that fit. */
  readonly orgMovementIds?: readonly string[]
  /** Fields of the service that its interface does not show, under their wire names. Default: none. */
  readonly extra?: WireObject
}

export interface Segment {
  readonly analysisSegmentId: number
  readonly numPlayers?: number
  readonly numMovements?: number
  /** Present when an earlier try had no clear answer, so that the service may hold a segment nobody will use. */
  readonly hasPossibleOrphan?: true
  readonly [wireName: string]: unknown
}

export interface AnalysisInput {
  readonly name: string
  /** A number, or its digits as the service gave them; sent as an integer. */
  readonly primaryAnalysisSegmentId: ServiceId
  readonly comparisonAnalysisSegmentId?: ServiceId
  readonly populationAnalysisSegmentId?: ServiceId
  /** Default: not sent, which the service takes as `draft`. */
  readonly status?: 'draft' | 'requested'
  readonly extra?: WireObject
}

/** What is known of an analysis. The id's name on the wire is not shown: `id`, else `requested_analysis_id`. */
export interface RequestedAnalysis {
  readonly id?: ServiceId
  readonly name?: string
  /** The service's word: `draft`, `requested`, or one that is not shown. */
  readonly status?: string
  readonly primaryAnalysisSegmentId?: number
  readonly comparisonAnalysisSegmentId?: number
  readonly populationAnalysisSegmentId?: number
  readonly [wireName: string]: unknown
}

/** Undefined when the reply lacks the segment's id, which is how the service says that the request was malformed. */
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

/** The list in a reply; undefined when there is none, or more than one that it could be. */
export function analysisListFromWire(raw: unknown): readonly RequestedAnalysis[] | undefined {
  const lists: unknown[] = Array.isArray(raw)
    ? [raw]
    : listNames.map((name) => (isWireObject(raw) ? ownField(raw, name) : undefined)).filter(Array.isArray)
  const [list] = lists
  if (lists.length !== 1 || !Array.isArray(list) || !list.every(isWireObject)) return undefined
  return list.map(analysisFromWire)
}
