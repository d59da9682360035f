// Promise actors that a test answers by hand, one by one, and whose AbortSignals it can look at.
import { fromPromise } from 'xstate'

import { rejectionOf, type Answer } from './session-events.ts'

/** One run of an actor, from its start on. */
export interface Run {
  readonly name: string
  readonly input: unknown
  readonly signal: AbortSignal
  readonly answer: (answer: Answer) => void
}

/** Starts an empty record of runs and a factory of actors that enter themselves into it. */
export function handActors() {
  const runs: Run[] = []
  const actor = <Output, Input>(name: string) =>
    fromPromise<Output, Input>(
      ({ input, signal }) =>
        new Promise<Output>((resolve, reject) => {
          const answer = (told: Answer): void => {
            if ('output' in told) resolve(told.output as Output)
            else reject(rejectionOf(told.error))
          }
          runs.push({ name, input, signal, answer })
        }),
    )
  const last = (name: string): Run => {
    const run = runs.findLast((candidate) => candidate.name === name)
    if (run === undefined) throw new Error(`${name} has not been started`)
    return run
  }
  return { runs, actor, last, names: () => runs.map(({ name }) => name) }
}

/** Lets every promise that is already settled be heard. Waits for no time to pass. */
export async function settled(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve))
}
