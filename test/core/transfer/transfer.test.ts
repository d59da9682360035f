// What happens to parts, files and sessions when things go wrong: retries, outages, failures, renewals, confirmations.

import { describe, expect, it } from 'vitest'
import { UploadError } from '../../../src/core/errors.ts'
import type { TransferEvent } from '../../../src/core/transfer/transfer-job.ts'
import type { Fault, StoreRequest } from '../../simulation/object-store.ts'
import { addressesOf, testProtocol } from '../../simulation/test-protocol.ts'
import type { WatchedSource } from '../../simulation/watched-source.ts'
import { createWorld, type WorldOptions } from '../../simulation/world.ts'

const signal = (): AbortSignal => new AbortController().signal

describe('a part that is taken in pieces', () => {
  it('tells of each piece as received, and of no more than that', async () => {
    const world = createWorld({ fault: nth([{ kind: 'partial', share: 0.4 }]) })
    const job = world.job({ sources: world.sources([100]) })

    await world.until(world.engine.run(job, signal()))

    const received = job.events.flatMap((event) => (event.type === 'received' ? [event.unit] : []))
    expect(received.map(({ start, end }) => [start, end])).toEqual([
      [0, 40],
      [40, 100],
    ])
  })

  it('has no digest: that of its last piece is not that of its bytes', async () => {
    const world = createWorld({ fault: nth([{ kind: 'partial', share: 0.4 }]), hashMs: () => 0 })
    const job = world.job({ sources: world.sources([100, 100]) })

    await world.until(world.engine.run(job, signal()))

    const receipts = job.ledger.files.map(({ parts }) => parts[0]?.receipt)
    expect(receipts).toMatchObject([
      { acceptedEnd: 100, isVerified: false },
      { acceptedEnd: 100, isVerified: true },
    ])
    expect(receipts.map((receipt) => receipt?.md5?.length)).toEqual([undefined, 32])
  })
})

describe('a part that must be sent again', () => {
  it('waits with full jitter between attempts, on its own connection after an answer and a fresh one after none', async () => {
    const world = createWorld({
      fault: nth([
        { kind: 'status', status: 500 },
        { kind: 'reset', share: 0.5 },
        { kind: 'status', status: 502 },
      ]),
    })
    const job = world.job({ sources: world.sources([100]) })

    await world.until(world.engine.run(job, signal()))

    // With chance at one half: half of 500, of 1,000, of 2,000 ms.
    expect(world.store.requests.map(({ atMs, isFreshConnection }) => [atMs, isFreshConnection])).toEqual([
      [0, false],
      [250, false],
      [750, true],
      [1_750, false],
    ])
    expect(delays(job.events)).toEqual([250, 500, 1_000])
  })

  it('waits as long as the storage asks, and a little more so that not all come back at once', async () => {
    const world = createWorld({ fault: nth([{ kind: 'status', status: 503, headers: { 'retry-after': '7' } }]) })
    const job = world.job({ sources: world.sources([100]) })

    await world.until(world.engine.run(job, signal()))

    // Seven seconds and, with chance at one half, five per cent.
    expect(world.store.requests.map(({ atMs }) => atMs)).toEqual([0, 7_350])
  })

  it('holds neither a slot nor a window while it waits', async () => {
    const world = createWorld({
      engine: { concurrency: 1 },
      fault: ({ fileIndex, atMs }) =>
        fileIndex === 0 && atMs < 10_000
          ? { kind: 'status', status: 503, headers: { 'retry-after': '20' } }
          : undefined,
    })
    const job = world.job({ sources: world.sources([100, 100, 100]) })

    await world.until(world.engine.run(job, signal()))

    expect(world.store.requests.map(({ fileIndex, atMs }) => [fileIndex, atMs])).toEqual([
      [0, 0],
      [1, 0],
      [2, 0],
      [0, 21_000],
    ])
  })

  it('fails its file when its attempts are used up, with the last answer as reason', async () => {
    const world = createWorld({
      engine: { retries: 3 },
      fault: ({ fileIndex }) => (fileIndex === 0 ? { kind: 'status', status: 500, code: 'InternalError' } : undefined),
    })
    const job = world.job({ sources: world.sources([100, 100]) })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 1 })

    expect(world.store.requests.filter(({ fileIndex }) => fileIndex === 0)).toHaveLength(3)
    expect(job.ledger.files[0]!.error).toEqual({
      code: 'ERR_UPLOAD_RETRIES_EXHAUSTED',
      status: 500,
      message: expect.stringMatching(/^file-0\.bin: Gave up after 3 attempts\. .*500 InternalError/) as string,
      ...{ file: 'file-0.bin', partNumber: 1, attempt: 3 },
    })
  })

  it('is asked for with fewer others at once where all files together fail too often', async () => {
    const seen = new Set<number>()
    const world = createWorld({
      answerMs: 10,
      engine: { concurrency: 16 },
      fault: ({ fileIndex }) => {
        const isFirst = !seen.has(fileIndex)
        seen.add(fileIndex)
        return isFirst ? { kind: 'status', status: 500 } : undefined
      },
    })
    const job = world.job({ sources: world.sources(Array.from({ length: 64 }, () => 10)) })

    await world.until(world.engine.run(job, signal()))

    expect(delays(job.events)).toEqual(Array.from({ length: 64 }, () => 250))
    // Sixteen, of which five failures mean nothing; then half of them, and half again. What starts at the very time of an answer
    // counts to the round before, so that each half is asked twice here.
    const firsts = world.store.requests.filter(({ atMs }) => atMs < 250).length
    expect(firsts).toBeLessThanOrEqual(16 + 5 + 2 * (8 + 4 + 2 + 1))
  })

  it('is recorded as doubtful before its next attempt begins', async () => {
    const order: string[] = []
    const world = createWorld({
      fault: () => {
        order.push(`attempt ${String(order.filter((line) => line.startsWith('attempt')).length + 1)}`)
        return order.length === 1 ? { kind: 'lostAnswer', isStored: true } : undefined
      },
    })
    const job = world.job({ sources: world.sources([100]), onRecord: ({ type }) => void order.push(type) })

    await world.until(world.engine.run(job, signal()))

    expect(order).toEqual([
      'attempt 1',
      'part.doubtful',
      'attempt 2',
      'part.received',
      'file.confirming',
      'file.confirmed',
    ])
  })

  it.each([
    ['connect', { kind: 'connect' }, 0],
    ['reset', { kind: 'reset', share: 0.3 }, 0],
    ['doubtful', { kind: 'lostAnswer', isStored: false }, 1],
  ] as const)('is doubtful only when its whole body was handed over: %s', async (_, fault, count) => {
    const world = createWorld({ fault: nth([fault]) })
    const job = world.job({ sources: world.sources([100]) })

    await world.until(world.engine.run(job, signal()))

    expect(job.records.filter(({ type }) => type === 'part.doubtful')).toHaveLength(count)
  })
})

describe('a host that cannot be reached', () => {
  it('costs no attempt where not even a connection was made', async () => {
    const world = createWorld({ engine: { retries: 1 }, fault: nth([{ kind: 'connect' }, { kind: 'connect' }]) })

    const run = world.engine.run(world.job({ sources: world.sources([100]) }), signal())

    expect(await world.until(run)).toEqual({ confirmedCount: 1, failedCount: 0 })
  })

  it('uses up no attempts, is told with wall times, probed with one part at growing intervals, and told when back', async () => {
    const world = createWorld({
      engine: { retries: 2, concurrency: 3 },
      fault: ({ atMs }) => (atMs < 20_000 ? { kind: 'connect' } : undefined),
    })
    const startMs = world.clock.wallNow()
    const job = world.job({ sources: world.sources([100, 100, 100, 100]) })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 4, failedCount: 0 })

    const told = job.events.filter(({ type }) => type === 'unreachable' || type === 'reachable')
    // Probes at 0.9 of 1, 2, 4, 8, 16 s after one another, with chance at one half.
    const away = {
      type: 'unreachable',
      who: 'storage',
      host: 'store.test:443',
      sinceMs: startMs,
      giveUpAtMs: startMs + 3_600_000,
    }
    expect(told).toEqual([
      { ...away, untilMs: startMs + 900 },
      { ...away, untilMs: startMs + 2_700 },
      { ...away, untilMs: startMs + 6_300 },
      { ...away, untilMs: startMs + 13_500 },
      { ...away, untilMs: startMs + 27_900 },
      { type: 'reachable' },
    ])
    const probes = world.store.requests.slice(3).map(({ atMs }) => atMs)
    expect(probes).toEqual([900, 2_700, 6_300, 13_500, 27_900, 27_900, 27_900, 27_900])
  })

  it('is not there because a thread of ours lost a digest: that uses up an attempt and says nothing of the host', async () => {
    const noConnection = { kind: 'connect' } as const
    let updates = 0
    const world = createWorld({
      fault: nth([noConnection, noConnection, undefined, noConnection]),
      engine: {
        hasher: {
          start: () => ({
            update() {
              updates += 1
              const error = new UploadError('ERR_UPLOAD_INTERNAL', 'The thread ended.', { isRetryable: true })
              return updates === 1 ? Promise.reject(error) : undefined
            },
            digest: () => Promise.resolve(undefined as never),
          }),
        },
      },
    })
    const job = world.job({ sources: world.sources([100]) })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 0 })

    const told = job.events.flatMap(({ type }) => (type === 'retry' || type === 'unreachable' ? [type] : []))
    expect(updates).toBe(2)
    expect(told).toEqual(['retry', 'retry', 'retry', 'unreachable', 'retry'])
  })

  it('ends the session after the time that the host was given, and only a probe may say so', async () => {
    const world = createWorld({ engine: { giveUpAfterMs: 60_000 }, fault: () => ({ kind: 'connect' }) })
    const job = world.job({ sources: world.sources([100, 100]) })

    const run = world.engine.run(job, signal())

    await expect(world.until(run)).rejects.toMatchObject({
      code: 'ERR_UPLOAD_HOST_UNREACHABLE',
      message:
        'The storage store.test:443 could not be reached for 60 s. Check the network, then resume the upload. ' +
        'The last failure: The connection broke.',
      cause: { code: 'ERR_UPLOAD_NETWORK' },
    })
    expect(job.ledger.files.map(({ state }) => state)).toEqual(['ready', 'ready'])
    expect(world.clock.pending).toBe(0)
  })

  it('is not said to be out of reach where it takes connections and answers nothing', async () => {
    const world = createWorld({
      engine: { giveUpAfterMs: 60_000 },
      fault: () => ({ kind: 'lostAnswer', isStored: false }),
    })
    const job = world.job({ sources: world.sources([100, 100]) })

    await expect(world.until(world.engine.run(job, signal()))).rejects.toMatchObject({
      code: 'ERR_UPLOAD_HOST_UNREACHABLE',
      message: expect.stringMatching(/^The storage store\.test:443 gave no answer for 60 s\./) as string,
    })
  })

  it('is there when its answer cannot be read: that uses up attempts, and no time of waiting for it', async () => {
    const world = createWorld({ engine: { retries: 3 }, fault: () => ({ kind: 'unreadable' }) })
    const job = world.job({ sources: world.sources([100, 100, 100, 100]) })

    await world.until(world.engine.run(job, signal()))

    expect(job.events.filter(({ type }) => type === 'unreachable')).toEqual([])
    expect(job.ledger.files.map(({ error }) => error)).toMatchObject(
      Array.from({ length: 4 }, () => ({ code: 'ERR_UPLOAD_RETRIES_EXHAUSTED', partNumber: 1, attempt: 3 })),
    )
  })

  it('gets the pause that it asks for when that is longer than a part waits, and answers meanwhile do not end it', async () => {
    const world = createWorld({
      answerMs: 100,
      fault: ({ fileIndex, atMs }) =>
        fileIndex === 0 && atMs === 0 ? { kind: 'status', status: 503, headers: { 'retry-after': '600' } } : undefined,
      engine: { concurrency: 2 },
      windowMs: 0,
    })
    const job = world.job({ sources: world.sources([100, 100, 100]), partSizeBytes: 50 })

    await world.until(world.engine.run(job, signal()))

    const later = world.store.requests.filter(({ atMs }) => atMs > 0)
    expect(later.length).toBeGreaterThan(0)
    expect(Math.min(...later.map(({ atMs }) => atMs))).toBeGreaterThanOrEqual(630_000)
    expect(job.events.map(({ type }) => type).filter((type) => type.endsWith('reachable'))).toEqual([
      'unreachable',
      'reachable',
    ])
  })

  it('is asked again when one would give it up, also where it asked for more, and that is the time that is told', async () => {
    const world = createWorld({
      engine: { giveUpAfterMs: 60_000 },
      fault: nth([{ kind: 'status', status: 503, headers: { 'retry-after': '1200' } }]),
    })
    const job = world.job({ sources: world.sources([100]) })

    await world.until(world.engine.run(job, signal()))

    expect(world.store.requests.map(({ atMs }) => atMs)).toEqual([0, 60_000])
    const told = job.events.flatMap((event) => (event.type === 'unreachable' ? [event.untilMs - event.sinceMs] : []))
    expect(told).toEqual([60_000])
    expect(delays(job.events)).toEqual([60_000])
  })
})

describe('a file that fails', () => {
  it('takes its own attempts down and no others, and nothing of it is sent again', async () => {
    const world = createWorld({
      windowMs: 1_000,
      engine: { concurrency: 6 },
      fault: ({ fileIndex, partNumber }) => {
        if (fileIndex !== 0) return undefined
        if (partNumber <= 2) return { kind: 'status', status: 403, code: 'AccessDenied' }
        return partNumber === 3 ? { kind: 'status', status: 500 } : { kind: 'silence', phase: 'answer' }
      },
    })
    // Its failure is slow to become durable, so that the answer 500 comes while it is being written.
    const pass = (ms: number): Promise<void> => new Promise((resolve) => world.clock.setTimeout(resolve, ms))
    const job = world.job({
      sources: world.sources([500, 300]),
      partSizeBytes: 100,
      onRecord: ({ type }) => (type === 'file.failed' ? pass(5_000) : undefined),
    })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 1 })

    const ofFirst = world.store.requests.filter(({ fileIndex }) => fileIndex === 0)
    expect(ofFirst.map(({ partNumber }) => partNumber)).toEqual([1, 2, 3, 4, 5])
    expect(job.records.filter(({ type }) => type === 'file.failed')).toHaveLength(1)
    expect(world.clock.monotonicNow()).toBeLessThan(20_000)
  })

  it('has none of its parts sent that were not under way', async () => {
    const world = createWorld({
      engine: { concurrency: 1 },
      fault: ({ fileIndex }) => (fileIndex === 0 ? { kind: 'status', status: 403, code: 'AccessDenied' } : undefined),
    })
    const job = world.job({ sources: world.sources([500, 600]), partSizeBytes: 100 })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 1 })

    const ofFirst = world.store.requests.filter(({ fileIndex }) => fileIndex === 0)
    expect(ofFirst.map(({ partNumber }) => partNumber)).toEqual([1])
  })

  it('fails once when several of its parts are refused at the same time', async () => {
    const world = createWorld({ fault: () => ({ kind: 'status', status: 403, code: 'AccessDenied' }) })
    const job = world.job({ sources: world.sources([400]), partSizeBytes: 100 })

    await world.until(world.engine.run(job, signal()))

    expect(job.records.filter(({ type }) => type === 'file.failed')).toHaveLength(1)
  })

  it('fails alone when its source changes midway', async () => {
    const world = createWorld({ windowMs: 100, engine: { concurrency: 2 } })
    const sources = world.sources([1_000, 1_000])
    const job = world.job({ sources, partSizeBytes: 100 })
    world.clock.setTimeout(() => sources[0]!.change(), 250)

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 1 })

    expect(job.ledger.files[0]!.error).toEqual({
      code: 'ERR_UPLOAD_SOURCE_CHANGED',
      message: 'file-0.bin: The file has changed.',
      file: 'file-0.bin',
    })
    expect(world.store.content(1, 1_000)).toEqual(sources[1]!.bytes)
    expect(sources.map(({ openCount }) => openCount)).toEqual([0, 0])
  })

  it('fails alone when it cannot be opened, also with an error that is not ours, or cannot be closed', async () => {
    const world = createWorld()
    const [good, bad, clumsy] = world.sources([100, 100, 100])
    const sources = [
      good!,
      { ...bad!, open: () => Promise.reject(new Error('EACCES')) },
      {
        ...clumsy!,
        open: async (expected: { sizeBytes: number }) => ({
          ...(await clumsy!.open(expected)),
          close: () => Promise.reject(new Error('EBADF')),
        }),
      },
    ]
    const job = world.job({ sources })

    await world.until(world.engine.run(job, signal()))

    expect(job.ledger.files.map(({ state }) => state)).toEqual(['confirmed', 'failed', 'confirmed'])
    expect(job.ledger.files[1]!.error).toEqual({
      code: 'ERR_UPLOAD_SOURCE_READ',
      message: 'file-1.bin: It could not be read: EACCES',
      file: 'file-1.bin',
    })
  })

  it('fails after its digest was wrong again and again, saying why that may be', async () => {
    const world = createWorld({ hashMs: () => 0, engine: { retries: 2 }, fault: () => ({ kind: 'wrongEtag' }) })
    const job = world.job({ sources: world.sources([100]) })

    await world.until(world.engine.run(job, signal()))

    expect(world.store.requests).toHaveLength(2)
    expect(job.ledger.files[0]!.error?.message).toMatch(/Gave up after 2 attempts.*encrypts.*verify: off/)
  })

  it('fails when no success for it is ever believed, because it comes before the body', async () => {
    const world = createWorld({ engine: { retries: 3 }, fault: () => ({ kind: 'early' }) })
    const job = world.job({ sources: world.sources([100]) })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 0, failedCount: 1 })
    expect(world.store.requests).toHaveLength(3)
    expect(job.ledger.files[0]!.error?.message).toMatch(/Gave up after 3 attempts.* before all of it was sent\.$/)
    expect(job.ledger.files[0]!.receivedCount).toBe(0)
  })

  it('fails for a missing ETag after one attempt', async () => {
    const world = createWorld({ fault: () => ({ kind: 'noEtag' }) })
    const job = world.job({ sources: world.sources([100]) })

    await world.until(world.engine.run(job, signal()))

    expect([world.store.requests.length, job.ledger.files[0]!.error?.code]).toEqual([1, 'ERR_UPLOAD_ETAG_MISSING'])
  })
})

describe('addresses that are no longer taken', () => {
  it('are renewed once for all parts of a file that found them refused', async () => {
    let renewals = 0
    const world = createWorld({
      answerMs: 50,
      engine: { concurrency: 8 },
      fault: ({ generation }) =>
        generation === 1 ? { kind: 'status', status: 403, code: 'RequestExpired' } : undefined,
    })
    const renew = async (): Promise<boolean> => {
      renewals += 1
      await new Promise<void>((resolve) => world.clock.setTimeout(resolve, 500))
      return true
    }
    const job = world.job({ sources: world.sources([800]), partSizeBytes: 100, renew })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 0 })
    expect([renewals, world.store.requests.length]).toEqual([1, 16])
  })

  it('are not renewed again for a part whose refusal comes after the new ones', async () => {
    let renewals = 0
    const world = createWorld({
      windowMs: 20,
      engine: { concurrency: 2, memoryBytes: 4 * 64 * 1024 },
      fault: ({ generation }) =>
        generation === 1 ? { kind: 'status', status: 403, code: 'RequestExpired' } : undefined,
    })
    // Two windows in the first part, one in the second: its refusal comes 20 ms earlier.
    const sources = world.sources([131_073])
    const job = world.job({ sources, partSizeBytes: 65_537, renew: () => ((renewals += 1), true) })

    await world.until(world.engine.run(job, signal()))

    expect([renewals, world.store.requests.map(({ atMs }) => atMs)]).toEqual([1, [0, 0, 20, 40]])
  })

  it('move other files on although the file that asked for it has failed by then', async () => {
    const world = createWorld({
      windowMs: ({ fileIndex }) => (fileIndex === 0 ? 100 : 400),
      engine: { concurrency: 4 },
      fault: ({ fileIndex, partNumber }) => {
        if (fileIndex === 0 && partNumber === 1) return { kind: 'status', status: 403, code: 'RequestExpired' }
        // It fails while the new session is being made.
        if (fileIndex === 0) return { kind: 'status', status: 403, code: 'AccessDenied', afterMs: 300 }
        return undefined
      },
    })
    const job = world.job({
      sources: world.sources([200, 400]),
      partSizeBytes: 100,
      async renew() {
        await new Promise<void>((resolve) => world.clock.setTimeout(resolve, 500))
        await job.record({ type: 'session.replaced', sessionId: 2, files: [addressesOf(job.plans[1]!, 2)] })
        return false
      },
    })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 1 })
    expect(job.ledger.files[1]).toMatchObject({ generation: 1, state: 'confirmed' })
  })

  it('are not renewed for ever', async () => {
    const world = createWorld({
      engine: { retries: 4 },
      fault: () => ({ kind: 'status', status: 403, code: 'RequestExpired' }),
    })
    const job = world.job({ sources: world.sources([100]), renew: () => true })

    await world.until(world.engine.run(job, signal()))

    expect([world.store.requests.length, job.ledger.files[0]!.error?.code]).toEqual([4, 'ERR_UPLOAD_ADDRESS_EXPIRED'])
  })

  it('are renewed also for a part that is tried once only: one that died before anything was sent is no attempt', async () => {
    const world = createWorld({ engine: { retries: 1 } })
    const job = world.job({ sources: world.sources([100]), renew: () => true })
    const [file] = job.ledger.files
    file!.addresses = ['https://store.test/0/1?g=1&Expires=1']

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 0 })
    expect(world.store.requests).toHaveLength(1)
  })

  it('are renewed where they died on the way and the storage refuses them without a word of expiry, as Ceph does', async () => {
    const fault = (code: string) => ({ kind: 'status', status: 403, code }) as const
    const run = async (lifeMs: number) => {
      const world = createWorld({
        answerMs: 5_000,
        fault: ({ generation }) => (generation === 1 ? fault('AccessDenied') : undefined),
      })
      const job = world.job({ sources: world.sources([100]), renew: () => true })
      const deadline = Math.ceil((world.clock.wallNow() + lifeMs) / 1_000)
      job.ledger.files[0]!.addresses = [`https://store.test/0/1?g=1&Expires=${deadline}`]
      await world.until(world.engine.run(job, signal()))
      return job.ledger.files[0]!.state
    }

    expect(await run(4_000)).toBe('confirmed')
    expect(await run(60_000)).toBe('failed')
  })

  it('are dead by the time of the storage, as its answers tell it, and not by the clock of this machine', async () => {
    const run = async (aheadMs: number) => {
      const begin = createWorld().clock.wallNow()
      const date = new Date(begin + aheadMs).toUTCString()
      const busy = { kind: 'status', status: 503, headers: { date } } as const
      const world = createWorld({ fault: nth([busy]) })
      const job = world.job({ sources: world.sources([100]), renew: () => true })
      job.ledger.files[0]!.addresses = [`https://store.test/0/1?g=1&Expires=${begin / 1_000 + 60}`]
      await world.until(world.engine.run(job, signal()))
      return world.store.requests.map(({ generation }) => generation)
    }

    expect(await run(0)).toEqual([1, 1])
    expect(await run(120_000)).toEqual([1, 2])
  })

  it('must live through the longest attempt, once the storage refused as expired what was alive when it began', async () => {
    const run = async (code: string, turnMs: number) => {
      const world = createWorld({
        answerMs: 5_000,
        engine: { concurrency: 1 },
        fault: ({ fileIndex, partNumber, generation }) =>
          fileIndex === 0 && partNumber === 2 && generation === 1 ? { kind: 'status', status: 403, code } : undefined,
      })
      const job = world.job({ sources: world.sources([100, 150]), partSizeBytes: 50, renew: () => true })
      // At its turn the larger file has 6 s to live; attempts take 5 s, and 2 are kept back.
      const dies = (world.clock.wallNow() + turnMs) / 1_000 + 6
      for (const [index, file] of job.ledger.files.entries()) {
        const deadline = dies + (index === 0 ? 20 : 0)
        file.addresses = file.parts.map(
          (part) => `https://store.test/${index}/${part.partNumber}?g=1&Expires=${deadline}`,
        )
        file.addressedAtMs = world.clock.wallNow()
      }
      await world.until(world.engine.run(job, signal()))
      const ofLarger = world.store.requests.filter(({ fileIndex }) => fileIndex === 1)
      return ofLarger.map(({ atMs, generation }) => [atMs, generation])
    }

    expect((await run('RequestExpired', 15_000))[0]).toEqual([15_000, 2])
    expect((await run('RequestTimeout', 10_000))[0]).toEqual([10_000, 1])
  })

  it.each(['die', 'are renewed'])('are not sent to when they %s while their source is opened', async (what) => {
    const world = createWorld({
      engine: { retries: 1 },
      fault: ({ generation }) =>
        generation === 1 ? { kind: 'status', status: 403, code: 'RequestExpired' } : undefined,
    })
    const [slow] = world.sources([100])
    const error = new UploadError('ERR_UPLOAD_ADDRESS_EXPIRED', 'It has expired.')
    const reason = { isDead: false, error, lifeMs: undefined, signal: signal() }
    let openings = 0
    const source = Object.assign(Object.create(slow!) as WatchedSource, {
      async open(expected: Parameters<WatchedSource['open']>[0]) {
        openings += 1
        if (openings === 1) await new Promise<void>((resolve) => world.clock.setTimeout(resolve, 60_000))
        if (openings === 1 && what === 'are renewed') await job.renew(file!, reason)
        return slow!.open(expected)
      },
    })
    let renewals = 0
    const job = world.job({ sources: [source], renew: () => ((renewals += 1), true) })
    const [file] = job.ledger.files
    const expires = Math.round(world.clock.wallNow() / 1_000) + (what === 'die' ? 30 : 3_600)
    file!.addresses = [`https://store.test/0/1?g=1&Expires=${String(expires)}`]

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 0 })
    expect([renewals, world.store.requests.length, slow!.openCount]).toEqual([1, 1, 0])
  })

  it('are renewed once where an earlier life failed by their refusal, for all parts that had begun with them', async () => {
    const run = async (goodGeneration: number) => {
      let renewals = 0
      const world = createWorld({
        windowMs: 20,
        engine: { concurrency: 2, memoryBytes: 4 * 64 * 1024, retries: 1 },
        fault: ({ generation }) =>
          generation < goodGeneration ? { kind: 'status', status: 403, code: 'AccessDenied' } : undefined,
      })
      // Two windows in the first part, one in the second: its refusal comes 20 ms earlier.
      const sources = world.sources([131_073])
      const job = world.job({ sources, partSizeBytes: 65_537, renew: () => ((renewals += 1), true) })
      const file = job.ledger.files[0]!
      file.addressesWere = 'refused'
      await world.until(world.engine.run(job, signal()))
      return [file.state, file.error?.code, renewals]
    }

    expect(await run(2)).toEqual(['confirmed', undefined, 1])
    expect(await run(9)).toEqual(['failed', 'ERR_UPLOAD_ADDRESS_REFUSED', 1])
  })

  it('fail their file alone when they cannot be renewed, and the session when the credentials are refused', async () => {
    const run = async (code: 'ERR_UPLOAD_SERVICE_REFUSED' | 'ERR_UPLOAD_CREDENTIALS_REFUSED') => {
      const fault = ({ fileIndex }: StoreRequest): Fault | undefined =>
        fileIndex === 0 ? { kind: 'status', status: 403, code: 'RequestExpired' } : undefined
      const world = createWorld({ fault })
      const renew = () => Promise.reject(new UploadError(code, 'No.'))
      return world.until(world.engine.run(world.job({ sources: world.sources([100, 100]), renew }), signal()))
    }

    expect(await run('ERR_UPLOAD_SERVICE_REFUSED')).toEqual({ confirmedCount: 1, failedCount: 1 })
    await expect(run('ERR_UPLOAD_CREDENTIALS_REFUSED')).rejects.toMatchObject({
      code: 'ERR_UPLOAD_CREDENTIALS_REFUSED',
    })
  })
})

describe('files whose receipts are complete', () => {
  it('send exactly the parts again that were voided, and are confirmed again', async () => {
    const world = createWorld()
    let asked = 0
    const job = world.job({
      sources: world.sources([500]),
      partSizeBytes: 100,
      confirm: () => ((asked += 1), asked === 1 ? [2, 4] : []),
    })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 0 })

    expect(world.store.requests.map(({ partNumber }) => partNumber)).toEqual([1, 2, 3, 4, 5, 2, 4])
    const voided = job.events.find(({ type }) => type === 'voided')
    expect(voided).toMatchObject({ units: [{ partNumber: 2 }, { partNumber: 4 }] })
    expect(asked).toBe(2)
  })

  it('send again before their addresses die what is asked for again, not behind files that die with them', async () => {
    const world = createWorld({ answerMs: 10, engine: { concurrency: 1 } })
    let asked = 0
    const job = world.job({
      sources: world.sources([200, 1_000]),
      partSizeBytes: 100,
      confirm: ({ plan }) => (plan.fileIndex === 0 && (asked += 1) === 1 ? [2] : []),
    })
    const diesAt = Math.floor(world.clock.wallNow() / 1_000) + 200
    for (const file of job.ledger.files)
      file.addresses = file.addresses.map((address) => `${address}&Expires=${String(diesAt)}`)

    await world.until(world.engine.run(job, signal()))

    const order = world.store.requests.map(({ fileIndex, partNumber }) => `${String(fileIndex)}.${String(partNumber)}`)
    expect(order.slice(0, 4)).toEqual(['0.1', '0.2', '1.1', '0.2'])
  })

  it('are confirmed once when their last receipts become durable together', async () => {
    const world = createWorld({ answerMs: 10 })
    let commit: { readonly promise: Promise<void> } | undefined
    const groupCommit = (): Promise<void> => {
      commit ??= { promise: new Promise((resolve) => world.clock.setTimeout(resolve, 20)) }
      return commit.promise.then(() => void (commit = undefined))
    }
    const job = world.job({
      sources: world.sources([400]),
      partSizeBytes: 100,
      onRecord: ({ type }) => (type === 'part.received' ? groupCommit() : undefined),
    })

    await world.until(world.engine.run(job, signal()))

    expect(job.confirmations).toEqual([0])
  })

  it('fail one by one when the service refuses them, and end the session when it refuses us', async () => {
    const run = (code: 'ERR_UPLOAD_CONFIRM_REFUSED' | 'ERR_UPLOAD_CREDENTIALS_REFUSED') => {
      const world = createWorld()
      const confirm = ({ plan }: { plan: { fileIndex: number } }) =>
        plan.fileIndex === 1 ? Promise.reject(new UploadError(code, 'No.')) : []
      return world.until(world.engine.run(world.job({ sources: world.sources([10, 10, 10]), confirm }), signal()))
    }

    expect(await run('ERR_UPLOAD_CONFIRM_REFUSED')).toEqual({ confirmedCount: 2, failedCount: 1 })
    await expect(run('ERR_UPLOAD_CREDENTIALS_REFUSED')).rejects.toMatchObject({
      code: 'ERR_UPLOAD_CREDENTIALS_REFUSED',
    })
  })

  it('are confirmed four at a time, and hold no slot meanwhile', async () => {
    const world = createWorld({ engine: { concurrency: 1 } })
    let underWay = 0
    let most = 0
    const job = world.job({
      sources: world.sources(Array.from({ length: 9 }, () => 10)),
      confirm: async () => {
        most = Math.max(most, (underWay += 1))
        await new Promise<void>((resolve) => world.clock.setTimeout(resolve, 60_000))
        underWay -= 1
        return []
      },
    })

    await world.until(world.engine.run(job, signal()))

    expect([most, ...world.store.requests.map(({ atMs }) => atMs)]).toEqual([4, ...Array.from({ length: 9 }, () => 0)])
    expect(world.clock.monotonicNow()).toBe(180_000)
  })
})

describe('one writer per file', () => {
  it('goes on from the byte that was accepted, part by part', async () => {
    const world = createWorld({ fault: nth([{ kind: 'partial', share: 0.4 }]) })
    const sources = world.sources([200])
    const job = world.job({ sources, partSizeBytes: 100, protocol: testProtocol({ order: 'next' }) })

    await world.until(world.engine.run(job, signal()))

    expect(ranges(world.store.requests)).toEqual(['0-100', '40-100', '100-200'])
    expect(world.clock.monotonicNow()).toBe(0)
    expect(world.store.content(0, 200)).toEqual(sources[0]!.bytes)
  })

  it('waits and counts when a storage answers well and takes nothing, instead of asking for ever', async () => {
    const world = createWorld({ engine: { retries: 3 }, fault: () => ({ kind: 'partial', share: 0 }) })
    const job = world.job({ sources: world.sources([100]), protocol: testProtocol({ order: 'next' }) })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 0, failedCount: 1 })

    expect(world.store.requests.map(({ atMs }) => atMs)).toEqual([0, 250, 750])
    expect(job.ledger.files[0]!.error?.message).toContain('accepted nothing of part 1')
  })

  it('gives a storage up that takes bytes and loses them in turn, and says so', async () => {
    let isLosing = true
    const world = createWorld({
      engine: { retries: 3 },
      fault: () => ((isLosing = !isLosing) ? { kind: 'partial', share: -1 } : { kind: 'partial', share: 0.5 }),
    })
    const job = world.job({ sources: world.sources([100]), protocol: testProtocol({ order: 'next' }) })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 0, failedCount: 1 })

    expect(ranges(world.store.requests)).toEqual(['0-100', '50-100', '0-100', '50-100', '0-100', '50-100'])
    expect(job.ledger.files[0]!.error).toMatchObject({ code: 'ERR_UPLOAD_RETRIES_EXHAUSTED' })
    expect(job.ledger.files[0]!.error?.message).toContain('lost what it had accepted of part 1')
  })

  it('is not given up while it gets further, however often it loses some of what it took', async () => {
    const faults = Array.from(
      { length: 12 },
      (_, at) => ({ kind: 'partial', share: at % 2 === 0 ? 0.5 : -0.05 }) as const,
    )
    const world = createWorld({ engine: { retries: 2 }, fault: nth(faults) })
    const sources = world.sources([1_000])
    const job = world.job({ sources, protocol: testProtocol({ order: 'next' }) })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 0 })
    expect(world.store.content(0, 1_000)).toEqual(sources[0]!.bytes)
  })
})

describe('files that are registered as their turn comes', () => {
  it('are asked for in batches, one request at a time, while few parts are ready', async () => {
    const world = createWorld({ windowMs: 10, engine: { concurrency: 2 } })
    const sizes: number[] = []
    const protocol = testProtocol({ addressing: 'batches', batchSize: 3 })
    const job = world.job({
      sources: world.sources(Array.from({ length: 8 }, () => 50)),
      protocol,
      onRecord: async (record) => {
        if (record.type !== 'files.registered') return
        sizes.push(record.files.length)
        await new Promise<void>((resolve) => world.clock.setTimeout(resolve, 100))
      },
    })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 8, failedCount: 0 })
    expect(sizes).toEqual([3, 3, 2])
  })

  it('end the session when they are asked for without effect, instead of asking for ever', async () => {
    const world = createWorld()
    const protocol = testProtocol({ addressing: 'batches' })
    const job = world.job({ sources: world.sources([1]), protocol, replenish: () => Promise.resolve() })

    await expect(world.until(world.engine.run(job, signal()))).rejects.toMatchObject({ code: 'ERR_UPLOAD_INTERNAL' })
  })

  it('are asked for although a host in plain JavaScript gives no size of a batch: whoever asks says what is wrong', async () => {
    const world = createWorld()
    const { traits, ...calls } = testProtocol({ addressing: 'batches' })
    const protocol = { ...calls, traits: { ...traits, batchSize: undefined as unknown as number } }
    const replenish = (): Promise<void> => Promise.reject(new Error('No batch size.'))
    const job = world.job({ sources: world.sources([1]), protocol, replenish })

    await expect(world.until(world.engine.run(job, signal()))).rejects.toThrow('No batch size.')
  })
})

/** The first requests get these faults, one each; later ones none. */
function nth(faults: readonly (Fault | undefined)[]): NonNullable<WorldOptions['fault']> {
  let index = 0
  return () => faults[index++]
}

function delays(events: readonly TransferEvent[]): number[] {
  return events.flatMap((event) => (event.type === 'retry' ? [event.delayMs] : []))
}

function ranges(requests: readonly StoreRequest[]): string[] {
  return requests.map(({ start, end }) => `${String(start)}-${String(end)}`)
}
