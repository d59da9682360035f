// XState's `setup` with its types, and without the actions that it brings along and no machine here uses (0.8 kB of a page).

import {
  createMachine,
  fromPromise,
  type NonReducibleUnknown,
  type PromiseActorLogic,
  type setup as xstateSetup,
} from 'xstate'

/** As in XState, for `createMachine` alone: what else its result has there is missing here. */
export const setup = ((implementations: object) => ({
  createMachine: (config: object) => createMachine(config, implementations),
})) as unknown as typeof xstateSetup

/** The place of an actor that whoever drives the machine provides; without one it fails loudly, by name. */
export function notProvided<TOutput, TInput extends NonReducibleUnknown = NonReducibleUnknown>(
  name: string,
): PromiseActorLogic<TOutput, TInput> {
  return fromPromise<TOutput, TInput>(() => {
    throw new Error(`The actor ${name} was not provided`)
  })
}
