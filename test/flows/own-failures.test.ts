// What fails for one file, one session or one name, and for nothing else: sources of a host that throw what they like, a session
// whose create was answered late, reports of other nights under the same name.

import { describe, expect, it } from 'vitest'

import { md5Hasher } from '../../src/adapters/node/hash/md5-hasher.ts'
import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { JOURNAL_VERSION } from '../../src/core/journal/journal.ts'
import type { LedgerFile } from '../../src/core/journal/ledger.ts'
import type { PlannedFile, Source } from '../../src/core/ports.ts'
import { digestWhole, verifySource } from '../../src/flows/verify-source.ts'
import { createUplink, type UplinkPorts } from '../../src/index.ts'
import { createSimulatedClock } from '../helpers/simulated-clock.ts'
import { BASE_URL, createFarEnd, endOf, expiredStorage, goodService, goodStorage, VIDEO } from '../security/far-end.ts'

const file = (name = 'a.mp4') => ({ source: bytesSource(name, new Uint8Array(3)) })

describe('a source of the host that throws what is no error of ours', () => {
  const plan: PlannedFile = { fileIndex: 0, name: 'a.mp4', sizeBytes: 3, partCount: 1, partSizeBytes: 3 }
  const receipt = { acceptedEnd: 3, md5: '693e9af84d3dfcc71e640e005bdc5e2e', isVerified: true }
  const ledgerFile = { plan, parts: [{ partNumber: 1, start: 0, end: 3, receipt, isDoubtful: false }] }
  const { signal } = new AbortController()
  const gone = (): never => {
    throw new Error('device gone')
  }
  const goneLater = (): Promise<never> => Promise.reject(new Error('device gone'))
  const broken = (verb: 'open' | 'read' | 'verify' | 'close', fails: () => Promise<never> = gone): Source => {
    const { source } = file()
    if (verb === 'open') return { ...source, open: fails }
    return { ...source, open: async (expected) => ({ ...(await source.open(expected)), [verb]: fails }) }
  }
  const ways = [
    [
      'is proven',
      (source: Source) =>
        verifySource(ledgerFile as unknown as LedgerFile, source, {
          hasher: md5Hasher(),
          random: () => 0,
          provesAll: true,
          signal,
        }),
    ],
    [
      'is read again for its digest',
      (source: Source) =>
        digestWhole(ledgerFile as unknown as LedgerFile, source, {
          contentHasher: md5Hasher(),
          hasher: md5Hasher(),
          signal,
        }),
    ],
  ] as const

  it.each(ways)('fails its file when it %s', async (_when, look) => {
    for (const verb of ['open', 'read', 'verify'] as const) {
      for (const fails of [gone, goneLater]) {
        await expect(look(broken(verb, fails)), verb).rejects.toMatchObject({
          code: 'ERR_UPLOAD_SOURCE_READ',
          message: 'It could not be read: device gone',
        })
      }
    }
  })

  it.each(ways)('may fail to close when it %s: it was only read from', async (_when, look) => {
    await expect(look(broken('close'))).resolves.not.toThrow()
  })

  it('lets the other files of a resumed session be', async () => {
    const journal = memoryJournal()
    const session = await journal.open('k')
    const files = ['a.mp4', 'b.mp4'].map((name, fileIndex) => ({
      ...plan,
      name,
      fileIndex,
      partCount: 3,
      partSizeBytes: 1,
    }))
    const addresses = (index: number) =>
      [1, 2, 3].map((part) => `https://store.example/${String(index)}/${String(part)}`)
    const begun = { version: JOURNAL_VERSION, key: 'k', flow: 'video', params: VIDEO, files, locations: [] } as const
    const part = {
      type: 'part.received',
      fileIndex: 0,
      partNumber: 1,
      receipt: { ...receipt, acceptedEnd: 1 },
    } as const
    await session.append([
      { at: 1, type: 'session.begun', ...begun },
      {
        at: 1,
        type: 'session.created',
        sessionId: 's',
        files: files.map(({ fileIndex }) => ({ fileIndex, serverFileId: fileIndex, addresses: addresses(fileIndex) })),
      },
      { at: 1, ...part },
    ])
    await session.close()
    const hasher = md5Hasher()
    const { uplink, settled } = createFarEnd({
      journal,
      hasher,
      service: () => ({ status: 200 }),
      storage: goodStorage,
    })

    const upload = await uplink.resume('k', {
      source: ({ name }) => (name === 'a.mp4' ? broken('read') : file(name).source),
    })
    const { report } = await settled(endOf(upload))

    expect(report?.files).toMatchObject([
      { status: 'failed', error: { code: 'ERR_UPLOAD_SOURCE_READ' } },
      { status: 'confirmed' },
    ])
  })
})

it('a new session whose first create had no answer is told of as a possible orphan, now and by the journal', async () => {
  let creates = 0
  const { uplink, settled } = createFarEnd({
    service({ method }) {
      if (method !== 'POST') return { status: 200 }
      creates += 1
      if (creates === 2) return undefined
      const url = `https://store.example/${creates === 1 ? 'old?X-Amz-Date=19700101T000000Z&X-Amz-Expires=1' : 'new'}`
      return {
        status: 200,
        body: {
          upload_session_id: `s${String(creates)}`,
          pre_signed_urls: [{ session_file_id: 'f', info: [{ url }] }],
        },
      }
    },
    storage: (request, body) => (request.url.includes('/old') ? expiredStorage : goodStorage)(request, body),
  })
  const upload = uplink.uploadVideos({ ...VIDEO, files: [file()] })
  const warnings: string[] = []
  upload.on('warning', ({ message }) => warnings.push(message))

  const { report } = await settled(endOf(upload))

  expect(report).toMatchObject({ status: 'confirmed', sessionId: 's3', hasPossibleOrphan: true })
  expect(warnings).toEqual([expect.stringContaining('the service may hold an unused session')])
  const again = await settled(uplink.resume(upload.key, { source: () => file().source }))
  expect(again.snapshot().hasPossibleOrphan).toBe(true)
})

describe('a create of a new session for dead addresses that is cut short', () => {
  const dead = 'https://store.example/old?X-Amz-Date=19700101T000000Z&X-Amz-Expires=1'
  const session = (id: string, url: string) => ({
    status: 200,
    body: { upload_session_id: id, pre_signed_urls: [{ session_file_id: 'f', info: [{ url }] }] },
  })
  /** Until the second create is on its way, which has no answer as long as the line is not back. */
  async function replacing(journal = memoryJournal()) {
    let creates = 0
    const line = { isBack: false }
    const rig = createFarEnd({
      journal,
      service({ method, signal }) {
        if (method !== 'POST') return { status: 200 }
        creates += 1
        if (creates === 1) return session('s1', dead)
        if (line.isBack) return session(`s${String(creates)}`, 'https://store.example/new')
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      },
      storage: (request, body) => (request.url.includes('/old') ? expiredStorage : goodStorage)(request, body),
    })
    const upload = rig.uplink.uploadVideos({ ...VIDEO, files: [file()] })
    while (creates < 2) await rig.clock.step()
    return { rig, upload, line, journal }
  }

  it('by a pause may have made one that nobody uses, and that is said from then on', async () => {
    const { rig, upload, line } = await replacing()
    upload.pause()
    await rig.clock.advance(4_000)
    expect(upload.state).toBe('paused')
    expect(upload.snapshot().hasPossibleOrphan).toBe(true)
    line.isBack = true
    upload.resume()

    expect(await rig.settled(upload.done())).toMatchObject({
      ...{ status: 'confirmed', sessionId: 's3', hasPossibleOrphan: true },
    })
  })

  it('by the end of the process as well: the next one knows it from the journal', async () => {
    const { upload, journal } = await replacing()
    const next = memoryJournal()
    const copy = await next.open(upload.key)
    await copy.append(await journal.read(upload.key))
    await copy.close()
    const rig = createFarEnd({
      ...{ journal: next, storage: goodStorage },
      service: ({ method }) => (method === 'POST' ? session('s9', 'https://store.example/new') : { status: 200 }),
    })

    const again = await rig.uplink.resume(upload.key, { source: () => file().source })
    expect(await rig.settled(again.done())).toMatchObject({ status: 'confirmed', hasPossibleOrphan: true })
  })
})

it('a clip that names a frame rate without a value has the one of all', async () => {
  const sent: string[] = []
  const service = goodService(() => 'https://store.example/k')
  const { uplink, settled } = createFarEnd({
    storage: goodStorage,
    service(request, body) {
      sent.push(new TextDecoder().decode(body))
      return service(request, body)
    },
  })
  const files = [{ ...file(), frameRate: undefined as unknown as number }]

  await settled(endOf(uplink.uploadVideos({ ...VIDEO, frameRate: 240, files })))

  expect(sent[0]).toContain('"frame_rate":240')
})

const FAILING: readonly (readonly [how: string, listener: () => unknown, words: string])[] = [
  ['throws', () => fail(), 'x is null'],
  ['rejects', () => Promise.reject(new TypeError('x is null')), 'x is null'],
  ['rejects later', () => Promise.resolve().then(fail), 'x is null'],
  ['rejects with a message that is no text', () => Promise.reject(Object.assign(new Error(), { message: 7 })), '7'],
]

it.each(FAILING)(
  'a listener that %s is told of once, as a warning, and the upload goes on',
  async (_, listener, words) => {
    const { uplink, settled } = createFarEnd({
      ...{ service: goodService(() => 'https://store.example/k'), storage: goodStorage },
    })
    const upload = uplink.uploadVideos({ ...VIDEO, files: [file()] })
    const warnings: unknown[] = []
    upload.on('warning', (warning) => warnings.push(warning))
    upload.on('state', listener)

    expect(await settled(endOf(upload))).toMatchObject({ report: { status: 'confirmed' } })
    expect(warnings).toEqual([{ code: 'ERR_UPLOAD_INTERNAL', message: `A listener threw: ${words}` }])
  },
)

it('a listener that was taken off hears no more, and the others do', async () => {
  const { uplink, settled } = createFarEnd({
    ...{ service: goodService(() => 'https://store.example/k'), storage: goodStorage },
  })
  const upload = uplink.uploadVideos({ ...VIDEO, files: [file()] })
  const heard: string[] = []
  const once = ({ state }: { readonly state: string }): void => {
    heard.push(`once ${state}`)
    upload.off('state', once)
  }
  upload.on('state', once)
  upload.on('state', ({ state }) => heard.push(state))
  await settled(endOf(upload))

  expect(heard).toEqual(['once uploading', 'uploading', 'settling', 'confirmed'])
})

function fail(): never {
  throw new TypeError('x is null')
}

it('a source whose disposal never ends holds no upload up for ever', async () => {
  const { uplink, settled, clock } = createFarEnd({
    ...{ service: goodService(() => 'https://store.example/k'), storage: goodStorage },
  })
  const source: Source = { ...file().source, dispose: () => new Promise(() => undefined) }

  expect(await settled(endOf(uplink.uploadVideos({ ...VIDEO, files: [{ source }] })))).toMatchObject({
    report: { status: 'confirmed' },
  })
  expect(clock.pending).toBe(0)
})

describe('an analysis', () => {
  interface Record {
    readonly [field: string]: unknown
  }
  /** A service whose first create has no answer, and which lists these. */
  function requested(listed: readonly Record[], onPoll: Record = { status: 'completed' }, losesFirst = true) {
    const calls: string[] = []
    const rig = createFarEnd({
      storage: goodStorage,
      service({ method, url }) {
        const call = `${method} ${url.slice(BASE_URL.length)}`
        calls.push(call)
        if (call === 'GET /requested_analyses') return { status: 200, body: listed }
        if (call !== 'POST /requested_analyses')
          return { status: 200, body: method === 'PATCH' ? { status: 'requested' } : onPoll }
        if (losesFirst && calls.filter((each) => each === call).length === 1) return undefined
        return { status: 200, body: { id: 'new', status: 'draft' } }
      },
    })
    const analysis = rig.uplink.requestAnalysis({
      ...{ name: 'Weekly', primary: { segmentId: 5 }, comparison: { segmentId: 6 }, deadlineMs: 1_000 },
    })
    return { ...rig, analysis, calls }
  }
  const ours = { id: 'known', name: 'Weekly', primary_analysis_segment_id: 5, comparison_analysis_segment_id: 6 }

  it.each([
    ['a draft', { ...ours, status: 'Draft' }],
    ['one that has no population either', { ...ours, population_analysis_segment_id: null }],
    ['one whose status and segments are not shown', { id: 'known', name: 'Weekly' }],
  ])('takes %s of its name for its own after a lost answer', async (_what, listed) => {
    const { settled, analysis, calls } = requested([listed])

    expect(await settled(analysis.done())).toMatchObject({ analysisId: 'known', hasPossibleDraft: false })
    expect(calls.filter((call) => call.startsWith('POST'))).toHaveLength(1)
  })

  it.each([
    ['is more than a draft', { ...ours, status: 'completed' }],
    ['has another comparison', { ...ours, status: 'draft', comparison_analysis_segment_id: 7 }],
    ['has no comparison', { ...ours, status: 'draft', comparison_analysis_segment_id: null }],
    ['has a population', { ...ours, status: 'draft', population_analysis_segment_id: 7 }],
    ['has another name', { ...ours, status: 'draft', name: 'weekly' }],
  ])('makes its own where the one of its name %s', async (_what, listed) => {
    const { settled, analysis } = requested([listed])

    expect(await settled(analysis.done())).toMatchObject({ analysisId: 'new' })
  })

  it('keeps the service’s last word where later answers have none', async () => {
    const { settled, analysis } = requested([], {}, false)

    expect(await settled(analysis.done())).toMatchObject({ status: 'deadline', serviceStatus: 'requested' })
  })

  it('says that a draft may be there when it is stopped before the answer', async () => {
    const { settled, analysis } = requested([])
    analysis.on('state', ({ state }) => state === 'creatingDraft' && analysis.stop())

    expect(await settled(analysis.done())).toMatchObject({ status: 'stopped', hasPossibleDraft: true })
  })
})

it.each([
  ...['callTimeoutMs', 'retries', 'giveUpAfterMs', 'concurrency', 'limitRate'],
  ...['bearerHeader', 'verify', 'addressPolicy'],
])('an Uplink takes its %s also from the getter of a class', (name) => {
  class Choices {
    readonly baseUrl = BASE_URL
    readonly credentials = { apiKey: 'k-1' }
  }
  Object.defineProperty(Choices.prototype, name, { get: () => NaN })
  const transport = { send: () => Promise.reject(new Error('unused')), close: () => Promise.resolve() }
  const ports = { transport, clock: createSimulatedClock(), journal: memoryJournal(), random: () => 0.5 }
  const make = () => createUplink(new Choices(), ports as unknown as UplinkPorts)

  expect(make).toThrow(expect.objectContaining({ code: 'ERR_UPLOAD_INVALID_ARGUMENT' }) as Error)
})

it('an Uplink with a callTimeoutMs that is none says so by the name of the option', () => {
  const make = () => createFarEnd({ service: goodStorage, storage: goodStorage, callTimeoutMs: NaN })

  expect(make).toThrow('callTimeoutMs is NaN')
})

it('a receipt of a key that nobody knows is refused as a resume of it is', async () => {
  const { uplink } = createFarEnd({ service: goodStorage, storage: goodStorage })
  const error = { code: 'ERR_UPLOAD_JOURNAL', message: 'No session typo is in the journal.' }

  await expect(uplink.receipt('typo')).rejects.toMatchObject(error)
  await expect(uplink.resume('typo')).rejects.toMatchObject(error)
})

it.each([undefined, null])('an Uplink with credentials that are %j is told what to give', (credentials) => {
  const make = () => createFarEnd({ service: goodStorage, storage: goodStorage, credentials: credentials as never })

  expect(make).toThrow('Give credentials: either { apiKey } or { accessToken }.')
})

it('takes credentials of a class, whose fields are read through getters', () => {
  class Vault {
    get apiKey() {
      return 'key-of-a-vault'
    }
  }

  expect(() => createFarEnd({ service: goodStorage, storage: goodStorage, credentials: new Vault() })).not.toThrow()
})
