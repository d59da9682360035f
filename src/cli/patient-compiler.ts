// Makes V8's optimising compiler wait longer in the first second of the command. Many uploads are over by then, and what it
// compiles in that time costs more than it saves. Of a longer one, thousands of small files are the costly kind, and those
// need its code.

import { setFlagsFromString } from 'node:v8'
import { ownV8, type ProcessFacts } from '../adapters/node/own-v8.ts'

/** The flags of Node 20 and 22, by V8 version: about five times V8's own value, and that value. The V8 of Node 24 gains nothing. */
const PATIENCE = [
  { v8: '11.3', flag: '--interrupt-budget', patient: 400_000, own: 67_584 },
  { v8: '12.4', flag: '--invocation-count-for-turbofan', patient: 12_000, own: 3_000 },
]
const PATIENT_FOR_MS = 1_000

/** Sets the flag for this whole process. That is for a program to do, and not for a library. */
export function keepCompilerPatient(): void {
  const flags = patientFlags(process)
  if (flags === undefined) return
  setFlagsFromString(flags.patient)
  setTimeout(() => {
    setFlagsFromString(flags.own)
  }, PATIENT_FOR_MS).unref()
}

/** The flag for this V8 at the start, and as V8 itself has it. Undefined if V8 is to be left as it is. */
export function patientFlags(facts: ProcessFacts): { readonly patient: string; readonly own: string } | undefined {
  const known = PATIENCE.find(({ v8, flag }) => ownV8(flag, facts) === v8)
  return known && { patient: `${known.flag}=${String(known.patient)}`, own: `${known.flag}=${String(known.own)}` }
}
