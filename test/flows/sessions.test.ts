// A long list of sessions: all of them, in their order, and never more of their journals read at once than a system has handles.
// And one of them: what is refused before anything of it is touched, and what is on record before it goes on.

import { describe, expect, it } from 'vitest'

import { md5Hasher } from '../../src/adapters/node/hash/md5-hasher.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { JOURNAL_VERSION, type JournalRecord } from '../../src/core/journal/journal.ts'
import { listSessions } from '../../src/flows/session-list.ts'
import { createUplink } from '../../src/index.ts'
import { createScriptedTransport } from '../helpers/scripted-transport.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'
import { watchedSource } from '../simulation/watched-source.ts'

it('lists a thousand sessions without reading them all at once', async () => {
  const journal = memoryJournal()
  const keys = Array.from({ length: 1_000 }, (_, index) => `video-${String(index)}`)
  const begun = { version: JOURNAL_VERSION, flow: 'video', params: {}, files: [], locations: [] } as const
  for (const key of keys) {
    const session = await journal.open(key)
    await session.append([{ type: 'session.begun', at: 1, key, ...begun }])
    await session.close()
  }
  let [reading, most] = [0, 0]
  const read: typeof journal.read = async (key) => {
    reading += 1
    most = Math.max(most, reading)
    const records = await journal.read(key)
    reading -= 1
    return records
  }

  const listed = await listSessions({ journal: { ...journal, read } })

  expect(listed.map(({ key, status }) => [key, status])).toEqual(keys.map((key) => [key, 'open']))
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(32)
})

const opened = (address: string): JournalRecord[] => [
  {
    ...{ at: 1, type: 'session.begun', version: JOURNAL_VERSION, key: 'k', flow: 'video' },
    params: { movementTypeId: 1, playerId: 'p', sessionDate: '2026-11-20', sessionTypeId: 2 },
    files: [{ fileIndex: 0, name: 'a.mp4', sizeBytes: 3, partSizeBytes: 3, partCount: 1 }],
    locations: ['/a.mp4'],
  },
  { at: 2, type: 'session.created', sessionId: 's1', files: [{ fileIndex: 0, addresses: [address] }] },
]
const settled = (status: 'confirmed' | 'cancelled' | 'partial'): JournalRecord => ({
  ...{ at: 9, type: 'session.settled', status },
})
const HTTPS = 'https://s.test/1'
const confirmed: readonly JournalRecord[] = [
  ...opened(HTTPS),
  { at: 3, type: 'part.received', fileIndex: 0, partNumber: 1, receipt: { acceptedEnd: 3, isVerified: true } },
  { at: 4, type: 'file.confirmed', fileIndex: 0 },
  settled('confirmed'),
]

async function uplinkWith(records: readonly JournalRecord[]) {
  const journal = memoryJournal()
  const session = await journal.open('k')
  await session.append(records)
  await session.close()
  const transport = createScriptedTransport()
  const uplink = createUplink(
    { baseUrl: 'https://service.test', credentials: { apiKey: 'key' } },
    { transport, journal, clock: createSimulatedClock(), random: () => 0.5, hasher: md5Hasher() },
  )
  return { uplink, journal, transport }
}

describe('a session of the journal', () => {
  it.each<[string, readonly JournalRecord[], 'resume' | 'cancelSession', string, string]>([
    [
      'is not resumed once it was cancelled',
      [...opened(HTTPS), { at: 3, type: 'session.cancelled', isServiceTold: true }, settled('cancelled')],
      ...(['resume', 'ERR_UPLOAD_JOURNAL', 'k was cancelled and cannot be resumed'] as const),
    ],
    [
      'is not resumed while it is being cancelled',
      [...opened(HTTPS), { at: 3, type: 'session.cancelling' }],
      ...(['resume', 'ERR_UPLOAD_JOURNAL', 'k was cancelled and cannot be resumed'] as const),
    ],
    [
      'is not resumed with addresses that this life does not allow',
      opened('http://s.test/1'),
      ...(['resume', 'ERR_UPLOAD_INSECURE_URL', 'Plain HTTP to s.test'] as const),
    ],
    [
      'is not cancelled once it is confirmed',
      confirmed,
      ...(['cancelSession', 'ERR_UPLOAD_JOURNAL', 'k is confirmed; there is nothing to cancel.'] as const),
    ],
  ])('%s, and stays as it was, free for another', async (_, records, verb, code, words) => {
    const { uplink, journal, transport } = await uplinkWith(records)

    await expect(uplink[verb]('k')).rejects.toMatchObject({ code, message: expect.stringContaining(words) as string })

    expect(transport.sent).toEqual([])
    const again = await journal.open('k')
    expect(again.records).toEqual(records)
    await again.close()
  })

  it.each([
    ['is not sent where what was sent of it has changed since: it fails before a byte goes', 'aaa', 0],
    ['is sent where that is what it was', 'abc', 1],
  ])('%s', async (_, found, sentCount) => {
    const [begun, created] = opened(HTTPS) as [JournalRecord & { type: 'session.begun' }, JournalRecord]
    const { uplink, transport, journal } = await uplinkWith([
      { ...begun, files: [{ ...begun.files[0]!, sizeBytes: 6, partCount: 2 }] },
      { ...created, files: [{ fileIndex: 0, addresses: [HTTPS, `${HTTPS}/2`] }] } as JournalRecord,
      {
        ...{ at: 3, type: 'part.received', fileIndex: 0, partNumber: 1 },
        receipt: { acceptedEnd: 3, etag: '"e"', isVerified: true, md5: '900150983cd24fb0d6963f7d28e17f72' },
      },
    ])
    const source = watchedSource('a.mp4', new TextEncoder().encode(`${found}def`))
    const upload = await uplink.resume('k', { source: () => source })
    const next = await Promise.race([transport.next(), upload.done().catch(() => undefined)])

    expect(transport.sent.map(({ url }) => url)).toEqual(sentCount === 0 ? [] : [`${HTTPS}/2`])
    const failures = (await journal.read('k')).filter(({ type }) => type === 'file.failed')
    expect(failures).toMatchObject(sentCount === 0 ? [{ error: { code: 'ERR_UPLOAD_SOURCE_CHANGED' } }] : [])
    expect(next === undefined).toBe(sentCount === 0)
    await uplink.close()
  })

  it('has it on record that it was resumed before anything of it goes on, unless it is confirmed', async () => {
    for (const records of [[...opened(HTTPS), settled('partial')], confirmed]) {
      const { uplink, journal } = await uplinkWith(records)
      const upload = await uplink.resume('k')

      const added = (await journal.read('k')).slice(records.length)
      expect(added.map(({ type }) => type)).toEqual(records === confirmed ? [] : ['session.resumed'])
      const closed = uplink.close()
      await upload.done().catch(() => undefined)
      await closed
    }
  })
})
