// What the steps of a session do beside their calls: what they give as the cause of a failure, when a source is proven, what is told
// of a session that took over.

import { describe, expect, it } from 'vitest'

import { md5Hasher, sha256Hasher } from '../../src/adapters/node/hash/md5-hasher.ts'
import { bytesSource } from '../../src/adapters/web/bytes-source.ts'
import { memoryJournal } from '../../src/adapters/web/memory-journal.ts'
import { UploadError } from '../../src/core/errors.ts'
import type { JournalRecord } from '../../src/core/journal/journal.ts'
import type { Journal, Protocol, Source, TransportRequest } from '../../src/core/ports.ts'
import type { Upload } from '../../src/flows/upload.ts'
import {
  createFarEnd,
  endOf,
  expiredStorage,
  goodService,
  goodStorage,
  VIDEO,
  type Answer,
  type Behaviour,
  type FarEnd,
  type SlowBehaviour,
} from '../security/far-end.ts'
import { watchedSource } from '../simulation/watched-source.ts'

const service = goodService(
  (fileIndex, partNumber) => `https://store.example/${String(fileIndex)}/${String(partNumber)}`,
)
const isConfirm = (method: string): boolean => method === 'PATCH'
const files = ['a.mp4', 'b.mp4'].map((name) => ({ source: bytesSource(name, new Uint8Array(3)) }))

/** No answer until the attempt is ended. */
const unanswered = ({ signal }: TransportRequest): Promise<Answer> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

it('a create that failed is the cause of the end', async () => {
  const { uplink, settled } = createFarEnd({ service: () => ({ status: 400 }), storage: goodStorage })

  const { error, report } = await settled(endOf(uplink.uploadVideos({ ...VIDEO, files })))

  expect(report).toBeUndefined()
  const code = 'ERR_UPLOAD_SERVICE_REFUSED'
  expect(error).toMatchObject({ code, cause: { code, status: 400 }, report: { status: 'failed', error: { code } } })
})

it.each([
  ['no file was', 0, 'failed'],
  ['one file was', 1, 'partial'],
] as const)(
  'a transfer that cannot go on is the cause of the end, which counts what was confirmed: %s',
  async (_, taken, status) => {
    let confirms = 0
    const refusing: Behaviour = (request, body) =>
      isConfirm(request.method) && ++confirms > taken ? { status: 401 } : service(request, body)
    const { uplink, settled } = createFarEnd({ service: refusing, storage: goodStorage, concurrency: 1 })
    const upload = uplink.uploadVideos({ ...VIDEO, files })

    const { error, report } = await settled(endOf(upload))

    const code = 'ERR_UPLOAD_CREDENTIALS_REFUSED'
    if (status === 'failed') expect(error).toMatchObject({ code, cause: { code, status: 401 }, report: { status } })
    else expect(report).toMatchObject({ status, error: { code } })
  },
)

it('what ended an upload stays its cause where its journal cannot be closed either', async () => {
  const kept = memoryJournal()
  const journal: Journal = {
    ...kept,
    async open(key) {
      const close = () => Promise.reject(new UploadError('ERR_UPLOAD_JOURNAL', 'The disk is gone.'))
      return { ...(await kept.open(key)), close }
    },
  }
  const refusing: Behaviour = (request, body) => (isConfirm(request.method) ? { status: 401 } : service(request, body))
  const { uplink, settled } = createFarEnd({ journal, service: refusing, storage: goodStorage })

  const { error } = await settled(endOf(uplink.uploadVideos({ ...VIDEO, files })))

  const code = 'ERR_UPLOAD_CREDENTIALS_REFUSED'
  expect(error).toMatchObject({ code, report: { status: 'failed', error: { code } } })
})

it('a create that a pause ended is the cause of nothing that fails later', async () => {
  let looks = 0
  const slow: Source = {
    ...files[0]!.source,
    describe: () => (++looks === 1 ? new Promise(() => undefined) : Promise.resolve({ sizeBytes: 3 })),
  }
  const { uplink, settled, clock } = createFarEnd({ service, storage: () => ({ status: 400 }) })
  const upload = uplink.uploadVideos({ ...VIDEO, files: [{ source: slow }] })
  upload.pause()
  await clock.advance(60_000)
  expect(upload.state).toBe('paused')
  upload.resume()

  const { error } = await settled(endOf(upload))

  expect(error).toMatchObject({ code: 'ERR_UPLOAD_HTTP_STATUS' })
  expect((error as Error).cause).toBeUndefined()
})

/** Parts of six bytes; the storage takes the first of a file, and has no answer to the second until its attempt is ended. */
function halfTaken() {
  const units = { minBytes: 1, maxBytes: 6, maxCount: 10, multipleOfBytes: 1 }
  const protocol: Protocol = {
    traits: { units, order: 'any', addressing: 'session', batchSize: 1 },
    create: () => {
      const addresses = [1, 2].map((part) => `https://store.example/${String(part)}`)
      return Promise.resolve({ sessionId: 7, files: [{ fileIndex: 0, addresses }] })
    },
    request: () => ({ method: 'PUT', headers: {} }),
    judge: (_, { end }) => ({ kind: 'received', acceptedEnd: end }),
  }
  const watched = watchedSource('a.mp4', new Uint8Array(12))
  let openings = 0
  const open: Source['open'] = (expected) => {
    openings += 1
    return watched.open(expected)
  }
  const source: Source = { name: watched.name, describe: watched.describe, open }
  const storage: SlowBehaviour = (request) => {
    return request.url.endsWith('/1') ? { status: 200 } : unanswered(request)
  }
  const journal = memoryJournal()
  const life = () => createFarEnd({ journal, service, storage, hasher: md5Hasher() })
  return { protocol, source, life, openings: () => openings }
}

it('a source is proven once in a later life, before its first transfer, and never in the life that sent it', async () => {
  const { protocol, source, life, openings } = halfTaken()
  /** How often the source is opened by what is begun, and again by a pause and a resume. */
  const openedBy = async ({ clock }: FarEnd, begin: () => Upload | Promise<Upload>) => {
    const before = openings()
    const upload = await begin()
    await clock.advance(1_000)
    const begun = openings()
    upload.pause()
    await clock.advance(1_000)
    upload.resume()
    await clock.advance(1_000)
    return { key: upload.key, times: [begun - before, openings() - begun] }
  }
  const [first, second] = [life(), life()]

  const { key, times } = await openedBy(first, () => first.uplink.upload({ protocol, files: [{ source }] }))
  await first.settled(first.uplink.close())
  const again = await openedBy(second, () => second.uplink.resume(key, { protocol, source: () => source }))

  expect(times).toEqual([1, 1])
  expect(again.times).toEqual([2, 1])
  await second.settled(second.uplink.close())
})

it('a source that cannot be read when it is to be proven sends nothing, though it could be read a moment later', async () => {
  const { protocol, source, life } = halfTaken()
  const [first, second] = [life(), life()]
  const { key } = first.uplink.upload({ protocol, files: [{ source }] })
  await first.clock.advance(1_000)
  await first.settled(first.uplink.close())
  let openings = 0
  const open: Source['open'] = (expected) => {
    openings += 1
    if (openings === 1) throw new UploadError('ERR_UPLOAD_SOURCE_READ', 'The drive is not ready.')
    return source.open(expected)
  }
  const resumed = await second.uplink.resume(key, { protocol, source: () => ({ ...source, open }) })

  expect((await second.settled(endOf(resumed))).error).toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ' })
  expect(second.requests).toEqual([])
  await second.uplink.close()
})

it('each session that took over is told once, and a clear answer to its create leaves nothing to warn of', async () => {
  let creates = 0
  const { uplink, settled } = createFarEnd({
    service({ method }) {
      if (method !== 'POST') return { status: 200 }
      creates += 1
      const entries = files.map((_, index) => {
        const url = `https://store.example/${String(creates)}/${String(index)}`
        return { session_file_id: `f${String(index)}`, info: [{ url }] }
      })
      return { status: 200, body: { upload_session_id: `s${String(creates)}`, pre_signed_urls: entries } }
    },
    // How long its addresses live they do not say, so no rate is too low for them.
    storage: (request, body) => (request.url.includes('/3/') ? goodStorage : expiredStorage)(request, body),
  })
  const upload = uplink.uploadVideos({ ...VIDEO, files })
  const replaced: unknown[] = []
  const warnings: unknown[] = []
  upload.on('session.replaced', (event) => replaced.push(event))
  upload.on('warning', (event) => warnings.push(event))

  const { report } = await settled(endOf(upload))

  const moved = { filesKept: 0, filesMoved: 2, bytesVoided: 0 }
  expect(report).toMatchObject({ status: 'confirmed', sessionId: 's3', hasPossibleOrphan: false })
  expect(replaced).toEqual([
    { oldSessionId: 's1', newSessionId: 's2', ...moved },
    { oldSessionId: 's2', newSessionId: 's3', ...moved },
  ])
  expect(warnings).toEqual([])
})

/** A journal on a slow disk: what is appended is there, and said to be, after 10 ms, and closing takes as long. */
function slowJournal() {
  const kept = memoryJournal()
  const rig: { far?: FarEnd } = {}
  const pass = (): Promise<void> => new Promise((resolve) => void rig.far?.clock.setTimeout(resolve, 10))
  /** The type of a record that the disk does not take. */
  const refused: { type?: JournalRecord['type'] } = {}
  const journal: Journal = {
    ...kept,
    async open(key) {
      const session = await kept.open(key)
      return {
        ...session,
        async append(records) {
          await pass()
          if (records.some(({ type }) => type === refused.type)) {
            throw new UploadError('ERR_UPLOAD_JOURNAL', 'The disk is full.')
          }
          await session.append(records)
        },
        async close() {
          await pass()
          await session.close()
        },
      }
    },
  }
  return { journal, refused, rig, typesOf: async (key: string) => (await kept.read(key)).map(({ type }) => type) }
}

describe('on a slow disk', () => {
  /** An upload, what was on the disk when each request came, and what is now. */
  function begin(own: Partial<Parameters<typeof createFarEnd>[0]> = {}) {
    const { journal, refused, rig, typesOf } = slowJournal()
    const known: Record<string, readonly string[]> = {}
    const noting =
      (answer: SlowBehaviour): SlowBehaviour =>
      async (request, body) => {
        known[request.method] ??= await typesOf(upload.key)
        const answered = await answer(request, body)
        return answered ?? new Error('No test here loses an answer.')
      }
    const { service: asked = service, storage: taken = goodStorage, ...options } = own
    const far = createFarEnd({ journal, service: noting(asked), storage: noting(taken), ...options })
    rig.far = far
    const upload = far.uplink.uploadVideos({ ...VIDEO, files })
    return { ...far, upload, known, refused, journal, types: () => typesOf(upload.key) }
  }

  it('each step is on it before the next one begins, and the end before it is told', async () => {
    const { upload, settled, known, types, journal } = begin()

    expect(await settled(upload.done())).toMatchObject({ status: 'confirmed' })

    expect(known['POST']).toEqual(['session.begun', 'session.creating'])
    expect(known['PUT']?.slice(2)).toEqual(['session.created'])
    expect((await types()).at(-1)).toBe('session.settled')
    await settled(journal.open(upload.key).then((session) => session.close()))
  })

  it('so is each step of a cancel; when it has come back another one may take the session up', async () => {
    const { upload, settled, known, types, journal, clock } = begin({
      storage: unanswered,
    })
    await clock.advance(1_000)

    expect(await settled(upload.cancel())).toMatchObject({ status: 'cancelled', isServiceTold: true })

    expect(known['DELETE']?.at(-1)).toBe('session.cancelling')
    expect((await types()).slice(-2)).toEqual(['session.cancelled', 'session.settled'])
    await settled(journal.open(upload.key).then((session) => session.close()))
  })

  it.each([
    ['resume', 'session.resumed'],
    ['cancelSession', 'session.cancelling'],
  ] as const)('a %s that cannot be kept there is refused, and leaves the session free', async (verb, type) => {
    const { journal, refused, rig } = slowJournal()
    const life = () => (rig.far = createFarEnd({ journal, service, storage: unanswered }))
    const first = life()
    const { key } = first.uplink.uploadVideos({ ...VIDEO, files })
    await first.clock.advance(1_000)
    await first.settled(first.uplink.close())
    const { uplink, settled } = life()
    refused.type = type

    await expect(settled<unknown>(uplink[verb](key))).rejects.toMatchObject({ code: 'ERR_UPLOAD_JOURNAL' })
    await expect(journal.open(key)).resolves.toMatchObject({ key })
  })

  it('a later life has it on it that a session is asked for, before it is', async () => {
    const { journal, rig, typesOf } = slowJournal()
    const known: (readonly string[])[] = []
    const life = (answer: SlowBehaviour) => (rig.far = createFarEnd({ journal, service: answer, storage: goodStorage }))
    const first = life(() => ({ status: 503 }))
    const { key } = first.uplink.uploadVideos({ ...VIDEO, files })
    await first.clock.advance(10_000)
    await first.settled(first.uplink.close())
    const asking: SlowBehaviour = async (request, body) => {
      if (request.method === 'POST') known.push(await typesOf(key))
      return service(request, body) as Answer
    }
    const { uplink, settled } = life(asking)
    const upload = await settled(uplink.resume(key, { source: ({ fileIndex }) => files[fileIndex]!.source }))

    expect(await settled(upload.done())).toMatchObject({ status: 'confirmed' })
    expect(known.map((types) => types.slice(-2))).toEqual([['session.resumed', 'session.creating']])
  })

  it('a session that is confirmed is free when a discard of it has come back, and its sources when a resume has', async () => {
    const { journal, rig } = slowJournal()
    const { uplink, settled } = (rig.far = createFarEnd({ journal, service, storage: goodStorage }))
    const { key, done } = uplink.uploadVideos({ ...VIDEO, files })
    await settled(done())
    let freed = 0
    const dispose = async (): Promise<void> => void (freed += 1)
    const source = ({ name }: { readonly name: string }): Source => ({ ...files[0]!.source, name, dispose })

    const resumed = uplink.resume(key, { source })
    expect(await settled(resumed.then((upload) => upload.done()))).toMatchObject({ status: 'confirmed' })
    expect(freed).toBe(2)
    await settled(uplink.discardSession(key).then(() => uplink.forgetSession(key)))
    expect(await uplink.sessions()).toEqual([])
  })

  it('an end that cannot be kept there is told as it was, and that it was not kept', async () => {
    const { upload, settled, refused } = begin()
    refused.type = 'session.settled'

    const report = await settled(upload.done())

    expect(report).toMatchObject({ status: 'confirmed', error: { code: 'ERR_UPLOAD_JOURNAL' } })
  })

  it.each([
    ['whose end cannot be kept there', 'session.cancelled', service],
    ['that cannot be kept there', 'session.cancelling', service],
    [
      'that cannot be kept there, nor told to the service,',
      'session.cancelling',
      (request, body) => (request.method === 'DELETE' ? unanswered(request) : service(request, body)),
    ],
  ] satisfies [string, JournalRecord['type'], SlowBehaviour][])('a cancel %s says so', async (_, type, asked) => {
    const { upload, settled, refused, clock } = begin({ service: asked, storage: unanswered })
    await clock.advance(1_000)
    refused.type = type

    const report = await settled(upload.cancel())

    expect(report).toMatchObject({ status: 'cancelled', error: { code: 'ERR_UPLOAD_JOURNAL' } })
  })
})

it('a session that was left is told by nobody who lets go of its upload', async () => {
  const journal = memoryJournal()
  const bad = { status: 200, body: { upload_session_id: 's0', pre_signed_urls: [] } }
  const first = createFarEnd({
    journal,
    service: ({ method }) => (method === 'DELETE' ? { status: 409 } : bad),
    storage: goodStorage,
  })
  const upload = first.uplink.uploadVideos({ ...VIDEO, files })
  await first.settled(endOf(upload))
  const next = createFarEnd({ journal, service, storage: unanswered })
  await next.uplink.resume(upload.key, { source: ({ fileIndex }) => files[fileIndex]!.source })
  await next.clock.advance(1_000)
  await next.settled(next.uplink.close())

  expect(next.requests.map(({ method }) => method)).toEqual(['POST', 'PUT', 'PUT'])
  expect(await next.uplink.sessions()).toMatchObject([{ status: 'open', leftSessionIds: ['s0'] }])
})

it('a source that cannot be looked at fails the upload before anything is begun', async () => {
  const { uplink, settled, requests } = createFarEnd({ service, storage: goodStorage })
  const describe = () => Promise.reject(new UploadError('ERR_UPLOAD_SOURCE_READ', 'It is gone.'))
  const { error } = await settled(
    endOf(uplink.uploadVideos({ ...VIDEO, files: [{ source: { ...files[0]!.source, describe } }] })),
  )

  expect([error, requests]).toMatchObject([{ code: 'ERR_UPLOAD_SOURCE_READ' }, []])
})

it('an upload says how much there is to do as soon as that is known', async () => {
  const { uplink, settled, clock } = createFarEnd({
    service: () => new Promise<Answer>(() => undefined),
    storage: goodStorage,
  })
  const upload = uplink.uploadVideos({ ...VIDEO, files })
  await clock.advance(0)

  expect(upload.progress()).toMatchObject({ totalBytes: 6, confirmedBytes: 0, filesTotal: 2 })
  await settled(uplink.close())
})

it('the journal keeps where each source is found again, or else its name', async () => {
  const journal = memoryJournal()
  const { uplink, settled } = createFarEnd({ journal, service, storage: goodStorage })
  const found = { ...bytesSource('c.mp4', new Uint8Array(3)), location: '/night/c.mp4' }
  const upload = uplink.uploadVideos({ ...VIDEO, files: [...files, { source: found }] })
  await settled(upload.done())

  expect((await journal.read(upload.key))[0]).toMatchObject({ locations: ['a.mp4', 'b.mp4', '/night/c.mp4'] })
})

describe('the sources of a host at the end', () => {
  const disposed = (dispose: () => Promise<void>) => {
    const far = createFarEnd({ service, storage: goodStorage })
    const sources = files.map(({ source }) => ({ source: { ...source, dispose } }))
    return { ...far, upload: far.uplink.uploadVideos({ ...VIDEO, files: sources }) }
  }

  it('are freed before it is told', async () => {
    let freed = 0
    const { upload, settled, clock } = disposed(async () => {
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, 10_000))
      freed += 1
    })

    await settled(upload.done())
    expect(freed).toBe(2)
  })

  it.each([
    ['never come to an end', () => new Promise<void>(() => undefined), 15_000],
    ['fail', () => Promise.reject(new Error('stuck')), 0],
  ] as const)('may %s: it is told all the same', async (_, dispose, afterMs) => {
    const { upload, settled, clock } = disposed(dispose)

    const report = await settled(upload.done())

    expect(report.status).toBe('confirmed')
    expect(report.error).toBeUndefined()
    expect(clock.monotonicNow()).toBeLessThanOrEqual(afterMs + 1_000)
  })
})

it('the journal, and the receipt from it, have the digest of the whole file where it was asked for', async () => {
  const sha256 = sha256Hasher()
  const { uplink, settled } = createFarEnd({ service, storage: goodStorage, verify: 'full', contentHasher: sha256 })
  const upload = uplink.uploadVideos({ ...VIDEO, files: files.slice(0, 1) })
  await settled(upload.done())

  const digest = '709e80c88487a2411e1ee4dfb9f22a861492d20c4765150c0c794abd70f8147c'
  expect((await uplink.receipt(upload.key)).files).toMatchObject([{ sha256: digest }])
})
