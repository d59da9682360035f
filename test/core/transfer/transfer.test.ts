// What happens to files and their sessions on the way to their confirmation.

import { describe, expect, it } from 'vitest'
import { UploadError } from '../../../src/core/errors.ts'
import type { StoreRequest } from '../../simulation/object-store.ts'
import { testProtocol } from '../../simulation/test-protocol.ts'
import { createWorld } from '../../simulation/world.ts'
import { signal, nth } from './transfer-rig.ts'

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

function ranges(requests: readonly StoreRequest[]): string[] {
  return requests.map(({ start, end }) => `${String(start)}-${String(end)}`)
}
