// Records that a journal is given in its tests.

import type { JournalRecord } from '../../core/journal/journal.ts'

/** The receipt of a part, different for each index. */
export function received(index: number): JournalRecord {
  const receipt = { acceptedEnd: 5 * (index + 1), etag: `"e${String(index)}"`, isVerified: index % 2 === 0 }
  return { type: 'part.received', at: 1000 + index, fileIndex: 0, partNumber: index + 1, receipt }
}

/** The fields of a record of each type. */
type Fields = {
  readonly [T in JournalRecord['type']]: Omit<Extract<JournalRecord, { readonly type: T }>, 'type' | 'at'>
}

/** Every kind of record once, with all fields that it can have, and with names and values that are easily lost on the way. */
export function oneOfEach(key: string): JournalRecord[] {
  const file = { fileIndex: 0, name: '__proto__', sizeBytes: 2 ** 40 + 1, partCount: 2, partSizeBytes: 5 * 2 ** 20 }
  const planned = [{ ...file, modifiedAtMs: 1_789_000_000_123, extra: { frameRate: 239.76 } }]
  const addresses = ['https://storage.example/a?x=1&y=%2F']
  const addressed = [{ fileIndex: 0, serverFileId: 'id-1', addresses }]
  const params = { playerId: 'p "17"\n', nested: { list: [1, null, true, ''], nothing: null } }
  // The last sign takes four bytes, more than some databases keep.
  const message = 'Zeile 1\nZeile 2 \u2028 ⚾ 🎬'
  const error = {
    code: 'ERR_UPLOAD_NETWORK',
    message,
    file: '__proto__',
    partNumber: 2,
    attempt: 8,
    status: 503,
  } as const
  const receipt = { acceptedEnd: 5, etag: 'W/"e\\"', md5: '0'.repeat(32), isVerified: true }
  const standing = {
    place: 'created',
    host: 'service.example:443',
    sessionId: 7,
    leftSessionIds: [5, 'six'],
    isReplacing: true,
    hasPossibleOrphan: true,
    isServiceTold: false,
    keepsConfirmed: true,
  } as const
  const kept = {
    fileIndex: 0,
    state: 'failed',
    sessionId: 'six',
    generation: 1,
    serverFileId: 'id-1',
    addresses,
    addressedAtMs: 5,
    isRegistering: true,
    error,
    addressesWere: 'refused',
    mayBeConfirmed: true,
    confirmedAtMs: 10,
    sha256: 'f'.repeat(64),
    parts: [{ receipt, receivedAtMs: 7, isDoubtful: true }],
  } as const
  const fields: Fields = {
    'session.begun': {
      version: 1,
      key,
      flow: 'video',
      params,
      host: 'service.example:443',
      files: planned,
      locations: ['/a b/__proto__'],
    },
    'session.creating': {},
    'session.refused': {},
    'session.created': { sessionId: 7, host: 'service.example:8443', files: addressed, hasPossibleOrphan: true },
    'files.registering': { fileIndexes: [0], isRefused: true },
    'files.registered': { files: addressed },
    'part.doubtful': { fileIndex: 0, partNumber: 1, generation: 1 },
    'part.received': { fileIndex: 0, partNumber: 1, generation: 1, receipt },
    'parts.voided': { fileIndex: 0, partNumbers: [1, 2] },
    'file.confirming': { fileIndex: 0 },
    'file.confirmed': { fileIndex: 0, sha256: 'f'.repeat(64) },
    'file.failed': { fileIndex: 0, error },
    'session.replaced': { sessionId: 'eight', files: addressed, hasPossibleOrphan: true },
    'session.kept': { standing, files: [kept] },
    'session.left': { sessionId: 'eight' },
    'session.ended': { sessionId: 7 },
    'session.resumed': {},
    'session.cancelling': { keepsConfirmed: true },
    'session.cancelled': { isServiceTold: false },
    'session.settled': { status: 'failed' },
  }
  return Object.entries(fields).map(([type, own], index) => ({ type, at: index + 1, ...own }) as JournalRecord)
}
