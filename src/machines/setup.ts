// XState's `setup` with its types, but without the actions that it brings along and that no machine here uses (0.8 kB of a
// page).

import {
  createMachine,
  fromPromise,
  type NonReducibleUnknown,
  type PromiseActorLogic,
  type setup as xstateSetup,
} from 'xstate'

import { readRejection } from './rejection.ts'

/** As in XState, but for `createMachine` only: the rest of what XState's `setup` returns is missing here. */
export const setup = ((implementations: object) => ({
  createMachine: (config: object) => createMachine(config, implementations),
})) as unknown as typeof xstateSetup

/** A placeholder for an actor that whoever drives the machine provides. Without one it fails loudly, by name. */
export function notProvided<TOutput, TInput extends NonReducibleUnknown = NonReducibleUnknown>(
  name: string,
): PromiseActorLogic<TOutput, TInput> {
  return fromPromise<TOutput, TInput>(() => {
    throw new Error(`The actor ${name} was not provided`)
  })
}

/** What an actor rejected with, as the parameter of an action or a guard. */
export const failureOf = ({ event }: { event: { error: unknown } }) => readRejection(event.error)

/** The same with what an actor resolved with. */
export const resultOf = <T>({ event }: { event: { output: T } }) => event.output
