// A file that fails, and what goes on beside it.

import { describe, expect, it } from 'vitest'
import { createWorld } from '../../simulation/world.ts'
import { signal } from './transfer-rig.ts'

describe('a file that fails', () => {
  it('takes its own attempts down and no others, and nothing of it is sent again', async () => {
    const world = createWorld({
      windowMs: 1_000,
      engine: { concurrency: 8 },
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
