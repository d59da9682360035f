import { describe, expect, it } from 'vitest'
import { createActor, fromPromise } from 'xstate'
import { adjacencyMapToArray, getAdjacencyMap } from 'xstate/graph'

import type {
  AnalysisEvent,
  AnalysisMachineInput,
  AnalysisSegmentIds,
  DraftResult,
} from '../../src/machines/analysis-data.ts'
import { analysisMachine } from '../../src/machines/analysis.ts'
import { handActors, settled } from './hand-actors.ts'
import { eventOf, type Answer } from './session-events.ts'
import { stateName } from './state-name.ts'

const refused = { code: 'ERR_UPLOAD_CREDENTIALS_REFUSED', message: 'The service refused the key (401).' } as const
const unanswered = { code: 'ERR_UPLOAD_TIMEOUT', message: 'No answer.', details: { isDoubtful: true } } as const
const summary = { code: 'ERR_UPLOAD_TIMEOUT', message: 'No answer.' }
const stop: AnalysisEvent = { type: 'analysis.stop' }

/** A started analysis whose four actors are answered by hand. */
function startAnalysis(input: AnalysisMachineInput = { analysisId: null }) {
  const hand = handActors()
  const machine = analysisMachine.provide({
    actors: {
      creatingSegments: hand.actor('creatingSegments'),
      creatingDraft: hand.actor('creatingDraft'),
      submitting: hand.actor('submitting'),
      polling: hand.actor('polling'),
    },
  })
  const actor = createActor(machine, { input }).start()
  return {
    ...hand,
    send: (event: AnalysisEvent) => actor.send(event),
    answer: async (name: string, answer: Answer) => {
      hand.last(name).answer(answer)
      await settled()
    },
    state: () => stateName(actor.getSnapshot().value),
    context: () => actor.getSnapshot().context,
    /** What its report is made from. */
    end() {
      const { value, context } = actor.getSnapshot()
      return { status: stateName(value), ...context }
    },
  }
}

/** One that has come as far as this actor. */
async function startedAt(name: string) {
  const analysis = startAnalysis()
  const before = [
    ['creatingSegments', segments],
    ['creatingDraft', draft],
    ['submitting', submitted],
  ] as const
  for (const [actor, answer] of before) {
    if (actor === name) break
    await analysis.answer(actor, answer)
  }
  return analysis
}

const creatingSegments = fromPromise(() => Promise.resolve({ primary: 11 }))
const creatingDraft = fromPromise<DraftResult, { segmentIds: AnalysisSegmentIds; isRepeat: boolean }>(() =>
  Promise.resolve({ analysisId: 5 }),
)
const segments: Answer = { output: { primary: 11, population: 13 } }
const draft: Answer = { output: { analysisId: 'a-1', serviceStatus: 'draft' } }
const submitted: Answer = { output: { serviceStatus: 'requested' } }

describe('a life without disturbance', () => {
  it('makes segments, a draft, submits it and polls until the service is done', async () => {
    const analysis = startAnalysis()

    await analysis.answer('creatingSegments', segments)
    await analysis.answer('creatingDraft', draft)
    await analysis.answer('submitting', submitted)
    expect(analysis.context().serviceStatus).toBe('requested')
    analysis.send({ type: 'analysis.status', serviceStatus: 'processing' })
    expect(analysis.context().serviceStatus).toBe('processing')
    analysis.send({ type: 'analysis.status', serviceStatus: 'complete' })
    await analysis.answer('polling', { output: { verdict: 'completed' } })

    expect(analysis.runs.map(({ name, input }) => ({ name, input }))).toEqual([
      { name: 'creatingSegments', input: undefined },
      { name: 'creatingDraft', input: { segmentIds: { primary: 11, population: 13 }, isRepeat: false } },
      { name: 'submitting', input: { analysisId: 'a-1' } },
      { name: 'polling', input: { analysisId: 'a-1' } },
    ])
    expect(analysis.end()).toEqual({
      status: 'completed',
      segmentIds: { primary: 11, population: 13 },
      analysisId: 'a-1',
      hasPossibleDraft: false,
      serviceStatus: 'complete',
      error: null,
      ...{ shouldSubmit: true, draftAttempts: 1 },
    })
  })

  it('stops at the draft when it shall not be submitted', async () => {
    const analysis = startAnalysis({ analysisId: null, shouldSubmit: false })

    await analysis.answer('creatingSegments', segments)
    await analysis.answer('creatingDraft', draft)

    expect(analysis.names()).toEqual(['creatingSegments', 'creatingDraft'])
    expect(analysis.end()).toMatchObject({ status: 'drafted', analysisId: 'a-1', serviceStatus: 'draft' })
  })

  it('keeps the last word of the service when an answer has none', async () => {
    const analysis = startAnalysis()

    await analysis.answer('creatingSegments', segments)
    await analysis.answer('creatingDraft', draft)
    await analysis.answer('submitting', { output: {} })

    expect(analysis.state()).toBe('requested')
    expect(analysis.context().serviceStatus).toBe('draft')
  })

  it.each([
    ['completed', 'completed'],
    ['failed', 'failed'],
    ['deadline', 'deadline'],
  ] as const)('a verdict of %s ends in %s, and keeps the last word of the service', async (verdict, status) => {
    const analysis = startAnalysis({ analysisId: 5 })

    analysis.send({ type: 'analysis.status', serviceStatus: 'as it says' })
    await analysis.answer('polling', { output: { verdict } })

    expect(analysis.end()).toMatchObject({ status, analysisId: 5, serviceStatus: 'as it says', error: null })
  })

  it('a deadline without an answer keeps the last word that was heard, and why no more was', async () => {
    const analysis = startAnalysis({ analysisId: 5 })

    analysis.send({ type: 'analysis.status', serviceStatus: 'processing' })
    await analysis.answer('polling', { output: { verdict: 'deadline', error: summary } })

    expect(analysis.end()).toMatchObject({ status: 'deadline', serviceStatus: 'processing', error: summary })
  })
})

describe('where it goes on', () => {
  it.each([
    [{ analysisId: null }, 'creatingSegments', ['creatingSegments']],
    [{ analysisId: 5 }, 'requested', ['polling']],
  ] as const)('%o starts in %s', (input, state, names) => {
    const analysis = startAnalysis(input)

    expect(analysis.state()).toBe(state)
    expect(analysis.names()).toEqual(names)
  })

  it.each([
    [{ analysisId: null }, null],
    [{ analysisId: 5 }, 5],
  ])('%o says at an early end what it knows, and nothing else', (input, id) => {
    const analysis = startAnalysis(input)

    analysis.send(stop)

    expect(analysis.end()).toEqual({
      ...{ status: 'stopped', analysisId: id, hasPossibleDraft: false, draftAttempts: 0 },
      ...{ segmentIds: null, serviceStatus: null, error: null, shouldSubmit: true },
    })
  })
})

describe('a create without an answer', () => {
  it('is looked up before it is repeated', async () => {
    const analysis = startAnalysis()
    await analysis.answer('creatingSegments', segments)

    await analysis.answer('creatingDraft', { error: unanswered })

    expect(analysis.last('creatingDraft').input).toMatchObject({ isRepeat: true })
    await analysis.answer('creatingDraft', draft)
    expect(analysis.names()).toEqual(['creatingSegments', 'creatingDraft', 'creatingDraft', 'submitting'])
    expect(analysis.context()).toMatchObject({ analysisId: 'a-1', hasPossibleDraft: false, error: null })
  })

  it('is given up after three, and says that a draft may be there', async () => {
    const analysis = startAnalysis()
    await analysis.answer('creatingSegments', segments)

    for (let attempt = 1; attempt <= 3; attempt += 1) await analysis.answer('creatingDraft', { error: unanswered })

    expect(analysis.names()).toEqual(['creatingSegments', 'creatingDraft', 'creatingDraft', 'creatingDraft'])
    expect(analysis.end()).toMatchObject({ status: 'failed', hasPossibleDraft: true, error: summary })
  })

  it('leaves its doubt behind when the repeat is refused', async () => {
    const analysis = startAnalysis()
    await analysis.answer('creatingSegments', segments)

    await analysis.answer('creatingDraft', { error: unanswered })
    await analysis.answer('creatingDraft', { error: refused })

    expect(analysis.end()).toMatchObject({ status: 'failed', hasPossibleDraft: true, error: refused })
  })

  it('is not doubted when the first was refused', async () => {
    const analysis = startAnalysis()
    await analysis.answer('creatingSegments', segments)

    await analysis.answer('creatingDraft', { error: refused })

    expect(analysis.names()).toEqual(['creatingSegments', 'creatingDraft'])
    expect(analysis.end()).toMatchObject({ status: 'failed', hasPossibleDraft: false, error: refused })
  })

  it('may have made a draft all the same where its success could not be read', async () => {
    const unreadable = {
      code: 'ERR_UPLOAD_SERVICE_REPLY',
      message: 'The service answered 200 with a web page.',
    } as const
    const analysis = startAnalysis()
    await analysis.answer('creatingSegments', segments)

    await analysis.answer('creatingDraft', { error: unreadable })

    expect(analysis.end()).toMatchObject({ status: 'failed', hasPossibleDraft: true, error: unreadable })
  })
})

describe('failures and stops', () => {
  it.each([
    ['creatingSegments', null],
    ['submitting', 'a-1'],
    ['polling', 'a-1'],
  ] as const)('%s that rejects is failed, with the error and what is known', async (name, analysisId) => {
    const analysis = await startedAt(name)

    await analysis.answer(name, { error: refused })

    expect(analysis.end()).toMatchObject({ status: 'failed', analysisId, error: refused })
  })

  it.each([['creatingSegments'], ['submitting'], ['polling']] as const)('a stop aborts %s at once', async (name) => {
    const analysis = await startedAt(name)

    analysis.send(stop)

    expect(analysis.last(name).signal.aborted).toBe(true)
    expect(analysis.end()).toMatchObject({ status: 'stopped', hasPossibleDraft: false, error: null })
  })

  it('a stop while the draft is made says that it may be there', async () => {
    const analysis = startAnalysis()
    await analysis.answer('creatingSegments', segments)

    analysis.send(stop)

    expect(analysis.end()).toMatchObject({ status: 'stopped', analysisId: null, hasPossibleDraft: true })
  })

  it('a stop keeps the last status that was heard', () => {
    const analysis = startAnalysis({ analysisId: 5 })

    analysis.send({ type: 'analysis.status', serviceStatus: 'processing' })
    analysis.send(stop)

    expect(analysis.end()).toMatchObject({ status: 'stopped', analysisId: 5, serviceStatus: 'processing' })
  })

  it.each([
    ['creatingSegments', {}],
    ['creatingDraft', { creatingSegments }],
    ['submitting', { creatingSegments, creatingDraft }],
  ])('%s fails loudly, by its name, when it was not provided', async (name, actors) => {
    const actor = createActor(analysisMachine.provide({ actors }), { input: { analysisId: null } }).start()

    await settled()

    expect(actor.getSnapshot()).toMatchObject({ value: 'failed' })
    expect(actor.getSnapshot().context).toMatchObject({
      error: { code: 'ERR_UPLOAD_INTERNAL', message: `The actor ${name} was not provided` },
    })
  })
})

describe('every reachable transition of an analysis', () => {
  const answers: Readonly<Record<string, readonly [state: string, answer: Answer]>> = {
    'segments made': ['creatingSegments', segments],
    'segments refused': ['creatingSegments', { error: refused }],
    drafted: ['creatingDraft', draft],
    'draft refused': ['creatingDraft', { error: refused }],
    'draft unanswered': ['creatingDraft', { error: unanswered }],
    submitted: ['submitting', submitted],
    'submit refused': ['submitting', { error: refused }],
    'polled completed': ['requested', { output: { serviceStatus: 'complete', verdict: 'completed' } }],
    'polled failed': ['requested', { output: { serviceStatus: 'error', verdict: 'failed' } }],
    'polled deadline': ['requested', { output: { serviceStatus: 'requested', verdict: 'deadline' } }],
    'polling refused': ['requested', { error: refused }],
  }
  const events = new Map<string, AnalysisEvent>([
    ['stop', stop],
    ['status', { type: 'analysis.status', serviceStatus: 'processing' }],
    ...Object.entries(answers).map(([label, [state, answer]]): [string, AnalysisEvent] => [
      label,
      eventOf(`analysis.${state}`, answer) as AnalysisEvent,
    ]),
  ])
  const inputs: readonly AnalysisMachineInput[] = [
    { analysisId: null },
    { analysisId: null, shouldSubmit: false },
    { analysisId: 5 },
  ]
  const steps = inputs.flatMap((input) =>
    adjacencyMapToArray(
      getAdjacencyMap(analysisMachine, {
        input,
        events: [...events.values()],
        serializeState: ({ value, context }) => JSON.stringify([value, context]),
      }),
    ),
  )

  it('is in the table, and the table has no other; a final state accepts nothing', () => {
    const found: Record<string, Record<string, Set<string>>> = {}
    for (const { state, event, nextState } of steps) {
      const row = (found[stateName(state.value)] ??= {})
      if (!state.can(event)) continue
      const label = [...events].find(([, candidate]) => candidate === event)![0]
      const targets = (row[label] ??= new Set())
      targets.add(stateName(nextState.value))
    }
    const joined = Object.fromEntries(
      Object.entries(found).map(([from, row]) => [
        from,
        Object.fromEntries(Object.entries(row).map(([label, targets]) => [label, [...targets].sort().join(' | ')])),
      ]),
    )

    expect(joined).toEqual({
      creatingSegments: { stop: 'stopped', 'segments made': 'creatingDraft', 'segments refused': 'failed' },
      creatingDraft: {
        stop: 'stopped',
        drafted: 'drafted | submitting',
        'draft refused': 'failed',
        'draft unanswered': 'creatingDraft | failed',
      },
      submitting: { stop: 'stopped', submitted: 'requested', 'submit refused': 'failed' },
      requested: {
        stop: 'stopped',
        status: 'requested',
        'polled completed': 'completed',
        'polled failed': 'failed',
        'polled deadline': 'deadline',
        'polling refused': 'failed',
      },
      drafted: {},
      completed: {},
      failed: {},
      deadline: {},
      stopped: {},
    })
  })

  it('holds plain JSON everywhere', () => {
    for (const { state } of steps) expect(JSON.parse(JSON.stringify(state.context))).toEqual(state.context)
  })
})
