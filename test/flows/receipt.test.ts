// What a receipt says was delivered: nothing that is not there whole.

import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'

import { md5Hasher } from '../../src/adapters/node/hash/md5-hasher.ts'
import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { JOURNAL_VERSION, type JournalRecord } from '../../src/core/journal/journal.ts'
import { makeReceipt } from '../../src/flows/receipt.ts'
import { createFarEnd, goodService, VIDEO } from '../security/far-end.ts'

const AT = Date.UTC(2026, 10, 20, 13)
const TIME = '2026-11-20T13:00:00.000Z'
const MD5 = '9e107d9d372bb6826bd81d3542a419d6'
const begun: JournalRecord = {
  ...{ at: AT, type: 'session.begun', version: JOURNAL_VERSION, key: 'k', flow: 'custom', params: {}, locations: [] },
  files: ['a', 'b', 'c'].map((name, fileIndex) => {
    return { fileIndex, name, sizeBytes: 6, partSizeBytes: 3, partCount: 2 }
  }),
}
const received = (fileIndex: number, partNumber: number, acceptedEnd: number, isVerified = true): JournalRecord => ({
  ...{ at: AT, type: 'part.received', fileIndex, partNumber },
  receipt: { acceptedEnd, etag: `"${MD5}"`, md5: MD5, isVerified },
})
const created: JournalRecord = {
  ...{ at: AT, type: 'session.created', sessionId: 's' },
  files: [0, 1, 2].map((fileIndex) => {
    return {
      fileIndex,
      serverFileId: fileIndex + 10,
      addresses: [1, 2].map((part) => `https://s.test/${fileIndex}/${part}?sig=x`),
    }
  }),
}

it('names each file with its end, and of each part what the storage answered to all of it', () => {
  const failed = {
    at: AT,
    type: 'file.failed',
    fileIndex: 1,
    error: { code: 'ERR_UPLOAD_SOURCE_READ', message: 'gone' },
  } as const
  const records = [
    ...[begun, created, received(0, 1, 3), received(0, 2, 6), received(1, 1, 3, false), failed],
    // Two of the three bytes of the second part were taken.
    ...[received(2, 1, 3), received(2, 2, 5)],
    { at: AT, type: 'file.confirmed', fileIndex: 0, sha256: 'f'.repeat(64) } as const,
  ]
  const whole = { etag: `"${MD5}"`, md5: MD5, receivedAt: TIME }
  const part = (partNumber: number, own: object = { isVerified: false }) => {
    return { partNumber, start: partNumber * 3 - 3, end: partNumber * 3, ...own }
  }
  const file = (name: string, serverFileId: number, own: object) => ({
    name,
    bytes: 6,
    sessionId: 's',
    serverFileId,
    ...own,
  })
  const verified = { ...whole, isVerified: true }

  expect(makeReceipt(records)).toEqual({
    ...{ format: 'mocap-uplink-receipt', version: 1, key: 'k', flow: 'custom', sessionId: 's', status: 'open' },
    ...{ beganAt: TIME, lastRecordAt: TIME },
    files: [
      file('a', 10, {
        ...{ status: 'confirmed', isVerified: true, confirmedAt: TIME, sha256: 'f'.repeat(64) },
        parts: [part(1, verified), part(2, verified)],
      }),
      file('b', 11, {
        ...{ status: 'failed', isVerified: false },
        parts: [part(1, { ...whole, isVerified: false }), part(2)],
      }),
      file('c', 12, { status: 'unfinished', isVerified: false, parts: [part(1, verified), part(2)] }),
    ],
  })
})

it.each(['confirmed', 'partial', 'failed'] as const)('says how the session ended: %s', (status) => {
  expect(makeReceipt([begun, created, { at: AT, type: 'session.settled', status }]).status).toBe(status)
})

it('says nothing of a session that there is not yet', () => {
  expect(makeReceipt([begun])).toMatchObject({
    status: 'open',
    sessionId: undefined,
    files: [{ parts: [{}, {}] }, {}, {}],
  })
})

it('and a report call no file verified of which the storage proved only one part', async () => {
  const { uplink, settled } = createFarEnd({
    hasher: md5Hasher(),
    service: goodService((_, partNumber) => `https://s.test/${partNumber}`),
    // The digest of its first part, and what says nothing of the other.
    storage({ url }, body) {
      const etag = url.endsWith('/1') ? createHash('md5').update(body).digest('hex') : `${MD5}-2`
      return { status: 200, headers: { etag: `"${etag}"` } }
    },
  })
  const files = [{ source: bytesSource('a.mp4', new Uint8Array(20)) }]
  const unitLimits = { minBytes: 1, maxBytes: 1_000, maxCount: 100, multipleOfBytes: 1 }

  const report = await settled(uplink.uploadVideos({ ...VIDEO, files, partSizeBytes: 10, unitLimits }).done())

  expect(report).toMatchObject({ status: 'confirmed', files: [{ status: 'confirmed', verified: false }] })
  expect(await uplink.receipt(report.key)).toMatchObject({
    files: [{ status: 'confirmed', isVerified: false, parts: [{ isVerified: true }, { isVerified: false }] }],
  })
})

it.each([
  ['a video that was given up with its session, confirmed or not', 'video', {}, 'unfinished'],
  ['a video that stayed when the rest was given up', 'video', { keepsConfirmed: true }, 'confirmed'],
  ['a capture, which no cancel takes away', 'capture', {}, 'confirmed'],
] as const)('says what holds of %s', (_what, flow, how, status) => {
  const records: JournalRecord[] = [
    ...[{ ...begun, flow } as JournalRecord, created, received(0, 1, 3), received(0, 2, 6)],
    { at: AT, type: 'file.confirmed', fileIndex: 0 },
    { at: AT, type: 'session.cancelling', ...how },
  ]
  expect(makeReceipt(records).files[0]?.status).toBe(status)
  records.push(
    { at: AT, type: 'session.cancelled', isServiceTold: true },
    { at: AT, type: 'session.settled', status: 'cancelled' },
  )
  expect(makeReceipt(records).files[0]?.status).toBe(status)
})
