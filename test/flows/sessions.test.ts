// A long list of sessions: all of them, in their order, and never more of their journals read at once than a system has handles.
// And one of them: what is refused before anything of it is touched, and what is on record before it goes on.

import { describe, expect, it } from 'vitest'

import { md5Hasher } from '../../src/adapters/node/hash/md5-hasher.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { JOURNAL_VERSION, type JournalRecord } from '../../src/core/journal/journal.ts'
import { createSessionList } from '../../src/flows/session-list.ts'
import { createUplink, type UplinkOptions, type UplinkPorts } from '../../src/index.ts'
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

  const listed = await createSessionList({ journal: { ...journal, read } })()

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

async function uplinkWith(
  records: readonly JournalRecord[],
  ports: Pick<UplinkPorts, 'sourceAt'> = {},
  options: Pick<UplinkOptions, 'verify'> = {},
) {
  const journal = memoryJournal()
  const session = await journal.open('k')
  await session.append(records)
  await session.close()
  const transport = createScriptedTransport()
  const uplink = createUplink(
    { baseUrl: 'https://service.test', credentials: { apiKey: 'key' }, ...options },
    { transport, journal, clock: createSimulatedClock(), random: () => 0.5, hasher: md5Hasher(), ...ports },
  )
  return { uplink, journal, transport }
}

it('reads what is confirmed as a whole once, however often sessions are listed, and everything else each time', async () => {
  const journal = memoryJournal()
  const sessions: Readonly<Record<string, readonly JournalRecord[]>> = {
    confirmed,
    forgotten: confirmed,
    'left another': [...confirmed, { at: 10, type: 'session.left', sessionId: 's0' }],
    partial: [...opened(HTTPS), settled('partial')],
    cancelled: [...opened(HTTPS), settled('cancelled')],
    open: opened(HTTPS),
  }
  for (const [key, records] of Object.entries(sessions)) {
    const session = await journal.open(key)
    await session.append(records)
    await session.close()
  }
  const read: string[] = []
  const sessionsNow = createSessionList({
    journal: { ...journal, read: (key) => (read.push(key), journal.read(key)) },
  })
  const first = await sessionsNow()
  await journal.remove('forgotten')
  read.length = 0

  const second = await sessionsNow()

  expect(read).toEqual(['left another', 'partial', 'cancelled', 'open'])
  expect(second).toEqual(first.filter(({ key }) => key !== 'forgotten'))
})

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

describe('a resume', () => {
  const [begun, created] = opened(HTTPS) as [JournalRecord & { type: 'session.begun' }, JournalRecord]

  it.each([
    ['where its journal says that it was', ['/night/a.mp4'], '/night/a.mp4'],
    ['by its name where the journal does not say', [], 'a.mp4'],
  ])('asks for each source %s', async (_, locations, location) => {
    const { uplink } = await uplinkWith([{ ...begun, locations }, created])
    const asked: unknown[] = []
    const source = (file: object) => {
      asked.push(file)
      return watchedSource('a.mp4', new Uint8Array(3))
    }

    await uplink.resume('k', { source })

    expect(asked).toEqual([{ name: 'a.mp4', location, fileIndex: 0, sizeBytes: 3 }])
    await uplink.close()
  })

  it('asks the platform where nobody gives a source, and says which file it needs where that knows none', async () => {
    const found = watchedSource('a.mp4', new Uint8Array(3))
    const [known, unknown] = [
      await uplinkWith([begun, created], { sourceAt: () => found }),
      await uplinkWith([begun, created]),
    ]

    await known.uplink.resume('k')
    const upload = await unknown.uplink.resume('k')

    expect((await known.transport.next()).url).toBe(HTTPS)
    await expect(upload.done()).rejects.toMatchObject({
      ...{ code: 'ERR_UPLOAD_SOURCE_READ', message: 'a.mp4: a.mp4 has to be given again to go on.' },
    })
    await known.uplink.close()
  })

  const unconfirmed: readonly (readonly [string, readonly JournalRecord[]])[] = [
    ['whose confirmation had no answer', [{ at: 4, type: 'file.confirming', fileIndex: 0 }]],
    ['that was not confirmed yet', []],
  ]
  it.each(unconfirmed)('confirms a file %s, though it can be read no more: all of it is stored', async (_, asked) => {
    const received = confirmed.filter(({ type }) => type === 'part.received')
    const receipt = { acceptedEnd: 3, etag: '"e"', isVerified: true, md5: '900150983cd24fb0d6963f7d28e17f72' }
    const records = received.map((record) => Object.assign({}, record, { receipt }))
    const { uplink, transport } = await uplinkWith([begun, created, ...records, ...asked])

    const upload = await uplink.resume('k')
    const next = await Promise.race([transport.next(), upload.done()])

    if ('status' in next) throw new Error('It ended without a call.')
    expect([next.method, await next.bodyJson()]).toMatchObject(['PATCH', { file_part_info: [{ etag: '"e"' }] }])
    next.reply({ status: 200 })
    expect(await upload.done()).toMatchObject({ status: 'confirmed', files: [{ status: 'confirmed', verified: true }] })
    await uplink.close()
  })

  it('asks no more of the addresses of a file that is confirmed', async () => {
    const files = [begun.files[0]!, { ...begun.files[0]!, fileIndex: 1, name: 'b.mp4' }]
    const addressed = ['http://s.test/1', 'https://s.test/2'].map((address, fileIndex) => ({
      fileIndex,
      addresses: [address],
    }))
    const { uplink, transport } = await uplinkWith([
      { ...begun, files, locations: ['/a.mp4', '/b.mp4'] },
      { ...created, files: addressed } as JournalRecord,
      ...confirmed.slice(2, 4),
    ])

    await uplink.resume('k', { source: ({ name }) => watchedSource(name, new Uint8Array(3)) })

    expect((await transport.next()).url).toBe('https://s.test/2')
    await uplink.close()
  })

  const md5 = '900150983cd24fb0d6963f7d28e17f72'
  const partCount = 9
  /** Eight of nine parts were sent; of those the third has changed since, which is none of the sample. */
  const eightSent: readonly JournalRecord[] = [
    { ...begun, files: [{ ...begun.files[0]!, sizeBytes: 3 * partCount, partCount }] },
    {
      ...created,
      files: [
        { fileIndex: 0, addresses: Array.from({ length: partCount }, (_, index) => `${HTTPS}/${String(index)}`) },
      ],
    } as JournalRecord,
    ...Array.from({ length: partCount - 1 }, (_, index): JournalRecord => ({
      ...{ at: 3, type: 'part.received', fileIndex: 0, partNumber: index + 1 },
      receipt: { acceptedEnd: 3 * (index + 1), etag: '"e"', isVerified: true, md5 },
    })),
  ]

  it.each([
    ['a sample of what was sent', {}, true],
    ['all of it where the Uplink does', { verify: 'full' }, false],
  ] as const)('compares %s with the source', async (_, own, isTaken) => {
    const { uplink, transport, journal } = await uplinkWith(eightSent, {}, own)
    const source = watchedSource('a.mp4', new TextEncoder().encode(`abcabcxyz${'abc'.repeat(6)}`))

    const upload = await uplink.resume('k', { source: () => source })
    await Promise.race([transport.next(), upload.done().catch(() => undefined)])

    const failures = (await journal.read('k')).filter(({ type }) => type === 'file.failed')
    expect([failures.length === 0, transport.sent.length]).toEqual([isTaken, isTaken ? 1 : 0])
    await uplink.close()
  })
})
