// The receipt of a session: what was delivered, part by part, with what the storage answered and what we computed. It lets someone
// check the delivery against the files later. It is made from the journal and holds no address and no credential.

import { given } from '../core/given.ts'
import { finalStatusOf, foldJournal, givesUpConfirmed } from '../core/journal/fold-journal.ts'
import type { FinalStatus, FlowName, JournalRecord } from '../core/journal/journal.ts'
import { isReceived, type LedgerFile } from '../core/journal/ledger.ts'
import { statusOf } from './upload-report.ts'

/** Names the receipt's format, which its `version` follows. */
export const RECEIPT_FORMAT = 'mocap-uplink-receipt'
/** Version of the receipt's format. */
export const RECEIPT_VERSION = 1

/** What a session has delivered so far, file by file and part by part, without addresses. Plain JSON. */
export interface DeliveryReceipt {
  readonly format: typeof RECEIPT_FORMAT
  readonly version: typeof RECEIPT_VERSION
  readonly key: string
  readonly flow: FlowName
  readonly sessionId: string | number | undefined
  /** `open` while the session can still continue. */
  readonly status: FinalStatus | 'open'
  /** Times are ISO 8601 in UTC, by this machine's clock. */
  readonly beganAt: string
  readonly lastRecordAt: string
  readonly files: readonly DeliveredFile[]
}

export interface DeliveredFile {
  readonly name: string
  readonly bytes: number
  readonly sessionId?: string | number
  readonly serverFileId?: string | number
  /** Not `confirmed` if it was given up with its session after that. */
  readonly status: 'confirmed' | 'failed' | 'unfinished'
  /** When the service accepted the file. */
  readonly confirmedAt?: string
  /** Whether every part's MD5 was compared with the storage's and was equal. */
  readonly isVerified: boolean
  /** SHA-256 of the whole file, 64 hex digits. Present where the whole file was read again. */
  readonly sha256?: string
  readonly parts: readonly DeliveredPart[]
}

/** The bytes [start, end) of a file. A field that is absent is unknown: no receipt came, or nothing was hashed. */
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
  const { key, flow, sessionId, place, beganAt } = folded
  const areGivenUp = givesUpConfirmed(folded)
  return {
    format: RECEIPT_FORMAT,
    version: RECEIPT_VERSION,
    key,
    flow,
    sessionId,
    status: finalStatusOf(place) ?? 'open',
    beganAt: isoTime(beganAt),
    lastRecordAt: isoTime(records.at(-1)?.at ?? beganAt),
    files: folded.ledger.files.map((file) => deliveredFile(file, areGivenUp)),
  }
}

function deliveredFile(file: LedgerFile, isGivenUp: boolean): DeliveredFile {
  const { name, sizeBytes: bytes } = file.plan
  const { sessionId, serverFileId, confirmedAtMs } = file
  const parts = file.parts.map((part): DeliveredPart => {
    const { partNumber, start, end, receipt, receivedAtMs } = part
    if (!receipt || !isReceived(part)) return { partNumber, start, end, isVerified: false }
    const { etag, md5, isVerified } = receipt
    return {
      partNumber,
      start,
      end,
      isVerified,
      ...given({ etag, md5, receivedAt: timeIfKnown(receivedAtMs) }),
    }
  })
  return {
    name,
    bytes,
    parts,
    isVerified: parts.every((part) => part.isVerified),
    status: isGivenUp && statusOf(file) === 'confirmed' ? 'unfinished' : statusOf(file),
    ...given({ sessionId, serverFileId, sha256: file.sha256, confirmedAt: timeIfKnown(confirmedAtMs) }),
  }
}

/** The latest time that a Date can hold, ms since 1970. */
const LAST_MS = 8.64e15

function timeIfKnown(wallMs: number | undefined): string | undefined {
  return wallMs === undefined ? undefined : isoTime(wallMs)
}

/** ISO 8601 in UTC with milliseconds. Takes any number, because a journal may have been edited by hand. */
function isoTime(wallMs: number): string {
  // eslint-disable-next-line no-restricted-globals -- Formats a given time; does not read the clock.
  return new Date(Math.max(0, Math.min(wallMs, LAST_MS)) || 0).toISOString()
}
