// Records that a journal is given in its tests.

import type { JournalRecord } from '../../core/journal/journal.ts'

/** The receipt of a part, different for each index. */
export function received(index: number): JournalRecord {
  const receipt = { acceptedEnd: 5 * (index + 1), etag: `"e${String(index)}"`, isVerified: index % 2 === 0 }
  return { type: 'part.received', at: 1000 + index, fileIndex: 0, partNumber: index + 1, receipt }
}

/** Every kind of record once, with names and values that are easily lost on the way. */
export function oneOfEach(key: string): JournalRecord[] {
  const file = { fileIndex: 0, name: '__proto__', sizeBytes: 2 ** 40 + 1, partCount: 2, partSizeBytes: 5 * 2 ** 20 }
  const files = [{ ...file, modifiedAtMs: 1_789_000_000_123, extra: { frameRate: 239.76 } }]
  const addressed = [{ fileIndex: 0, serverFileId: 'id-1', addresses: ['https://storage.example/a?x=1&y=%2F'] }]
  const params = { playerId: 'p "17"\n', nested: { list: [1, null, true, ''], nothing: null } }
  const error = { code: 'ERR_UPLOAD_NETWORK', message: 'Zeile 1\nZeile 2 \u2028 ⚾' } as const
  return [
    { type: 'session.begun', at: 1, version: 1, key, flow: 'video', params, files, locations: ['/a b/__proto__'] },
    { type: 'session.creating', at: 2 },
    { type: 'session.created', at: 3, sessionId: 7, files: addressed, hasPossibleOrphan: true },
    { type: 'files.registering', at: 4, fileIndexes: [0] },
    { type: 'files.registered', at: 5, files: addressed },
    { type: 'part.doubtful', at: 6, fileIndex: 0, partNumber: 1 },
    received(0),
    { type: 'parts.voided', at: 8, fileIndex: 0, partNumbers: [1, 2] },
    { type: 'file.confirming', at: 9, fileIndex: 0 },
    { type: 'file.confirmed', at: 10, fileIndex: 0 },
    { type: 'file.failed', at: 11, fileIndex: 0, error },
    { type: 'session.cancelling', at: 12 },
    { type: 'session.cancelled', at: 13, isServiceTold: false },
    { type: 'session.settled', at: 14, status: 'failed' },
  ]
}
