// Requested analyses against a service that was written from the interface alone.

import { describe, expect, it } from 'vitest'
import { startRig } from './rig.ts'

const primary = { movementTypeId: 1, domHand: 'RHA', movementIds: ['play-1'] } as const

describe('a requested analysis', () => {
  it('is made as a draft from its segments, submitted, and followed to its end', async () => {
    const rig = await startRig({ analysisProgress: ['requested', 'processing', 'completed'] })
    const analysis = rig.uplink.requestAnalysis({
      name: 'Night game',
      primary,
      population: { movementTypeId: 1, domHand: 'RHA' },
      pollDelaysMs: [1_000],
    })
    const words: string[] = []
    analysis.on('status', ({ serviceStatus }) => words.push(serviceStatus))
    const ids: unknown[] = [analysis.analysisId]
    analysis.on('state', ({ state }) => {
      if (state === 'creatingDraft' || state === 'submitting') ids.push(analysis.analysisId)
    })

    const report = await analysis.done()

    expect(ids).toEqual([undefined, undefined, report.analysisId])

    expect([report.status, report.serviceStatus]).toEqual(['completed', 'completed'])
    expect(words).toEqual(['requested', 'processing', 'completed'])
    expect(rig.service.requestsOf('createSegment').map((call) => call.body)).toEqual([
      { movement_type_id: 1, dom_hand: 'RHA', org_movement_ids: ['play-1'] },
      { movement_type_id: 1, dom_hand: 'RHA' },
    ])
    expect(rig.service.requestsOf('createAnalysis').map((call) => call.body)).toEqual([
      {
        name: 'Night game',
        primary_analysis_segment_id: report.segmentIds?.primary,
        population_analysis_segment_id: report.segmentIds?.population,
        status: 'draft',
      },
    ])
    expect(rig.service.requestsOf('submitAnalysis')).toHaveLength(1)
  })

  it('is looked up by name after a lost answer, and never made twice', async () => {
    const rig = await startRig({ faults: [{ operation: 'createAnalysis', nth: 1, action: 'loseReply' }] })

    const report = await rig.uplink.requestAnalysis({ name: 'Once', primary, submit: false }).done()

    expect(report.status).toBe('drafted')
    expect(rig.service.requestsOf('createAnalysis')).toHaveLength(1)
    expect(rig.service.requestsOf('listAnalyses')).toHaveLength(1)
  })

  it('settles at its deadline with the last word of the service', async () => {
    const rig = await startRig({ analysisProgress: ['processing'] })

    const report = await rig.uplink.requestAnalysis({ name: 'Slow', primary, deadlineMs: 20 }).done()

    expect([report.status, report.serviceStatus]).toEqual(['deadline', 'processing'])
  })

  it('rejects when the service says that it failed', async () => {
    const rig = await startRig({ analysisProgress: ['failed'] })

    const failure = rig.uplink.requestAnalysis({ name: 'Sad', primary }).done()

    await expect(failure).rejects.toMatchObject({ code: 'ERR_UPLOAD_FAILED', report: { serviceStatus: 'failed' } })
  })

  it('that is watched has the id as the service writes it, and that of no other record', async () => {
    const rig = await startRig({ analysisProgress: ['completed'], idStyle: 'number' })
    const { analysisId } = await rig.uplink.requestAnalysis({ name: 'Watched', primary }).done()

    const watched = await rig.uplink.watchAnalysis(String(analysisId)).done()
    const other = await rig.uplink.watchAnalysis(String(analysisId), { idOf: () => 77 }).done()

    expect([typeof analysisId, watched.analysisId, other.analysisId]).toEqual([
      'number',
      analysisId,
      String(analysisId),
    ])
  })

  it('reads the id from another field of the record', async () => {
    const rig = await startRig({ analysisIdField: 'requested_analysis_id', idStyle: 'number' })

    const report = await rig.uplink.requestAnalysis({ name: 'Other', primary, submit: false }).done()

    expect(typeof report.analysisId).toBe('number')
  })

  it.each([-1, 1.5, ''])('whose record has no id that could be sent again is told of as made: %j', async (id) => {
    const rig = await startRig()
    const failure = rig.uplink.requestAnalysis({ name: 'No id', primary, idOf: () => id }).done()

    await expect(failure).rejects.toMatchObject({
      code: 'ERR_UPLOAD_SERVICE_REPLY',
      message: expect.stringContaining('The analysis was made, but its id could not be read') as string,
      report: { hasPossibleDraft: true },
    })
    expect(rig.service.requestsOf('submitAnalysis')).toEqual([])
  })

  it('refuses segments that disagree before any call', async () => {
    const rig = await startRig()
    const comparison = { movementTypeId: 2, domHand: 'LHA' } as const

    expect(() => rig.uplink.requestAnalysis({ name: 'No', primary, comparison })).toThrow(
      /comparison has movementTypeId 2, primary 1; comparison has domHand "LHA", primary "RHA"/,
    )
    expect(rig.service.records.requests).toEqual([])
  })
})
