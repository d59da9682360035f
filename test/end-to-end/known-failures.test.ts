// Failures of other upload engines, as their users met them: each test would fail if this engine had the same one.
// docs/known-failures.md lists them all, with the tests that stand elsewhere.

import { createHash } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'

import type { Source } from '../../src/node.ts'
import type { RequestRecord } from '../helpers/independent-records.ts'
import { hastyClock } from '../../src/testing/hasty-clock.ts'
import { bytesOf, CAPTURE, expectStored, MIB, sample, startRig, VIDEO, type Sample } from './rig.ts'

/** A source of a host's own: no Blob, no file, no stream; its bytes come when they come, and not before `gate`. */
function ownSource(
  name: string,
  sizeBytes: number,
  seed: number,
  gate?: Promise<void>,
): Sample & { readonly readBytes: () => number } {
  const bytes = bytesOf(sizeBytes, seed)
  let readBytes = 0
  const source: Source = {
    name,
    describe: () => Promise.resolve({ sizeBytes }),
    open: () =>
      Promise.resolve({
        async read(into, at) {
          await new Promise((resolve) => setImmediate(resolve))
          await gate
          into.set(bytes.subarray(at, at + into.byteLength))
          readBytes += into.byteLength
        },
        verify: () => Promise.resolve(),
        close: () => Promise.resolve(),
      }),
  }
  return { source, sha256: createHash('sha256').update(bytes).digest('hex'), readBytes: () => readBytes }
}

const isOpen = ({ ending }: RequestRecord): boolean => ending === 'open'

it('pause and resume in one breath, with parts in flight, send no byte under another range and end once', async () => {
  // So slowly that parts are in flight at each pause, however late it comes.
  const rig = await startRig({}, { concurrency: 3, limitRate: 1_000_000 })
  const files = [sample('a.mp4', 37 * MIB, 1), sample('b.mp4', 11 * MIB, 2)]
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
  const ends: string[] = []
  upload.on('state', ({ state }) => {
    if (state === 'confirmed') ends.push(state)
  })

  for (let time = 0; time < 5; time += 1) {
    await expect.poll(() => rig.uplink.stats().inFlight).toBeGreaterThan(0)
    upload.pause()
    upload.resume()
  }
  rig.uplink.limitRate('off')
  const report = await upload.done()

  expect(report.files.map(({ status, verified }) => [status, verified])).toEqual([
    ['confirmed', true],
    ['confirmed', true],
  ])
  expectStored(rig, files)
  expect(ends).toEqual(['confirmed'])
  expect(rig.service.requestsOf('confirm')).toHaveLength(2)
  // Each pause ends the three attempts under way, and only those go again: a second loop would send everything twice.
  expect(rig.service.requestsOf('put').length).toBeLessThanOrEqual(11 + 5 * 3)
})

it('a file without bytes is sent and confirmed, and no success without a request', async () => {
  const rig = await startRig()
  const files = [sample('empty.mp4', 0), sample('a.mp4', 10)]

  const report = await rig.uplink.uploadVideos({ ...VIDEO, files }).done()

  expect(report.files.map(({ status }) => status)).toEqual(['confirmed', 'confirmed'])
  expectStored(rig, files)
  expect(
    rig.service
      .requestsOf('put')
      .map(({ bodyBytes }) => bodyBytes)
      .toSorted(),
  ).toEqual([0, 10])
})

it('a storage that tired of waiting for the body, and says so as 400 or 409, is tried again', async () => {
  const refusal = (status: number, code: string) =>
    ({ status, headers: { 'content-type': 'application/xml' }, body: `<Error><Code>${code}</Code></Error>` }) as const
  const fault = { operation: 'put', fileName: 'a.mp4', partNumber: 2 } as const
  const rig = await startRig({
    faults: [
      { ...fault, nth: 1, action: refusal(400, 'RequestTimeout') },
      { ...fault, nth: 2, action: refusal(409, 'OperationAborted') },
      { ...fault, nth: 3, action: refusal(408, 'Timeout') },
    ],
  })
  const files = [sample('a.mp4', 11 * MIB)]

  const report = await rig.uplink.uploadVideos({ ...VIDEO, files }).done()

  expect(report.status).toBe('confirmed')
  expectStored(rig, files)
})

it('a storage that never gives an ETag fails the file after its attempts, and only that one', async () => {
  const silent = { operation: 'put', nth: 'every', fileName: 'a.mp4', action: { status: 200 } } as const
  const rig = await startRig({ faults: [silent] }, { retries: 3 })

  const report = await rig.uplink.uploadVideos({ ...VIDEO, files: [sample('a.mp4', 10), sample('b.mp4', 10)] }).done()

  expect(report.files).toMatchObject([
    {
      status: 'failed',
      error: {
        code: 'ERR_UPLOAD_ETAG_MISSING',
        message: expect.stringMatching(/^a\.mp4: Gave up after 3 attempts\. .*without giving an ETag/) as string,
      },
    },
    { status: 'confirmed' },
  ])
  const puts = rig.service.requestsOf('put').map(({ fileName, status }) => [fileName, status])
  expect(puts.filter(([fileName]) => fileName === 'a.mp4')).toEqual(Array(3).fill(['a.mp4', 200]))
  expect(rig.service.requestsOf('confirm')).toHaveLength(1)
})

it('one large file has all the connections that there are', async () => {
  // So slowly that a part is still on its way when the last connection opens, however busy the machine is.
  const rig = await startRig({}, { concurrency: 6, limitRate: 1_000_000 })
  const files = [sample('a.mp4', 60 * MIB)]
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files })

  await expect.poll(() => rig.service.requestsOf('put').filter(isOpen)).toHaveLength(6)
  rig.uplink.limitRate('off')
  await upload.done()

  expect(rig.service.records.maxPutsInFlight).toBe(6)
  expectStored(rig, files)
})

it('a cancel ends what is on the network before it settles, and nothing lands or begins later', async () => {
  // So slowly that all are in the middle of their bodies; a far end that stalls would not notice that they were reset.
  const rig = await startRig({}, { concurrency: 4, limitRate: 1_000_000 })
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files: [sample('a.mp4', 40 * MIB)] })
  await expect.poll(() => rig.service.requestsOf('put').filter(isOpen)).toHaveLength(4)

  await upload.cancel()
  const begun = rig.service.requestsOf('put').length

  await expect.poll(() => rig.service.requestsOf('put').filter(isOpen)).toEqual([])
  expect(rig.service.requestsOf('put')).toHaveLength(begun)
  expect(rig.service.storedFiles().flatMap(({ parts }) => parts)).toEqual([])
})

it('addresses are asked for together: forty parts cost one call, and sixty captures two', async () => {
  const rig = await startRig({ minPartBytes: 1 })
  const captures = Array.from({ length: 60 }, (_, index) => sample(`play-${String(index)}.action`, 100, index))

  const unitLimits = { minBytes: 1, maxBytes: MIB, maxCount: 10_000, multipleOfBytes: 1 }
  const parts = { partSizeBytes: 1_000, unitLimits }
  await rig.uplink.uploadVideos({ ...VIDEO, files: [sample('a.mp4', 40_000)], ...parts }).done()
  await rig.uplink.uploadCaptures({ ...CAPTURE, kind: 'tracking', files: captures, batchSize: 50 }).done()

  expect(rig.service.requestsOf('put')).toHaveLength(100)
  expect(rig.service.requestsOf('create')).toHaveLength(1)
  expect(rig.service.requestsOf('register')).toHaveLength(2)
})

it('a call for addresses that fails is repeated, and no file is left without its turn', async () => {
  const faults = ([{ status: 503 }, 'loseReply', 'html500', { status: 429 }] as const).map((action, index) => ({
    ...({ operation: 'register', nth: 2 * index + 1, action } as const),
  }))
  const rig = await startRig({ faults })
  const files = Array.from({ length: 12 }, (_, index) => sample(`play-${String(index)}.action`, 50, index))

  const report = await rig.uplink.uploadCaptures({ ...CAPTURE, kind: 'tracking', files, batchSize: 3 }).done()

  expect(report.status).toBe('confirmed')
  expectStored(rig, files)
})

it('with more files than places, each begins as soon as one ends, is read once and sent once', async () => {
  const rig = await startRig({}, { concurrency: 4 })
  let open: () => void = () => undefined
  // The first one is slow: it has bytes only when all others are stored, so nobody may wait for it.
  const gate = new Promise<void>((resolve) => (open = resolve))
  const files = Array.from({ length: 30 }, (_, index) =>
    ownSource(`play-${String(index).padStart(2, '0')}.action`, 200_000, index, index === 0 ? gate : undefined),
  )

  const upload = rig.uplink.uploadCaptures({ ...CAPTURE, kind: 'tracking', files })
  upload.on('file', () => {
    if (upload.progress().filesConfirmed === 29) open()
  })
  const report = await upload.done()

  expect(report.status).toBe('confirmed')
  expectStored(rig, files)
  expect(files.map(({ readBytes }) => readBytes())).toEqual(files.map(() => 200_000))
  expect(rig.service.requestsOf('put')).toHaveLength(30)
})

it('files of one name in one upload arrive each for itself', async () => {
  const rig = await startRig()
  const files = [sample('a.mp4', 10, 1), sample('a.mp4', 10, 2), sample('a.mp4', 11 * MIB, 3)]

  const report = await rig.uplink.uploadVideos({ ...VIDEO, files }).done()

  expect(report.status).toBe('confirmed')
  expect(rig.service.storedFiles().map(({ sha256, isConfirmed }) => [sha256, isConfirmed])).toEqual(
    files.map(({ sha256 }) => [sha256, true]),
  )
})

it('bytes may come from anything that can be read: parts of a source of the host’s own are stored as they are', async () => {
  const rig = await startRig()
  const files = [ownSource('a.mp4', 11 * MIB + 3, 1)]

  const report = await rig.uplink.uploadVideos({ ...VIDEO, files }).done()

  expect(report.files[0]).toMatchObject({ status: 'confirmed', verified: true, parts: 3 })
  expectStored(rig, files)
})

it('a token that dies when all bytes are there costs a new token and no byte', async () => {
  const dead = { operation: 'confirm', nth: 1, action: { status: 401 } } as const
  const asked: string[] = []
  const rig = await startRig({ faults: [dead], bearerHeader: 'authorization' })
  const { createUplink } = await import('../../src/node.ts')
  const accessToken = () => {
    asked.push('token')
    return Promise.resolve(rig.service.token)
  }
  const uplink = createUplink({ baseUrl: rig.service.url, credentials: { accessToken } })
  const files = [sample('a.mp4', 11 * MIB)]

  const report = await uplink.uploadVideos({ ...VIDEO, files }).done()
  await uplink.close()

  expect(report.status).toBe('confirmed')
  expectStored(rig, files)
  expect(asked).toHaveLength(2)
  expect(rig.service.requestsOf('put')).toHaveLength(3)
  expect(rig.service.requestsOf('confirm').map(({ status }) => status)).toEqual([401, 200])
})

it('addresses that die when all bytes are there are not needed any more: the file is confirmed', async () => {
  const clock = hastyClock()
  let laterMs = 0
  const shifted = { ...clock, wallNow: () => clock.wallNow() + laterMs }
  const busy = { operation: 'confirm', nth: 1, action: { status: 503 } } as const
  const rig = await startRig({ addressLifetimeSeconds: 600, faults: [busy] }, { clock: shifted })
  const files = [sample('a.mp4', 100)]
  const upload = rig.uplink.uploadVideos({ ...VIDEO, files })
  upload.on('file', ({ state }) => {
    if (state === 'confirming') laterMs = 3_600_000
  })

  const report = await upload.done()

  expect([report.status, laterMs]).toEqual(['confirmed', 3_600_000])
  expectStored(rig, files)
  expect(rig.service.requestsOf('create')).toHaveLength(1)
  expect(rig.service.requestsOf('confirm').map(({ status }) => status)).toEqual([503, 200])
})

it('what fails or is let go while nobody waits for it ends no process', async () => {
  const unhandled: unknown[] = []
  const hear = (reason: unknown): number => unhandled.push(reason)
  process.on('unhandledRejection', hear)
  onTestFinished(() => void process.off('unhandledRejection', hear))
  const refusing = { nth: 'every', action: { status: 400 } } as const
  const faults = (['create', 'register', 'createAnalysis'] as const).map((operation) => ({ operation, ...refusing }))
  const rig = await startRig({ faults })
  const files = [sample('a.action', 10)]
  const { uplink } = rig

  const failing = [
    uplink.uploadVideos({ ...VIDEO, files }),
    uplink.uploadCaptures({ ...CAPTURE, kind: 'tracking', files }),
  ]
  const analysis = uplink.requestAnalysis({ name: 'n', primary: { segmentId: 7 } })
  await expect.poll(() => [...failing, analysis].map(({ state }) => state)).toEqual(['failed', 'failed', 'failed'])
  for (const signal of [AbortSignal.abort(), undefined]) uplink.uploadVideos({ ...VIDEO, files, signal })
  await uplink.close()
  await new Promise((resolve) => setImmediate(resolve))

  expect(unhandled).toEqual([])
})
