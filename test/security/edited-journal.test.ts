// A journal that somebody wrote into, its checksums made right: what it says of a session's fields must fit, and nothing in it
// decides what the host decides.

import { describe, expect, it } from 'vitest'

import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import type { JournalRecord } from '../../src/core/journal/journal.ts'
import type { FlowName } from '../../src/core/journal/journal.ts'
import type { Journal } from '../../src/core/ports.ts'
import {
  BASE_URL,
  CAPTURE,
  createFarEnd,
  endOf,
  expiredStorage,
  goodService,
  goodStorage,
  VIDEO,
  type FarEndOptions,
} from './far-end.ts'

type Begun = Extract<JournalRecord, { type: 'session.begun' }>
/** What a person may write in a journal's beginning. */
type Edit = Readonly<Record<string, unknown>>

const source = () => bytesSource('a.action', new Uint8Array([1, 2, 3]))
const HOST_RULES = {
  isHttpAllowed: true,
  addressPolicy: 'any',
  client: { videoUploads: {}, mocapSessions: {} },
  baseUrl: 'https://elsewhere.example',
  credentials: { apiKey: 'stolen' },
  unitLimits: {},
  isAlreadyConfirmed: true,
  transport: {},
}

/** The journal of an upload whose storage was away, with its beginning written over. */
async function edited(flow: FlowName, edit: (begun: Begun) => Edit): Promise<{ journal: Journal; key: string }> {
  const kept = memoryJournal()
  const { uplink, settled } = createFarEnd({
    ...{ journal: kept, service: goodService(() => 'https://store.example/k'), giveUpAfterMs: 1_000 },
    storage: () => ({ status: 400 }),
  })
  const files = [{ source: source() }]
  const upload =
    flow === 'video'
      ? uplink.uploadVideos({ ...VIDEO, files })
      : uplink.uploadCaptures({ ...CAPTURE, kind: 'tracking', files })
  await settled(endOf(upload))
  const journal = memoryJournal()
  const session = await journal.open(upload.key)
  const records = await kept.read(upload.key)
  for (const record of records) {
    await session.append([record.type === 'session.begun' ? { ...record, ...edit(record) } : record])
  }
  await session.close()
  return { journal, key: upload.key }
}

async function resumed(flow: FlowName, edit: (begun: Begun) => Edit, options: Partial<FarEndOptions> = {}) {
  const { journal, key } = await edited(flow, edit)
  const farEnd = createFarEnd({
    ...{ journal, service: goodService(() => 'https://store.example/k'), storage: goodStorage },
    ...options,
  })
  const life = async () => endOf(await farEnd.uplink.resume(key, { source }))
  const ended = await farEnd.settled(life().catch((error: unknown) => ({ report: undefined, error })))
  const hosts = new Set(farEnd.requests.map(({ url }) => new URL(url).host))
  return { ...ended, hosts: [...hosts], requests: farEnd.requests, sessions: () => farEnd.uplink.sessions() }
}

describe('what the host decides is not in a journal’s hands', () => {
  it.each(['video', 'capture'] as const)('of a %s: client, base address, credentials and functions', async (flow) => {
    const { report, hosts, requests } = await resumed(flow, ({ params }) => ({ params: { ...params, ...HOST_RULES } }))

    expect(report?.status).toBe('confirmed')
    expect(hosts.toSorted()).toEqual(flow === 'video' ? ['service.example', 'store.example'] : ['store.example'])
    const keys = requests.filter(({ url }) => url.startsWith(BASE_URL)).map(({ headers }) => headers['x-api-key'])
    expect(keys.every((key) => key === 'key-of-the-tests')).toBe(true)
  })

  it.each([
    ['plain HTTP', 'http://store.example/k', {}],
    ['a forbidden host', 'https://10.0.0.7/k', { addressPolicy: (host: string) => host === 'store.example' }],
  ] as const)('which addresses may be used: %s of a new session is refused', async (_, address, options) => {
    for (const flow of ['video', 'capture'] as const) {
      const { error, hosts } = await resumed(flow, ({ params }) => ({ params: { ...params, ...HOST_RULES } }), {
        ...options,
        service: goodService(() => address),
        storage: expiredStorage,
      })

      expect(String(error)).toMatch(/Plain HTTP|does not allow/)
      expect(hosts).toEqual(['store.example', 'service.example'])
    }
  })

  it('whether a refused confirmation counts as one', async () => {
    const { report, error } = await resumed(
      'video',
      ({ params }) => ({ params: { ...params, isAlreadyConfirmed: true } }),
      { service: () => ({ status: 400 }) },
    )

    expect(report).toBeUndefined()
    expect(error).toMatchObject({ code: 'ERR_UPLOAD_CONFIRM_REFUSED' })
  })
})

describe('a beginning that does not fit', () => {
  it.each([
    ['a kind of session that there is not', () => ({ flow: 'toString' })],
    ['the fields of the other kind', () => ({ flow: 'capture' })],
    ['a protocol that nobody gives', () => ({ flow: 'custom' })],
    ['no fields', () => ({ params: null })],
    ['a list of fields', () => ({ params: [] })],
    ['a missing field', ({ params }) => ({ params: { ...params, playerId: undefined } })],
    ['a field of another type', ({ params }) => ({ params: { ...params, sessionDate: 20_261_120 } })],
    ['a form of ETags that there is not', ({ params }) => ({ params: { ...params, etagForm: 'none' } })],
    ['no files', () => ({ files: null })],
    ['parts that leave bytes out', ({ files: [file] }) => ({ files: [{ ...file, sizeBytes: 30, partSizeBytes: 3 }] })],
    ['more parts than bytes', ({ files: [file] }) => ({ files: [{ ...file, partCount: 9 }] })],
    [
      'parts that fill the memory',
      ({ files: [file] }) => ({ files: [{ ...file, sizeBytes: 1e9, partCount: 1e9, partSizeBytes: 1 }] }),
    ],
    ['files in another order', ({ files: [file] }) => ({ files: [{ ...file, fileIndex: 1 }] })],
    ['no places', () => ({ locations: null })],
    ['a place that is no text', () => ({ locations: [5] })],
  ] as [string, (begun: Begun) => Edit][])('is told, and nothing is sent: %s', async (_, edit) => {
    const { error, requests, sessions } = await resumed('video', edit)

    expect(error).toMatchObject({ code: expect.stringMatching(/ERR_UPLOAD_(JOURNAL|INVALID_ARGUMENT)/) as string })
    expect(String(error)).not.toMatch(/undefined|Cannot read/)
    expect(requests).toEqual([])
    expect(await sessions()).toHaveLength(1)
  })

  it.each([0, -1, 1.5, 1_001, '10', null])('is told of captures: %s names in one registration', async (batchSize) => {
    const { error, requests } = await resumed('capture', ({ params }) => ({ params: { ...params, batchSize } }))

    expect(error).toMatchObject({ code: 'ERR_UPLOAD_JOURNAL', message: expect.stringContaining('batchSize') as string })
    expect(requests).toEqual([])
  })
})
