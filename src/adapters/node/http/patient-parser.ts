// Keeps V8 from optimising undici's parser of answers. The parser is WebAssembly, and most of it one function of 34 kB. V8 counts
// how far a function jumps, and in one so large an answer or two are far enough: its optimising compiler then takes 0.1 s of
// processor time and 35 MiB, so that an answer is read in 1 µs instead of 2. The budget of jumps is noted when a module is
// compiled; it is raised for that moment alone, and only where V8's own budget is known, to put it back.

import { setFlagsFromString } from 'node:v8'
import { ownV8, type ProcessFacts } from '../own-v8.ts'

const FLAG = '--wasm-tiering-budget'
/** V8 of Node 20, 22 and 24 → its own budget, in bytes jumped. */
const USUAL_BUDGETS: ReadonlyMap<string, number> = new Map([
  ['11.3', 1_800_000],
  ['12.4', 13_000_000],
  ['13.6', 13_000_000],
])
/** The largest there is: about a thousand answers. */
const PATIENT_BUDGET = 2 ** 31 - 1

let isCompiled = false

/** Runs `connect` at once, in which undici compiles its parser if it has not yet. Throws what that throws. */
export function withPatientParser(connect: () => void): void {
  const usual = isCompiled ? undefined : usualBudget(process)
  isCompiled = true
  if (usual === undefined) {
    connect()
    return
  }
  setFlagsFromString(`${FLAG}=${PATIENT_BUDGET}`)
  try {
    connect()
  } finally {
    setFlagsFromString(`${FLAG}=${usual}`)
  }
}

/** What V8's own budget is; undefined where it is not known, or was chosen by whoever started the process. */
export function usualBudget(facts: ProcessFacts): number | undefined {
  return USUAL_BUDGETS.get(ownV8(FLAG, facts) ?? '')
}
