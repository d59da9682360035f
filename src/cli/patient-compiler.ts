// Makes V8's optimising compiler wait longer in the command. Many uploads are over in seconds, and what it compiles in that time
// costs more than it saves: a fifth of the user-mode cycles for 2 GiB.

import { setFlagsFromString } from 'node:v8'
import { ownV8, type ProcessFacts } from '../adapters/node/own-v8.ts'

/** The flags of Node 20 and 22, by V8 version, at about five times V8's own values. The V8 of Node 24 gains nothing. */
const PATIENCE = [
  { v8: '11.3', flag: '--interrupt-budget', value: 400_000 },
  { v8: '12.4', flag: '--invocation-count-for-turbofan', value: 12_000 },
]

/** Sets the flag for this whole process. That is for a program to do, and not for a library. */
export function keepCompilerPatient(): void {
  const flag = patientFlag(process)
  if (flag !== undefined) setFlagsFromString(flag)
}

/** The flag for this V8. Undefined if V8 is to be left as it is. */
export function patientFlag(facts: ProcessFacts): string | undefined {
  const known = PATIENCE.find(({ v8, flag }) => ownV8(flag, facts) === v8)
  return known && `${known.flag}=${String(known.value)}`
}
