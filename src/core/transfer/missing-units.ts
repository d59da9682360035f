// What of a file is still to be sent.

import { isReceived, partAt, type LedgerFile } from '../journal/ledger.ts'
import type { Unit } from '../ports.ts'

/** A unit for each part that lacks a receipt of all its bytes, in order. */
export function missingUnits(file: LedgerFile): Unit[] {
  return file.parts.filter((part) => !isReceived(part)).map((part) => unitOf(file, part.partNumber))
}

/** What of a part is still to be sent: all of it, or what follows on the bytes that were accepted. */
export function unitOf(file: LedgerFile, partNumber: number): Unit {
  const { start, end, receipt } = partAt(file, partNumber)
  return { fileIndex: file.plan.fileIndex, partNumber, start: receipt?.acceptedEnd ?? start, end }
}
