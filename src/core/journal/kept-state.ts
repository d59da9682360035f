// The state of a session as plain data and back: what a journal keeps of a history that is shortened.

import { invariant, known } from '../errors.ts'
import type { KeptFile, KeptPart } from './journal.ts'
import { isReceived, type LedgerFile } from './ledger.ts'

/** What follows from the first record of a session, or is kept file by file and part by part. */
const DERIVED =
  /* @__PURE__ */ 'key flow params locations beganAt ledger plan parts receivedCount partNumber start end'.split(' ')

/** The fields that are kept of a session, of a file or of a part. */
export function keptOf<T extends object>(state: T): T {
  return Object.fromEntries(Object.entries(state).filter(([name]) => !DERIVED.includes(name))) as T
}

export function keptFileOf(file: LedgerFile): KeptFile {
  const parts = file.parts.map((part): KeptPart => keptOf(part))
  return Object.assign(keptOf(file), { fileIndex: file.plan.fileIndex, parts })
}

/**
 * Makes a state what was kept of it, field by field: what a hand has written into a journal beside them is not taken. One that
 * always has a value and is missing, or is of another kind, was kept by a program that means something else: never guessed.
 */
export function restore<T extends object>(state: T, kept: Partial<T>): void {
  for (const name of Object.keys(keptOf(state)) as (keyof T)[]) {
    invariant(state[name] === undefined || typeof state[name] === typeof kept[name], 'a field of its kind')
    state[name] = kept[name] as T[keyof T]
  }
}

/** The same for a file and its parts, but for the counts of its ledger. */
export function restoreFile(file: LedgerFile, kept: KeptFile): void {
  const { parts } = file
  invariant([0, parts.length].includes(kept.addresses.length), 'one address for each part')
  invariant(kept.parts.length === parts.length, 'all parts are kept')
  restore<Partial<KeptFile>>(file, kept)
  parts.forEach((part, index) => restore<KeptPart>(part, known(kept.parts[index])))
  file.receivedCount = parts.filter(isReceived).length
}
