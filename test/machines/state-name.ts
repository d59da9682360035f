// One word for a state: `cancelling.draining`, and where all is over how it ended.

import type { SnapshotFrom } from 'xstate'

import type { uploadSessionMachine } from '../../src/machines/upload-session.ts'

/** Joins a nested state value with dots; the machines here have no parallel states. */
export function stateName(value: unknown): string {
  if (typeof value === 'string') return value
  return Object.entries(value as object)
    .map(([parent, child]) => `${parent}.${stateName(child)}`)
    .join('+')
}

/** The name of a session's state; of one that is settled its status. */
export function sessionState({ value, context }: SnapshotFrom<typeof uploadSessionMachine>): string {
  return value === 'settled' ? String(context.status) : stateName(value)
}
