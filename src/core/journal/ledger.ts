// What is known of every byte range of a session: which part is received, which is doubtful, which file is where in its
// life. It changes only by journal records: see apply-record.

import { partRange } from '../plan.ts'
import { invariant, known, type ErrorSummary } from '../errors.ts'
import type { PlannedFile, Receipt } from '../ports/protocol.ts'

/**
 * `planned` → `ready` (it has addresses) → `received` (every receipt is there) → `confirming` → `confirmed`.
 * `failed` can be entered from all but `confirmed`. Where a protocol has no confirm, `received` goes to `confirmed`.
 */
export type FileState = 'planned' | 'ready' | 'received' | 'confirming' | 'confirmed' | 'failed'

export interface LedgerPart {
  readonly partNumber: number
  readonly start: number
  readonly end: number
  /** The newest receipt; it covers the part only when its `acceptedEnd` is `end`. */
  receipt: Receipt | undefined
  /** Wall time at which that came, ms since 1970. */
  receivedAtMs: number | undefined
  /** An attempt handed its whole body over and got no answer: it may still arrive, whatever was received since. */
  isDoubtful: boolean
}

export interface LedgerFile {
  readonly plan: PlannedFile
  state: FileState
  /** The session that holds the file; not always the newest one, see `session.replaced`. */
  sessionId: string | number | undefined
  /** How often the file went to a new session. A receipt of an earlier generation proves nothing. */
  generation: number
  serverFileId: string | number | undefined
  /** One per part, a secret each; empty while the file is `planned`. */
  addresses: readonly string[]
  /** Wall time at which the addresses came, ms since 1970; 0 while there are none. */
  addressedAtMs: number
  /** Its registration was asked for without a result: the far end may know its name already. */
  isRegistering: boolean
  readonly parts: readonly LedgerPart[]
  receivedCount: number
  error: ErrorSummary | undefined
  /** In an earlier life the storage refused its addresses: without a doubt they are dead. Until there are new ones, or it is sent again. */
  wereAddressesRefused: boolean
  /** In an earlier life its confirmation was refused: no receipt is believed. Until then, too. */
  wasConfirmRefused: boolean
  /** It is confirmed, or its confirmation was asked for and not refused: an answer that was lost may have been a yes. */
  mayBeConfirmed: boolean
  /** Wall time at which it was confirmed, ms since 1970. */
  confirmedAtMs: number | undefined
  /** SHA-256 of the whole file, where it was read again for that. */
  sha256: string | undefined
}

export interface Ledger {
  readonly files: readonly LedgerFile[]
  /** Files in these states: looking at all of them at every progress event would cost more than sending some. */
  confirmedCount: number
  failedCount: number
}

export function createLedger(plans: readonly PlannedFile[]): Ledger {
  return { files: plans.map(ledgerFile), confirmedCount: 0, failedCount: 0 }
}

/** The file at an index; an index outside the plan is a broken invariant. */
export function fileAt(ledger: Ledger, fileIndex: number): LedgerFile {
  return known(ledger.files[fileIndex])
}

/** The part of a number, from 1. */
export function partAt(file: LedgerFile, partNumber: number): LedgerPart {
  const part = file.parts[partNumber - 1]
  invariant(part !== undefined, `no part ${partNumber}`)
  return part
}

/** Whether every byte of the part is proven to be stored. */
export function isReceived(part: LedgerPart): boolean {
  return part.receipt?.acceptedEnd === part.end
}

export function isSettled(file: LedgerFile): boolean {
  return file.state === 'confirmed' || file.state === 'failed'
}

/** Confirmed and failed files; a session is settled when they add up to all of them. */
export function countSettled({ confirmedCount, failedCount }: Ledger): { confirmedCount: number; failedCount: number } {
  return { confirmedCount, failedCount }
}

function ledgerFile(plan: PlannedFile): LedgerFile {
  const parts: LedgerPart[] = []
  for (let partNumber = 1; partNumber <= plan.partCount; partNumber += 1) {
    const { start, end } = partRange(plan, plan.sizeBytes, partNumber)
    parts.push({ partNumber, start, end, receipt: undefined, receivedAtMs: undefined, isDoubtful: false })
  }
  // Written out, not put together by spreading: all files then have one shape, and every look at one of them costs less.
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
    wereAddressesRefused: false,
    wasConfirmRefused: false,
    mayBeConfirmed: false,
    confirmedAtMs: undefined,
    sha256: undefined,
  }
  // Not begun with a small integer: V8 would make all files over, one by one, when the first of them gets a time.
  file.addressedAtMs = 0
  return file
}
