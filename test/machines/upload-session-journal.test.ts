import { describe, expect, it } from 'vitest'
import { getShortestPaths } from 'xstate/graph'

import { foldJournal } from '../../src/core/journal/fold-journal.ts'
import type { JournalRecord } from '../../src/core/journal/journal.ts'
import type { UploadSessionEvent } from '../../src/machines/session-data.ts'
import { uploadSessionMachine } from '../../src/machines/upload-session.ts'
import { settled } from './hand-actors.ts'
import { begun, startJournalled } from './journalled-session.ts'
import { allEvents, type Answer, answers, labelOf } from './session-events.ts'
import { stateName } from './state-name.ts'

const at = 1_763_640_000_000
const creating: JournalRecord = { at, type: 'session.creating' }
const created: JournalRecord = { at, type: 'session.created', sessionId: 's-1' }
const cancelling: JournalRecord = { at, type: 'session.cancelling' }

/** What an earlier life has left, for each place where a life can begin and is not over at once. */
const beginnings: readonly (readonly JournalRecord[])[] = [
  [begun],
  [begun, creating],
  [begun, creating, created],
  [begun, cancelling],
  [begun, creating, created, cancelling],
]

const finals = ['confirmed', 'partial', 'cancelled', 'failed']

/** The events of one shortest path to each final snapshot: every final state under every context it can have. */
function pathsToTheEnd(beginning: readonly JournalRecord[]) {
  const paths = getShortestPaths(uploadSessionMachine, {
    input: foldJournal(beginning),
    events: allEvents,
    serializeState: ({ value, context }) => JSON.stringify([value, context]),
    stopWhen: ({ status }) => status === 'done',
  })
  return paths
    .filter(({ state }) => finals.includes(stateName(state.value)))
    .map(({ state, steps }) => ({
      status: stateName(state.value),
      events: steps.slice(1).map(({ event }) => event),
    }))
}

/** Lives through a path, each actor answered when its turn comes, and gives back what the journal then holds. */
async function liveThrough(beginning: readonly JournalRecord[], events: readonly UploadSessionEvent[]) {
  const records = [...beginning]
  const waiting = new Map<string, (answer: Answer) => void>()
  const life = startJournalled(records, (state) => new Promise((resolve) => waiting.set(state, resolve)))
  await settled()
  for (const event of events) {
    const known = answers[labelOf(event)]
    if (known === undefined) life.send(event)
    else waiting.get(known.state)!(known.answer)
    await settled()
  }
  return { records, status: await life.end() }
}

/** What the records allow a later, undisturbed life to end as. Written without a look at the fold. */
function destinyOf(records: readonly JournalRecord[]): string {
  const last = records.findLast((record) => record.type === 'session.settled')
  if (last !== undefined) return last.status
  if (records.some(({ type }) => type === 'session.cancelling')) return 'cancelled'
  return ['confirmed', 'partial', 'failed'][records.filter(({ type }) => type === 'file.failed').length]!
}

const count = (records: readonly JournalRecord[], type: JournalRecord['type']) =>
  records.filter((record) => record.type === type).length

describe('a death at any record of any shortest life', () => {
  it.each(beginnings.map((beginning) => [beginning.map(({ type }) => type).join(' '), beginning] as const))(
    'after %s: a new life ends, and takes nothing back',
    async (_, beginning) => {
      const statuses = new Set<string>()
      for (const { status, events } of pathsToTheEnd(beginning)) {
        const first = await liveThrough(beginning, events)
        const path = events.map(labelOf).join(', ')
        expect(first.status, path).toBe(status)
        statuses.add(status)

        for (let length = beginning.length; length <= first.records.length; length += 1) {
          const prefix = first.records.slice(0, length)
          const records = [...prefix]
          const ended = await startJournalled(records, () => undefined).end()

          const where = `${path}; died after record ${length}`
          expect(ended, where).toBe(destinyOf(prefix))
          expect(records.slice(0, length), where).toEqual(prefix)
          expect(count(records, 'session.created'), where).toBeLessThanOrEqual(1)
          expect(count(records, 'session.settled'), where).toBeLessThanOrEqual(1)
          if (count(prefix, 'session.created') === 1) {
            expect(count(records, 'session.creating'), where).toBe(count(prefix, 'session.creating'))
          }
          if (count(prefix, 'session.settled') === 1) expect(records, where).toEqual(prefix)
          expect(foldJournal(records).place, where).toBe(ended)
        }
      }
      expect([...statuses].sort()).toEqual(
        beginning.includes(cancelling) ? ['cancelled'] : ['cancelled', 'confirmed', 'failed', 'partial'],
      )
    },
  )
})

it('the lives above are many', () => {
  expect(beginnings.map((beginning) => pathsToTheEnd(beginning).length)).toEqual([46, 46, 24, 6, 6])
})
