// A part that is taken in pieces, and one that must be sent again.

import { describe, expect, it } from 'vitest'
import { createWorld } from '../../simulation/world.ts'
import { signal, nth, delays } from './transfer-rig.ts'

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
