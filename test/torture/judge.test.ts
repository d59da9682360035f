// The judge of a torture finds what it is there for; a check that cannot fail would prove nothing.

import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'

import { foldJournal, type FoldedJournal } from '../../src/core/journal/fold-journal.ts'
import { compareStored, createJudge } from './judge.ts'
import type { PutSeen, Witness } from './witness.ts'

/** A session of one file of two parts of ten bytes, with these receipts. */
function journalWith(parts: readonly number[], isConfirmed = false): FoldedJournal {
  const plan = { fileIndex: 0, name: 'a.mp4', sizeBytes: 20, partCount: 2, partSizeBytes: 10 }
  const addresses = ['https://store.example/a?partNumber=1&s=1', 'https://store.example/a?partNumber=2&s=2']
  return foldJournal([
    { type: 'session.begun', at: 1, version: 1, key: 'k', flow: 'video', params: {}, files: [plan], locations: ['/a'] },
    { type: 'session.created', at: 2, sessionId: 's', files: [{ fileIndex: 0, serverFileId: 'f-7', addresses }] },
    ...parts.map((partNumber) => ({
      ...({ type: 'part.received', at: 3, fileIndex: 0, partNumber } as const),
      receipt: { acceptedEnd: partNumber * 10, isVerified: true },
    })),
    ...(isConfirmed ? [{ type: 'file.confirmed', at: 4, fileIndex: 0 } as const] : []),
  ])
}

const put = (life: number, part: number, answeredAtMs?: number): PutSeen => ({
  ...{ life, unit: `/a ${part}`, forwardedBytes: 10 },
  answer: answeredAtMs === undefined ? undefined : { status: 200, atMs: answeredAtMs },
})

function judgeOf(seen: Partial<Witness>) {
  return createJudge({ url: '', puts: [], confirms: [], begin: async () => {}, close: async () => {}, ...seen })
}

it('takes what was in flight at a kill for what may be sent again, and no more', () => {
  const judge = judgeOf({ puts: [put(0, 1, 100), put(0, 2), put(1, 2, 900), put(1, 2, 950)] })

  judge.lifeOver(0, 500, [journalWith([1])])
  judge.lifeOver(1, undefined, [journalWith([1, 2], true)])

  expect(judge.inFlightBytes()).toBe(10)
  expect(judge.sent(20)).toEqual({ sentBytes: 40, twiceBytes: 20 })
  expect(judge.breaches).toEqual(['20 bytes were sent twice; at most 11 may be'])
})

it('finds a receipt that was lost, at a kill and without one', () => {
  const judge = judgeOf({ puts: [put(0, 1, 100), put(1, 2, 2_000)] })

  judge.lifeOver(0, 1_500, [journalWith([])])
  judge.lifeOver(1, undefined, [journalWith([1])])

  expect(judge.breaches).toEqual(['life 0 lost the receipt of /a 1', 'life 1 lost the receipt of /a 2'])
})

it('finds a confirm that was repeated after it was journalled, and allows one that was not', () => {
  const judge = judgeOf({ confirms: [0, 1, 2].map((life) => ({ life, fileId: 'f-7' })) })

  judge.lifeOver(0, 100, [journalWith([1, 2])])
  judge.lifeOver(1, 200, [journalWith([1, 2], true)])
  judge.lifeOver(2, undefined, [journalWith([1, 2], true)])

  expect(judge.breaches).toEqual(['life 2 confirmed file f-7 again'])
})

it('finds wrong bytes, and objects that are missing or too many', async () => {
  const server = createServer((incoming, outgoing) => {
    const url = `http://${incoming.headers.host ?? ''}/bytes`
    const items = ['a.mp4', 'a.mp4', 'b.mp4'].map((file_name) => ({ kind: 'video', file_name, url }))
    outgoing.end(incoming.url === '/bytes' ? 'right' : JSON.stringify({ items, next: null }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const source = { kind: 'video', path: '', sizeBytes: 5 } as const

  const found = await compareStored(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    'key',
    [
      { ...source, name: 'a.mp4', sha256: sha256('right') },
      { ...source, name: 'b.mp4', sha256: sha256('wrong') },
      { ...source, name: 'c.mp4', sha256: sha256('right') },
    ],
    1,
  )

  expect(found).toEqual({
    objects: 3,
    breaches: [
      'video/b.mp4 is stored with wrong bytes',
      'video/a.mp4 is stored 2 times instead of 1',
      'video/c.mp4 is stored 0 times instead of 1',
    ],
  })
})
