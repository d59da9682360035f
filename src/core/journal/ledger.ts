// What is known of every byte range of a session: which parts are received, which are doubtful, and how far each file is in its
// life. It changes only by journal records: see apply-record.

import { partRange } from '../plan.ts'
import { invariant, known, type ErrorSummary } from '../errors.ts'
import type { PlannedFile, Receipt } from '../ports/protocol.ts'

/**
 * `planned` → `ready` (it has addresses) → `received` (every receipt is there) → `confirming` → `confirmed`.
 * `failed` can be entered from all but `confirmed`. Where a protocol has no confirm, `received` goes to `confirmed`.
 */
export type FileState = 'planned' | 'ready' | 'received' | 'confirming' | 'confirmed' | 'failed'

/** What is known of a part of a file. */
export interface LedgerPart {
  readonly partNumber: number
  readonly start: number
  readonly end: number
  /** The newest receipt; it covers the part only when its `acceptedEnd` is `end`. */
  receipt: Receipt | undefined
  /** Wall time at which the receipt came, ms since 1970. */
  receivedAtMs: number | undefined
  /** An attempt handed its whole body over and got no answer: it may still arrive, whatever was received since. */
  isDoubtful: boolean
}

/** What is known of a file and its parts. */
export interface LedgerFile {
  readonly plan: PlannedFile
  state: FileState
  /** The session that holds the file; not always the newest one, see `session.replaced`. */
  sessionId: string | number | undefined
  /** How often the file was moved to a new session. A receipt of an earlier generation proves nothing. */
  generation: number
  serverFileId: string | number | undefined
  /** One per part, each a secret; empty while the file is `planned`. */
  addresses: readonly string[]
  /** Wall time at which the addresses came, ms since 1970; 0 while there are none. */
  addressedAtMs: number
  /** Its registration was asked for and has no result: the far end may know its name already. */
  isRegistering: boolean
  readonly parts: readonly LedgerPart[]
  receivedCount: number
  error: ErrorSummary | undefined
  /**
   * Its addresses came in an earlier run, which found them refused by the storage or did not. What was sent to them may have been
   * swept away since. Undefined: they came in this run.
   */
  addressesWere: 'refused' | 'usable' | undefined
  /** It is confirmed, or its confirmation was asked for and not refused: a lost answer may have been a yes. */
  mayBeConfirmed: boolean
  /** Wall time at which it was confirmed, ms since 1970. */
  confirmedAtMs: number | undefined
  /** SHA-256 of the whole file, where it was read again to compute it. */
  sha256: string | undefined
}

/** What is known of all files of a session. It changes only by records. */
export interface Ledger {
  readonly files: readonly LedgerFile[]
  /** Number of files in these states: looking at all files at every progress event would cost more than sending some. */
  confirmedCount: number
  failedCount: number
}

/** Makes the ledger of a session of which nothing is recorded yet. `plans`: by file index. */
export function createLedger(plans: readonly PlannedFile[]): Ledger {
  return { files: plans.map(ledgerFile), confirmedCount: 0, failedCount: 0 }
}

/** The file at an index. An index outside the plan is a broken invariant. */
export function fileAt(ledger: Ledger, fileIndex: number): LedgerFile {
  return known(ledger.files[fileIndex])
}

/** The part with a number, from 1. */
export function partAt(file: LedgerFile, partNumber: number): LedgerPart {
  const part = file.parts[partNumber - 1]
  invariant(part !== undefined, `no part ${partNumber}`)
  return part
}

/** Whether every byte of the part is proven to be stored. */
export function isReceived(part: LedgerPart): boolean {
  return part.receipt?.acceptedEnd === part.end
}

/** How many bytes of these files have a receipt. */
export function receivedBytesOf(files: readonly LedgerFile[]): number {
  return files
    .flatMap((file) => file.parts)
    .reduce((sum, part) => sum + (isReceived(part) ? part.end - part.start : 0), 0)
}

export function isSettled(file: LedgerFile): boolean {
  return file.state === 'confirmed' || file.state === 'failed'
}

function ledgerFile(plan: PlannedFile): LedgerFile {
  const parts = Array.from({ length: plan.partCount }, (_, index): LedgerPart => {
    const { start, end } = partRange(plan, plan.sizeBytes, index + 1)
    return { partNumber: index + 1, start, end, receipt: undefined, receivedAtMs: undefined, isDoubtful: false }
  })
  // Written out, not built by spreading: all files then have one shape, and every look at one of them costs less.
  const file: LedgerFile = {
    plan,
    state: 'planned',
    sessionId: undefined,
    generation: 0,
    serverFileId: undefined,
    addresses: [],
    addressedAtMs: NaN,
    isRegistering: false,
    parts,
    receivedCount: 0,
    error: undefined,
    addressesWere: undefined,
    mayBeConfirmed: false,
    confirmedAtMs: undefined,
    sha256: undefined,
  }
  // Set here, not in the literal: V8 would take a 0 there for a small integer, and convert every file once the first of them
  // gets a time.
  file.addressedAtMs = 0
  return file
}
