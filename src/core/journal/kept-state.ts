// The state of a session as plain data and back: what a journal keeps when its history is shortened.

import { invariant, known } from '../errors.ts'
import type { KeptFile, KeptPart } from './journal.ts'
import { isReceived, type LedgerFile } from './ledger.ts'

/** Fields that follow from the first record of a session, or that are kept file by file and part by part. */
const DERIVED =
  /* @__PURE__ */ 'key flow params locations beganAt ledger plan parts receivedCount partNumber start end'.split(' ')

/** The fields that are kept of a session, a file or a part. */
export function keptOf<T extends object>(state: T): T {
  return Object.fromEntries(keptNames(state).map((name) => [name, state[name]])) as T
}

function keptNames<T extends object>(state: T): (keyof T)[] {
  return Object.keys(state).filter((name) => !DERIVED.includes(name)) as (keyof T)[]
}

export function keptFileOf(file: LedgerFile): KeptFile {
  return Object.assign(keptOf(file), { fileIndex: file.plan.fileIndex, parts: file.parts.map<KeptPart>(keptOf) })
}

/**
 * Restores a state from what was kept of it, field by field; other fields that somebody wrote into a journal are ignored. A
 * field that always has a value, but is missing or of another type, was kept by a program that means something else: it throws
 * rather than guesses.
 */
export function restore<T extends object>(state: T, kept: Partial<T>): void {
  for (const name of keptNames(state)) {
    invariant(state[name] === undefined || typeof state[name] === typeof kept[name], 'a field of its kind')
    state[name] = kept[name] as T[keyof T]
  }
}

/** The same for a file and its parts, except for the counts of its ledger. */
export function restoreFile(file: LedgerFile, kept: KeptFile): void {
  const { parts } = file
  invariant([0, parts.length].includes(kept.addresses.length), 'one address for each part')
  invariant(kept.parts.length === parts.length, 'all parts are kept')
  restore<Partial<KeptFile>>(file, kept)
  parts.forEach((part, index) => restore<KeptPart>(part, known(kept.parts[index])))
  file.receivedCount = parts.filter(isReceived).length
}
