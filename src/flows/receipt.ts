// The receipt of a session: what was delivered, part by part, with what the storage answered and what we computed, so
// that someone can prove it later against the files. Made from the journal; it holds no address and no credential.

import { given } from '../core/given.ts'
import { isoTime } from '../core/time/iso-time.ts'
import { finalStatusOf, foldJournal } from '../core/journal/fold-journal.ts'
import type { FinalStatus, FlowName, JournalRecord } from '../core/journal/journal.ts'
import { isReceived, type LedgerFile } from '../core/journal/ledger.ts'
import { statusOf } from './upload-report.ts'

/** Version of the receipt's form. */
export const RECEIPT_VERSION = 1

export interface DeliveryReceipt {
  readonly format: 'mocap-uplink-receipt'
  readonly version: typeof RECEIPT_VERSION
  readonly key: string
  readonly flow: FlowName
  readonly sessionId: string | number | undefined
  /** `open` while the session can still go on. */
  readonly status: FinalStatus | 'open'
  /** ISO times, UTC, by this machine's clock. */
  readonly beganAt: string
  readonly lastRecordAt: string
  readonly files: readonly DeliveredFile[]
}

export interface DeliveredFile {
  readonly name: string
  readonly bytes: number
  readonly sessionId?: string | number
  readonly serverFileId?: string | number
  readonly status: 'confirmed' | 'failed' | 'unfinished'
  /** When the service accepted it. */
  readonly confirmedAt?: string
  /** Every part's MD5 was compared with the storage's and was equal. */
  readonly isVerified: boolean
  /** SHA-256 of the whole file, 64 hex digits; present where all of it was read again. */
  readonly sha256?: string
  readonly parts: readonly DeliveredPart[]
}

/** Bytes [start, end). Absent fields are not known: no receipt came, or nothing was hashed. */
export interface DeliveredPart {
  readonly partNumber: number
  readonly start: number
  readonly end: number
  readonly etag?: string
  readonly md5?: string
  readonly isVerified: boolean
  readonly receivedAt?: string
}

/** Throws as foldJournal does. */
export function makeReceipt(records: readonly JournalRecord[]): DeliveryReceipt {
  const folded = foldJournal(records)
  const times = timesOf(records)
  const { key, flow, sessionId, place, beganAt } = folded
  return {
    format: 'mocap-uplink-receipt',
    version: RECEIPT_VERSION,
    key,
    flow,
    sessionId,
    status: finalStatusOf(place) ?? 'open',
    beganAt: isoTime(beganAt),
    lastRecordAt: isoTime(records.at(-1)?.at ?? beganAt),
    files: folded.ledger.files.map((file) => deliveredFile(file, times)),
  }
}

interface Times {
  /** By file index and part number, the newest. */
  readonly received: ReadonlyMap<string, number>
  readonly confirmed: ReadonlyMap<number, number>
}

function timesOf(records: readonly JournalRecord[]): Times {
  const received = new Map<string, number>()
  const confirmed = new Map<number, number>()
  for (const record of records) {
    if (record.type === 'part.received') received.set(placeOf(record.fileIndex, record.partNumber), record.at)
    if (record.type === 'file.confirmed') confirmed.set(record.fileIndex, record.at)
  }
  return { received, confirmed }
}

function deliveredFile(file: LedgerFile, times: Times): DeliveredFile {
  const { fileIndex, name, sizeBytes: bytes } = file.plan
  const { sessionId, serverFileId } = file
  const confirmedAt = times.confirmed.get(fileIndex)
  const parts = file.parts.map((part): DeliveredPart => {
    const { partNumber, start, end, receipt } = part
    const receivedAt = times.received.get(placeOf(fileIndex, partNumber))
    if (receipt === undefined || !isReceived(part)) return { partNumber, start, end, isVerified: false }
    const { etag, md5, isVerified } = receipt
    return {
      partNumber,
      start,
      end,
      isVerified,
      ...given({ etag, md5 }),
      ...(receivedAt === undefined ? {} : { receivedAt: isoTime(receivedAt) }),
    }
  })
  return {
    name,
    bytes,
    parts,
    isVerified: parts.every((part) => part.isVerified),
    ...given({ sessionId, serverFileId, sha256: file.sha256 }),
    status: statusOf(file),
    ...(confirmedAt === undefined ? {} : { confirmedAt: isoTime(confirmedAt) }),
  }
}

function placeOf(fileIndex: number, partNumber: number): string {
  return `${fileIndex}:${partNumber}`
}
