import { describe, expect, it } from 'vitest'
import { adjacencyMapToArray, getAdjacencyMap } from 'xstate/graph'

import type { UploadSessionInput } from '../../src/machines/session-data.ts'
import { uploadSessionMachine } from '../../src/machines/upload-session.ts'
import { allEvents, labelOf } from './session-events.ts'
import { stateName } from './state-name.ts'

const places: readonly UploadSessionInput[] = [
  { place: 'new' },
  { place: 'creating' },
  { place: 'created' },
  { place: 'cancelling' },
  { place: 'confirmed' },
  { place: 'partial' },
  { place: 'cancelled' },
  { place: 'failed' },
]

type Snapshot = ReturnType<typeof uploadSessionMachine.getInitialSnapshot>

/** Every snapshot that can be reached from any place, each with every event tried on it. */
const steps = places.flatMap((place) =>
  adjacencyMapToArray(
    getAdjacencyMap(uploadSessionMachine, {
      input: { ...place },
      events: allEvents,
      serializeState: ({ value, context }) => JSON.stringify([value, context]),
    }),
  ),
)

// What a transfer ends with, wherever its host stands.
const transferEnds = {
  'transferred 2 of 2': 'settling',
  'transferred 1 of 2': 'settling',
  'transferred 0 of 2': 'settling',
  'transfer refused after 1': 'settling',
  'transfer refused after 0': 'settling',
}

/** State → event → every state it leads to, over all contexts. What is absent is not accepted. */
const expected: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  creating: {
    'upload.pause': 'creating | pausing',
    'upload.resume': 'creating',
    'upload.close': 'creating | pausing',
    'upload.cancel': 'cancelling.draining | creating',
    'create.late': 'cancelling.draining | pausing',
    'host.unreachable': 'cancelling.draining | creating | pausing',
    'host.reachable': 'creating',
    created: 'cancelling.draining | paused | settling | uploading',
    'create refused': 'cancelling.draining | settling',
  },
  uploading: {
    'upload.pause': 'pausing',
    'upload.close': 'pausing',
    'upload.cancel': 'cancelling.draining',
    'host.unreachable': 'uploading',
    'host.reachable': 'uploading',
    ...transferEnds,
  },
  pausing: {
    'upload.pause': 'pausing',
    'upload.resume': 'pausing',
    'upload.close': 'pausing',
    'upload.cancel': 'cancelling.draining',
    'drained to pause': 'creating | paused | settling | uploading',
    'drained, and all over': 'settling',
    'pause drain broke': 'settling',
  },
  paused: {
    'upload.resume': 'creating | uploading',
    'upload.close': 'settling',
    'upload.cancel': 'cancelling.draining',
  },
  'cancelling.draining': {
    'drained to cancel': 'cancelling.telling',
    'cancel drain broke': 'cancelling.telling',
  },
  'cancelling.telling': {
    'service told': 'settling',
    'service not told': 'settling',
    'telling broke': 'settling',
  },
  settling: {
    settled: 'cancelled | closed | confirmed | failed | partial',
    'settling broke': 'cancelled | closed | confirmed | failed | partial',
  },
}

const finals = ['cancelled', 'closed', 'confirmed', 'failed', 'partial']

describe('every reachable transition of an upload session', () => {
  it('is in the table, and the table has no other', () => {
    const found: Record<string, Record<string, Set<string>>> = {}
    for (const { state, event, nextState } of steps) {
      if (!state.can(event)) continue
      const row = (found[stateName(state.value)] ??= {})
      const targets = (row[labelOf(event)] ??= new Set())
      targets.add(stateName(nextState.value))
    }
    const joined = Object.fromEntries(
      Object.entries(found).map(([from, row]) => [
        from,
        Object.fromEntries(Object.entries(row).map(([label, targets]) => [label, [...targets].sort().join(' | ')])),
      ]),
    )

    expect(joined).toEqual(expected)
  })

  it('leads from the eight places into thirteen states and no other', () => {
    expect([...new Set(steps.map(({ state }) => stateName(state.value)))].sort()).toEqual(
      [...Object.keys(expected), ...finals].sort(),
    )
  })

  it('never takes a cancel back, and keeps one that comes before the end is decided', () => {
    const places = ['creating', 'uploading', 'pausing', 'paused']
    const cancelled = steps.filter(
      ({ state, event }) =>
        event.type === 'upload.cancel' && places.includes(stateName(state.value).split('.')[0] ?? ''),
    )
    const cancelling = steps.filter(({ state }) => state.context.intent === 'cancel')

    expect(cancelled.length).toBeGreaterThan(0)
    expect(cancelled.filter(({ nextState }) => nextState.context.intent !== 'cancel')).toEqual([])
    expect(cancelling.filter(({ nextState }) => nextState.context.intent !== 'cancel')).toEqual([])
  })

  it('never takes a close back but for a cancel', () => {
    const closing = steps.filter(({ state }) => state.context.intent === 'close')

    expect(closing.length).toBeGreaterThan(0)
    for (const { event, nextState } of closing)
      expect(nextState.context.intent).toBe(
        event.type === 'upload.cancel' && nextState.context.status === null ? 'cancel' : 'close',
      )
  })

  it('accepts nothing once it is over', () => {
    const isOver = (state: Snapshot) => finals.includes(stateName(state.value))

    expect(steps.filter(({ state, event }) => isOver(state) && state.can(event))).toEqual([])
  })

  it('holds plain JSON everywhere, and names every state that is final', () => {
    for (const { state } of steps) {
      expect(JSON.parse(JSON.stringify(state.context))).toEqual(state.context)
      expect(state.status === 'done').toBe(finals.includes(stateName(state.value)))
    }
  })
})
