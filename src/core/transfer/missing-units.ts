// What is still to be sent of a file.

import { isReceived, partAt, type LedgerFile } from '../journal/ledger.ts'
import type { Unit } from '../ports.ts'

/** A unit for each part without a receipt for all of its bytes, in order. */
export function missingUnits(file: LedgerFile): Unit[] {
  return file.parts.filter((part) => !isReceived(part)).map((part) => unitOf(file, part.partNumber))
}

/** What is still to be sent of a part: all of it, or what follows the bytes that were accepted. */
export function unitOf(file: LedgerFile, partNumber: number): Unit {
  const { start, end, receipt } = partAt(file, partNumber)
  return { fileIndex: file.plan.fileIndex, partNumber, start: receipt?.acceptedEnd ?? start, end }
}
