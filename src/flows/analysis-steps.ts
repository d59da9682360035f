// The calls that the machine's actors make for an analysis. Each is safe to run again after a lost answer.

import { checkSegmentId } from '../client/checks.ts'
import type { RequestedAnalysis } from '../client/contract.ts'
import type { CallOptions, ServiceClient } from '../client/operations.ts'
import { isRefusal } from '../client/status.ts'
import { known, UploadError, wasDoubtful } from '../core/errors.ts'
import { given } from '../core/given.ts'
import type { AnalysisSegmentIds, DraftResult } from '../machines/analysis-data.ts'
import type { AnalysisSegment, AnalysisSegments } from './analysis-segments.ts'
import { isDraft } from './polling.ts'

/** Creates the segments given by criteria, one after another. Segments given by id are used as they are. */
export async function createSegments(
  client: ServiceClient,
  segments: AnalysisSegments | undefined,
  calling: CallOptions,
): Promise<AnalysisSegmentIds> {
  const create = async (segment: AnalysisSegment): Promise<number> => {
    if ('segmentId' in segment) return checkSegmentId(segment.segmentId, 'segmentId')
    const { movementTypeId, domHand, movementIds } = segment
    const made = await client.playerGroupSegments.create(
      { movementTypeId, domHand, orgMovementIds: movementIds },
      calling,
    )
    return made.analysisSegmentId
  }
  const { primary, comparison, population } = known(segments)
  return {
    primary: await create(known(primary)),
    ...given({
      comparison: comparison && (await create(comparison)),
      population: population && (await create(population)),
    }),
  }
}

/**
 * Creates the analysis as a draft. With `isRepeat`, an earlier create had no clear answer. A draft of that name is then looked
 * for first, because two reports would cost twice.
 */
export async function createDraft(
  client: ServiceClient,
  name: string,
  idOf: (record: RequestedAnalysis) => string | number | undefined,
  input: { readonly segmentIds: AnalysisSegmentIds; readonly isRepeat: boolean },
  calling: CallOptions,
): Promise<DraftResult> {
  const { primary, comparison, population } = input.segmentIds
  const look = () => findDraft(client, name, input.segmentIds, calling)
  const earlier = input.isRepeat ? await look() : undefined
  const record =
    earlier ??
    (await client.requestedAnalyses.create(
      {
        name,
        status: 'draft',
        primaryAnalysisSegmentId: primary,
        comparisonAnalysisSegmentId: comparison,
        populationAnalysisSegmentId: population,
      },
      calling,
    ))
  // It is made: that the list fails as well is no reason to say otherwise.
  const found = idOf(record) === undefined ? await look().catch(() => undefined) : record
  const analysisId = found && idOf(found)
  if (analysisId === undefined) {
    throw new UploadError(
      'ERR_UPLOAD_SERVICE_REPLY',
      `The analysis was made, but its id could not be read from the reply (fields: ${Object.keys(record).join(', ') || 'none'}). Name the field with the idOf option.`,
    )
  }
  return { analysisId, ...given({ serviceStatus: record.status }) }
}

/**
 * A draft with this name and these segments, as far as the list shows them. Of several, the first that is listed: they ask for the
 * same. An analysis past the draft state is the report of another night, since nobody has submitted ours.
 */
async function findDraft(client: ServiceClient, name: string, ids: AnalysisSegmentIds, calling: CallOptions) {
  const { items } = await client.requestedAnalyses.list({}, calling)
  return items.find(
    (item) =>
      item.name === name &&
      isDraft(item.status ?? 'draft') &&
      (['primary', 'comparison', 'population'] as const).every((role) => {
        const said = item[`${role}AnalysisSegmentId`]
        // Null on the wire says that there is none.
        return said === ids[role] || (said === undefined && item[`${role}_analysis_segment_id`] !== null)
      }),
  )
}

/** Asks the service to start the analysis. Safe to repeat, also where the service refuses to start what it has started. */
export async function submitDraft(
  { requestedAnalyses }: ServiceClient,
  analysisId: string | number,
  calling: CallOptions,
): Promise<{ serviceStatus?: string }> {
  const { status } = await requestedAnalyses.submit(analysisId, calling).catch(async (error: unknown) => {
    // An earlier try may have been heard. Then it is a draft no more.
    const isUnclear = isRefusal(error) && wasDoubtful(error)
    const found: RequestedAnalysis = isUnclear ? await requestedAnalyses.get(analysisId, calling).catch(() => ({})) : {}
    if (isDraft(found.status ?? 'draft')) throw error
    return found
  })
  return given({ serviceStatus: status })
}
