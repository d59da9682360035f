// The analysis calls of the independent service, as the interface shows them: segments and requested analyses.

import type { Answer } from './independent-exchange.ts'
import type { IndependentServiceOptions } from './independent-records.ts'

type Fields = Readonly<Record<string, unknown>>

export interface AnalysisCalls {
  createSegment(body: Fields): Answer
  updateSegment(id: string, body: Fields): Answer
  create(body: Fields): Answer
  list(): Answer
  get(id: string): Answer
  update(id: string, body: Fields): Answer
  submit(id: string): Answer
}

const SEGMENT_FIELDS = [
  'primary_analysis_segment_id',
  'comparison_analysis_segment_id',
  'population_analysis_segment_id',
] as const

export function createAnalysisCalls(options: IndependentServiceOptions): AnalysisCalls {
  const { analysisProgress = ['requested', 'processing', 'completed'], analysisIdField = 'id' } = options
  const segments = new Map<number, Fields>()
  const analyses = new Map<number, { fields: Fields; progressIndex: number }>()
  const unknown = options.hasUnknownFields === true ? { dashboard_hint: 'Reports' } : {}

  function idOf(id: number): string | number {
    return options.idStyle === 'number' ? id : String(id)
  }

  function record(id: number, fields: Fields): Answer {
    return { status: 200, body: { [analysisIdField]: idOf(id), ...fields, ...unknown } }
  }

  function wrongInAnalysis(body: Fields): string | undefined {
    if (typeof body['name'] !== 'string' || body['name'] === '') return 'name is missing'
    if (!('primary_analysis_segment_id' in body)) return 'primary_analysis_segment_id is missing'
    if ('status' in body && !['draft', 'requested'].includes(String(body['status']))) return 'status is unknown'
    const sent = SEGMENT_FIELDS.filter((field) => field in body).map((field) => body[field])
    if (!sent.every((id) => Number.isInteger(id))) return 'a segment id is not an integer'
    const found = sent.map((id) => segments.get(id as number))
    const criteria = found.map(
      (segment) => segment && `${String(segment['movement_type_id'])}/${String(segment['dom_hand'])}`,
    )
    if (criteria.includes(undefined)) return 'a segment does not exist'
    return new Set(criteria).size === 1 ? undefined : 'segments differ in movement_type_id or dom_hand'
  }

  function change(id: string, fields: Fields): Answer {
    const analysis = analyses.get(Number(id))
    if (analysis === undefined) return refusal(404, 'no such requested analysis')
    analysis.fields = { ...analysis.fields, ...fields, updated_at: new Date().toISOString() }
    return record(Number(id), analysis.fields)
  }

  return {
    createSegment(body) {
      const isRight =
        Number.isInteger(body['movement_type_id']) &&
        ['RHA', 'LHA'].includes(String(body['dom_hand'])) &&
        (!('org_movement_ids' in body) || Array.isArray(body['org_movement_ids']))
      // The interface shows only what such a reply lacks.
      if (!isRight) return { status: options.refusalStatus ?? 200, body: { message: 'wrong criteria' } }
      const id = 31 + segments.size
      segments.set(id, body)
      return { status: 200, body: { analysis_segment_id: idOf(id), ...unknown } }
    },

    updateSegment(id, body) {
      const segment = segments.get(Number(id))
      if (segment === undefined) return refusal(404, 'no such segment')
      segments.set(Number(id), { ...segment, ...body })
      return { status: 200, body: { analysis_segment_id: idOf(Number(id)), ...unknown } }
    },

    create(body) {
      const wrong = wrongInAnalysis(body)
      if (wrong !== undefined) return refusal(400, wrong)
      const id = 901 + analyses.size
      const fields = { status: 'draft', ...body, created_at: new Date().toISOString() }
      analyses.set(id, { fields, progressIndex: 0 })
      return record(id, fields)
    },

    list: () => ({
      status: 200,
      body: [...analyses].map(([id, { fields }]) => ({ [analysisIdField]: idOf(id), ...fields, ...unknown })),
    }),

    get(id) {
      const analysis = analyses.get(Number(id))
      if (analysis === undefined) return refusal(404, 'no such requested analysis')
      if (analysis.fields['status'] !== 'draft') {
        const index = Math.min(analysis.progressIndex++, analysisProgress.length - 1)
        analysis.fields = { ...analysis.fields, status: analysisProgress[index] }
      }
      return record(Number(id), analysis.fields)
    },

    update: change,
    submit: (id) => change(id, { status: 'requested' }),
  }
}

function refusal(status: number, message: string): Answer {
  return { status, body: { message } }
}
