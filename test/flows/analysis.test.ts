// What the host of an analysis is told while it runs, and what its report says of it.

import { expect, it } from 'vitest'

import type { AnalysisEvents } from '../../src/flows/analysis.ts'
import { BASE_URL, createFarEnd, goodStorage, type Answer } from '../security/far-end.ts'
import { noWay } from './outage-rig.ts'

const ok = (body: unknown): Answer => ({ status: 200, body })
const criteria = { movementTypeId: 1, domHand: 'RHA' } as const

/** A service that does as it is asked, and is away while `isAway`. */
function createService() {
  const state = { isAway: false, segments: 10 }
  const words = ['requested', 'processing', 'completed']
  const service = ({ method, url }: { readonly method: string; readonly url: string }): Answer | Error => {
    if (state.isAway) return noWay()
    const path = url.slice(BASE_URL.length)
    if (path === '/player_group_segments') return ok({ analysis_segment_id: (state.segments += 1) })
    if (method === 'POST') return ok({ id: 7, status: 'draft' })
    if (method === 'PATCH') return ok({ status: 'requested' })
    return ok({ id: 7, status: words.length > 1 ? words.shift() : words[0] })
  }
  return { state, ...createFarEnd({ service, storage: goodStorage }) }
}

it('is told of its states, of each new word of the service, and of a service that is away', async () => {
  const { uplink, clock, state, settled } = createService()
  const told: string[] = []
  const waits: AnalysisEvents['waiting'][] = []
  const analysis = uplink.requestAnalysis({
    ...{ name: 'Weekly', primary: criteria, comparison: { segmentId: '5' }, population: criteria },
    pollDelaysMs: [60_000],
  })
  analysis.on('state', (event) => told.push(event.state))
  analysis.on('status', ({ serviceStatus }) => told.push(serviceStatus))
  analysis.on('waiting', (wait) => waits.push(wait))
  expect([analysis.state, analysis.analysisId]).toEqual(['creatingSegments', undefined])

  await clock.advance(30_000)
  expect([analysis.state, analysis.analysisId]).toEqual(['requested', 7])
  state.isAway = true
  await clock.advance(60_000)
  state.isAway = false

  expect(await settled(analysis.done())).toEqual({
    ...{ flow: 'analysis', status: 'completed', analysisId: 7, serviceStatus: 'completed', hasPossibleDraft: false },
    ...{
      segmentIds: { primary: 11, comparison: 5, population: 12 },
      durationMs: expect.closeTo(150_000, -5) as number,
    },
  })
  expect(told).toEqual('creatingDraft submitting requested requested processing completed completed'.split(' '))
  expect(waits.length).toBeGreaterThan(1)
  expect(waits[0]).toMatchObject({ who: 'service', host: 'service.example:443', operation: 'requestedAnalyses.get' })
})

it('asks the service for all that was given, and for nothing else', async () => {
  const { uplink, requests, settled } = createService()
  const comparison = { movementTypeId: 1, domHand: 'RHA', movementIds: ['m-1', 'm-2'] } as const
  await settled(
    uplink.requestAnalysis({ name: 'n', primary: criteria, comparison, population: { segmentId: '5' } }).done(),
  )

  const sent = requests.flatMap(({ body }) => (body?.kind === 'bytes' ? [new TextDecoder().decode(body.bytes)] : []))
  expect(sent.map((text) => JSON.parse(text) as unknown)).toEqual([
    { movement_type_id: 1, dom_hand: 'RHA' },
    { movement_type_id: 1, dom_hand: 'RHA', org_movement_ids: ['m-1', 'm-2'] },
    {
      ...{ name: 'n', status: 'draft', primary_analysis_segment_id: 11 },
      ...{ comparison_analysis_segment_id: 12, population_analysis_segment_id: 5 },
    },
  ])
})

it.each(['creatingSegments', 'creatingDraft', 'submitting', 'requested'])(
  'that is stopped while it waits for the service in %s asks for nothing more, and holds up no end of the program',
  async (step) => {
    const { uplink, clock, requests, state, settled } = createService()
    await uplink.client.requestedAnalyses.get(7)
    state.isAway = step === 'creatingSegments'
    const analysis = uplink.requestAnalysis({ name: 'n', primary: criteria })
    analysis.on('state', (event) => (state.isAway ||= event.state === step))
    const waits: unknown[] = []
    analysis.on('waiting', ({ operation }) => waits.push(operation))
    await clock.advance(30_000)
    expect([analysis.state, new Set(waits).size]).toEqual([step, 1])
    const asked = requests.length
    state.isAway = false
    analysis.stop()

    expect(await settled(analysis.done())).toMatchObject({ status: 'stopped' })
    expect(clock.pending).toBe(0)
    await clock.advance(3_600_000)
    expect(requests).toHaveLength(asked)
  },
)

it('that stays a draft says so', async () => {
  const { uplink, settled } = createService()

  expect(await settled(uplink.requestAnalysis({ name: 'n', primary: criteria, submit: false }).done())).toEqual({
    ...{ flow: 'analysis', status: 'drafted', analysisId: 7, serviceStatus: 'draft', hasPossibleDraft: false },
    ...{ segmentIds: { primary: 11 }, durationMs: 0 },
  })
})

it('that is stopped before the service said a word of it says nothing that it does not know, and is told of no more', async () => {
  const { uplink, clock, state, settled } = createService()
  await uplink.client.requestedAnalyses.get(7)
  state.isAway = true
  const analysis = uplink.watchAnalysis('7')
  const told: unknown[] = []
  analysis.on('status', (event) => told.push(event))
  await clock.advance(30_000)
  state.isAway = false
  analysis.stop()
  analysis.stop()

  expect(await settled(analysis.done())).toStrictEqual({
    ...{ flow: 'analysis', status: 'stopped', analysisId: '7', serviceStatus: undefined, hasPossibleDraft: false },
    ...{ segmentIds: undefined, durationMs: 30_000 },
  })
  await clock.advance(600_000)
  expect([analysis.state, told]).toEqual(['stopped', []])
})

it('that is watched under a typed id is reported under the id of the service', async () => {
  const { uplink, settled } = createService()
  const analysis = uplink.watchAnalysis('7', { completedStatuses: ['requested'] })

  expect(await settled(analysis.done())).toMatchObject({ status: 'completed', analysisId: 7 })
})

it('that is stopped by who is told a word of the service has that word in its report', async () => {
  const { uplink, settled } = createService()
  const analysis = uplink.watchAnalysis(7)
  analysis.on('status', () => analysis.stop())

  expect(await settled(analysis.done())).toMatchObject({ status: 'stopped', serviceStatus: 'requested' })
})

it('that is stopped just as an answer comes is told of no word that its report does not have', async () => {
  const onCall = { stop: (): void => undefined }
  const service = (): Answer => {
    onCall.stop()
    return ok({ id: 7, status: 'processing' })
  }
  const { uplink, settled } = createFarEnd({ service, storage: goodStorage })
  const analysis = uplink.watchAnalysis(7)
  const told: unknown[] = []
  analysis.on('status', (event) => told.push(event))
  onCall.stop = analysis.stop

  const { serviceStatus } = await settled(analysis.done())
  await uplink.close()

  expect([serviceStatus, told]).toEqual([undefined, []])
})
