// How a ledger changes: only by journal records, so that the live ledger and one folded from a journal are the same.

import { invariant } from '../errors.ts'
import type { JournalRecord } from './journal.ts'
import { restoreFile } from './kept-state.ts'
import { fileAt, isReceived, partAt, type FileState, type Ledger, type LedgerFile, type LedgerPart } from './ledger.ts'
import type { AddressedFile, Receipt } from '../ports.ts'

/** Applies one record. Records that say nothing about files or parts change nothing here. */
export function applyRecord(ledger: Ledger, record: JournalRecord): void {
  switch (record.type) {
    case 'session.created':
      record.files?.forEach((addressed) => {
        takeAddresses(ledger, addressed, record.at).sessionId = record.sessionId
      })
      break
    case 'session.replaced':
      for (const addressed of record.files) moveFile(ledger, addressed, record)
      break
    case 'session.resumed':
      for (const file of ledger.files) {
        file.addressesWere =
          file.error?.code === 'ERR_UPLOAD_ADDRESS_REFUSED' ? 'refused' : (file.addressesWere ?? 'usable')
        if (file.state === 'failed') takeUpAgain(ledger, file)
        if (file.state === 'ready') doubtMissing(file)
      }
      break
    case 'files.registering':
      for (const fileIndex of record.fileIndexes) fileAt(ledger, fileIndex).isRegistering = !record.isRefused
      break
    case 'files.registered':
      for (const addressed of record.files) takeAddresses(ledger, addressed, record.at).isRegistering = false
      break
    case 'session.kept':
      invariant(record.files.length === ledger.files.length, 'all files are kept')
      for (const kept of record.files) {
        const file = fileAt(ledger, kept.fileIndex)
        enter(ledger, file, kept.state)
        restoreFile(file, kept)
      }
      break
    case 'part.doubtful': {
      const file = fileAt(ledger, record.fileIndex)
      if ((record.generation ?? 0) === file.generation) partAt(file, record.partNumber).isDoubtful = true
      break
    }
    case 'part.received': {
      const file = fileAt(ledger, record.fileIndex)
      if ((record.generation ?? 0) === file.generation) takeReceipt(file, record)
      break
    }
    case 'parts.voided':
      voidParts(fileAt(ledger, record.fileIndex), record.partNumbers)
      break
    case 'file.confirming':
      enter(ledger, fileAt(ledger, record.fileIndex), 'confirming').mayBeConfirmed = true
      break
    case 'file.confirmed': {
      const file = fileAt(ledger, record.fileIndex)
      enter(ledger, file, 'confirmed').mayBeConfirmed = true
      file.confirmedAtMs = record.at
      file.sha256 = record.sha256
      // What still arrives can no longer make a difference.
      for (const part of file.parts) part.isDoubtful = false
      break
    }
    case 'file.failed': {
      const file = fileAt(ledger, record.fileIndex)
      invariant(file.state !== 'confirmed', 'a confirmed file cannot fail')
      enter(ledger, file, 'failed')
      file.error = record.error
      if (record.error.code === 'ERR_UPLOAD_CONFIRM_REFUSED') file.mayBeConfirmed = false
      break
    }
    default:
  }
}

function takeAddresses(ledger: Ledger, addressed: AddressedFile, atMs: number): LedgerFile {
  const file = fileAt(ledger, addressed.fileIndex)
  invariant(addressed.addresses.length === file.parts.length, 'one address for each part')
  file.addresses = addressed.addresses
  file.addressedAtMs = atMs
  file.addressesWere = undefined
  file.serverFileId = addressed.serverFileId
  if (file.state === 'planned') file.state = 'ready'
  return file
}

function moveFile(
  ledger: Ledger,
  addressed: AddressedFile,
  { sessionId, at }: { readonly sessionId: string | number; readonly at: number },
): void {
  const file = fileAt(ledger, addressed.fileIndex)
  // Its last receipt, or its failure, came while the new session was being made: it stays where its receipts are.
  if (file.state !== 'ready') return
  for (const part of file.parts) {
    forgetReceipt(part)
    part.isDoubtful = false
  }
  file.receivedCount = 0
  file.generation += 1
  file.sessionId = sessionId
  takeAddresses(ledger, addressed, at)
}

/** Enters a state. Every way into and out of the states that are counted goes through here. */
function enter(ledger: Ledger, file: LedgerFile, state: FileState): LedgerFile {
  if (file.state === 'confirmed') ledger.confirmedCount -= 1
  if (file.state === 'failed') ledger.failedCount -= 1
  file.state = state
  if (state === 'confirmed') ledger.confirmedCount += 1
  if (state === 'failed') ledger.failedCount += 1
  return file
}

function takeUpAgain(ledger: Ledger, file: LedgerFile): void {
  file.error = undefined
  if (file.addresses.length === 0) enter(ledger, file, 'planned')
  else enter(ledger, file, file.mayBeConfirmed ? 'confirming' : stateOfParts(file))
}

function stateOfParts({ receivedCount, parts }: LedgerFile): FileState {
  return receivedCount === parts.length ? 'received' : 'ready'
}

/** The earlier run may have died with a part on its way: nobody recorded that, and it may still arrive. */
function doubtMissing(file: LedgerFile): void {
  for (const part of file.parts) if (!isReceived(part)) part.isDoubtful = true
}

function takeReceipt(
  file: LedgerFile,
  { partNumber, receipt, at }: { readonly partNumber: number; readonly receipt: Receipt; readonly at: number },
): void {
  const part = partAt(file, partNumber)
  const wasReceived = isReceived(part)
  part.receipt = receipt
  part.receivedAtMs = at
  file.receivedCount += Number(isReceived(part)) - Number(wasReceived)
  if (file.state === 'ready' || file.state === 'received') file.state = stateOfParts(file)
}

function forgetReceipt(part: LedgerPart): void {
  part.receipt = undefined
  part.receivedAtMs = undefined
}

/** Voids the receipts of these parts. Doubt stays: what has not arrived by now may still do so. */
function voidParts(file: LedgerFile, partNumbers: readonly number[]): void {
  file.mayBeConfirmed = false
  for (const partNumber of partNumbers) {
    const part = partAt(file, partNumber)
    if (isReceived(part)) file.receivedCount -= 1
    forgetReceipt(part)
  }
  // If nothing was voided, there is nothing to send again, and the file must not fall back to waiting for it.
  const isIncomplete = file.receivedCount < file.parts.length
  if (isIncomplete && (file.state === 'received' || file.state === 'confirming')) file.state = 'ready'
}
