// A storage that answers and takes nothing: 429, 502, 503, 504, or its own word that it is busy. Throttling slows an upload down and
// costs no file; a storage out of service is waited for; and a part that alone is never taken comes to its end.

import { describe, expect, it } from 'vitest'
import { UploadError } from '../../../src/core/errors.ts'
import type { SourceIdentity } from '../../../src/core/ports.ts'
import { seededRandom } from '../../helpers/seeded-random.ts'
import type { Fault } from '../../simulation/object-store.ts'
import { testProtocol } from '../../simulation/test-protocol.ts'
import { createWorld } from '../../simulation/world.ts'

const MINUTE_MS = 60_000
const signal = (): AbortSignal => new AbortController().signal
const status = (code: number, headers: Readonly<Record<string, string>> = {}): Fault => ({
  kind: 'status',
  status: code,
  headers,
})
const files = (count: number): number[] => Array.from({ length: count }, () => 100)

describe('a storage that is out of service', () => {
  it.each([429, 502, 503, 504, 511])('costs no file when it answers %i for ten minutes', async (code) => {
    const world = createWorld({
      engine: { retries: 3 },
      fault: ({ atMs }) => (atMs < 10 * MINUTE_MS ? status(code) : undefined),
    })
    const job = world.job({ sources: world.sources(files(6)) })
    const startMs = world.clock.wallNow()

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 6, failedCount: 0 })

    const told = job.events.filter(({ type }) => type === 'unreachable')
    expect(told[0]).toEqual({
      type: 'unreachable',
      ...{ who: 'storage', host: 'store.test:443' },
      sinceMs: startMs,
      untilMs: startMs + 900,
      giveUpAtMs: startMs + 60 * MINUTE_MS,
      ...{ status: code, reason: `it answers ${String(code)}` },
    })
    // Four at once find it so; then one part knocks, a minute apart at most.
    expect(world.store.requests.filter(({ atMs }) => atMs < 10 * MINUTE_MS).length).toBeLessThan(25)
    expect(job.events.at(-1)?.type).not.toBe('unreachable')
  })

  it('is let alone for as long as it asks, by all parts, also where that is not long', async () => {
    const world = createWorld({
      fault: ({ atMs }) => (atMs < 100_000 ? status(503, { 'retry-after': '40' }) : undefined),
    })
    const job = world.job({ sources: world.sources(files(8)) })

    expect(await world.until(world.engine.run(job, signal()))).toMatchObject({ confirmedCount: 8 })

    const times = [...new Set(world.store.requests.map(({ atMs }) => atMs))]
    // Forty seconds and, with chance at one half, five per cent.
    expect(times).toEqual([0, 42_000, 84_000, 126_000])
  })

  it('is asked by the next files when all that had addresses have failed meanwhile', async () => {
    const world = createWorld({
      fault: ({ atMs }) => (atMs < MINUTE_MS ? status(503) : undefined),
    })
    const gone = () => Promise.reject(new UploadError('ERR_UPLOAD_SOURCE_READ', 'The drive was unplugged.'))
    const sources = world.sources(files(36)).map((source, fileIndex) => ({
      ...source,
      open: (expected: SourceIdentity) =>
        fileIndex < 32 && world.clock.monotonicNow() > 0 ? gone() : source.open(expected),
    }))
    const protocol = testProtocol({ addressing: 'batches', batchSize: 4 })
    const job = world.job({ sources, protocol })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 4, failedCount: 32 })
  })

  it('is given up at its time, in words that do not blame the network', async () => {
    const world = createWorld({ engine: { giveUpAfterMs: 20 * MINUTE_MS }, fault: () => status(503) })
    const job = world.job({ sources: world.sources(files(1)) })

    await expect(world.until(world.engine.run(job, signal()))).rejects.toMatchObject({
      code: 'ERR_UPLOAD_HOST_UNREACHABLE',
      message: expect.stringMatching(
        /^The storage store\.test:443 took nothing for 12\d\d s\. The last failure: .*503/,
      ) as string,
    })
    expect(world.clock.pending).toBe(0)
  })

  it('costs only the file that it never takes, where it has taken others of the session', async () => {
    const world = createWorld({
      engine: { giveUpAfterMs: 20 * MINUTE_MS },
      fault: ({ fileIndex }) => (fileIndex === 2 ? status(503) : undefined),
    })
    const job = world.job({ sources: world.sources(files(3)) })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 2, failedCount: 1 })
    expect(job.ledger.files[2]?.error).toMatchObject({
      ...{
        code: 'ERR_UPLOAD_HOST_UNREACHABLE',
        message: expect.stringMatching(/^.+: The storage store\.test:443 took nothing/) as string,
      },
    })
    expect(world.clock.pending).toBe(0)
  })

  it.each([
    ['confirmed', []],
    ['not confirmed as it is, and sent again', [1]],
  ])('does not cost a file that it took, and that is still to be %s', async (_, again) => {
    const world = createWorld({
      engine: { giveUpAfterMs: 20 * MINUTE_MS },
      fault: ({ fileIndex }) => (fileIndex === 2 ? status(503) : undefined),
    })
    const confirmed = new Map<number, number>()
    const job = world.job({
      sources: world.sources(files(3)),
      async confirm({ plan: { fileIndex } }) {
        const tries = (confirmed.get(fileIndex) ?? 0) + 1
        confirmed.set(fileIndex, tries)
        if (fileIndex !== 1 || tries > 1) return []
        await new Promise((resolve) => world.clock.setTimeout(() => resolve(undefined), 60 * MINUTE_MS))
        return again
      },
    })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 2, failedCount: 1 })
    const failed = job.records.flatMap((record) => (record.type === 'file.failed' ? [record.fileIndex] : []))
    expect(failed).toEqual([2])
    expect(world.clock.pending).toBe(0)
  })

  it('does not shrink the number of connections by its answers to probes: they say nothing of that', async () => {
    const world = createWorld({
      windowMs: 200,
      engine: { concurrency: 'auto' },
      fault: ({ atMs }) => (atMs > 5_000 && atMs < 10 * MINUTE_MS ? status(503) : undefined),
    })
    const job = world.job({ sources: world.sources(files(600)) })
    const limits: number[] = []
    const look = (): void => void limits.push(world.engine.stats().cap)
    world.clock.setTimeout(look, 4_900)
    world.clock.setTimeout(look, 10 * MINUTE_MS)

    expect(await world.until(world.engine.run(job, signal()))).toMatchObject({ confirmedCount: 600 })

    const [before = 0, after = 0] = limits
    expect(before).toBeGreaterThanOrEqual(4)
    // Halved by the answers of the first seconds alone, when it may have been throttling: twice.
    expect(after).toBeGreaterThanOrEqual(Math.floor(before / 4))
  })
})

describe('a storage that throttles', () => {
  it.each([0.3, 0.6, 0.9])(
    'slows the upload down for ten minutes, at a share of %f, and costs no file',
    async (share) => {
      const seed = Number(process.env['FC_SEED'])
      const random = seededRandom(seed)
      const world = createWorld({
        answerMs: 300,
        engine: { random, concurrency: 16 },
        fault: ({ atMs }) => {
          if (atMs > 10 * MINUTE_MS || random() > share) return undefined
          return random() < 0.5 ? status(503) : status(429, { 'retry-after': '1' })
        },
      })
      const job = world.job({ sources: world.sources(files(2_000)) })

      const ended = await world.until(world.engine.run(job, signal()))

      expect([seed, ended]).toEqual([seed, { confirmedCount: 2_000, failedCount: 0 }])
    },
  )
})

describe('a part that alone is never taken', () => {
  it('comes to its end while others get through, after many times the tries of other failures', async () => {
    const world = createWorld({
      answerMs: 500,
      engine: { concurrency: 2 },
      fault: ({ fileIndex }) => (fileIndex === 0 ? status(503) : undefined),
    })
    const job = world.job({ sources: world.sources(files(6_000)) })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 5_999, failedCount: 1 })

    const tries = world.store.requests.filter(({ fileIndex }) => fileIndex === 0)
    const [last = { atMs: 0 }] = tries.slice(-1)
    expect(tries).toHaveLength(57)
    expect(last.atMs).toBeGreaterThan(10 * MINUTE_MS)
    expect(last.atMs).toBeLessThan(40 * MINUTE_MS)
    expect(job.ledger.files[0]?.error).toMatchObject({
      code: 'ERR_UPLOAD_RETRIES_EXHAUSTED',
      message: expect.stringMatching(/^file-0\.bin: Gave up after 57 attempts\. .*503/) as string,
      attempt: 57,
    })
  })

  it.each([
    ['many small files', 8, 100],
    ['the parts of one large file', 1, 100_000],
  ])('does not stand for the storage, also where all that it is asked with at first is %s', async (_, bad, size) => {
    const world = createWorld({
      answerMs: 500,
      fault: ({ fileIndex }) => (fileIndex < bad ? status(503) : undefined),
    })
    // Those with the least left go first.
    const sizes = Array.from({ length: bad + 6 }, (_, index) => (index < bad ? size : 2 * size))
    const job = world.job({ partSizeBytes: 1_000, sources: world.sources(sizes) })

    // It has taken others: those that it never took fail, each with that cause.
    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 6, failedCount: bad })
    const ends = job.ledger.files.map(({ state, error }) => error?.code ?? state)
    expect(ends).toEqual(sizes.map((_, index) => (index < bad ? 'ERR_UPLOAD_HOST_UNREACHABLE' : 'confirmed')))
  })

  it('has one try where no more are allowed', async () => {
    const world = createWorld({
      engine: { retries: 1 },
      fault: ({ fileIndex }) => (fileIndex === 0 ? status(503) : undefined),
    })
    const job = world.job({ sources: world.sources(files(2)) })

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 1 })
    expect(world.store.requests).toHaveLength(2)
  })
})

describe('while the storage is asked again', () => {
  it('no time of a next try is told: it is past', async () => {
    const world = createWorld({
      answerMs: 5_000,
      fault: ({ atMs }) => (atMs < 4_000 ? { kind: 'connect' } : undefined),
    })
    const job = world.job({ sources: world.sources(files(4)) })

    await world.until(world.engine.run(job, signal()))

    const told = job.events.flatMap(({ type }) => (['unreachable', 'tried', 'reachable'].includes(type) ? [type] : []))
    expect(told).toEqual(['unreachable', 'tried', 'unreachable', 'tried', 'unreachable', 'tried', 'reachable'])
  })
})
