// Addresses that are no longer taken, and their renewal.

import { describe, expect, it } from 'vitest'
import { wholeBodies } from '../../../src/core/attempt/whole-body.ts'
import { UploadError } from '../../../src/core/errors.ts'
import type { Reader } from '../../../src/core/ports.ts'
import type { Fault, StoreRequest } from '../../simulation/object-store.ts'
import { addressesOf } from '../../simulation/test-protocol.ts'
import type { WatchedSource } from '../../simulation/watched-source.ts'
import { createWorld } from '../../simulation/world.ts'
import { signal, nth } from './transfer-rig.ts'

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
    file!.addresses = ['https://store.test/0/1?g=1&Expires=1000000000']

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
      const slow = { kind: 'status', status: 400, code: 'RequestTimeout', headers: { date } } as const
      const world = createWorld({ fault: nth([slow]) })
      const job = world.job({ sources: world.sources([100]), renew: () => true })
      job.ledger.files[0]!.addresses = [`https://store.test/0/1?g=1&Expires=${begin / 1_000 + 60}`]
      await world.until(world.engine.run(job, signal()))
      return world.store.requests.map(({ generation }) => generation)
    }

    expect(await run(0)).toEqual([1, 1])
    expect(await run(120_000)).toEqual([1, 2])
  })

  it.each([429, 500, 502, 503, 504])(
    'are not taken for dead by the clock of a gateway that answers %s in place of the storage',
    async (status) => {
      const begin = createWorld().clock.wallNow()
      const wrong = { kind: 'status', status, headers: { date: new Date(begin + 1e9).toUTCString() } } as const
      const world = createWorld({ fault: nth([wrong]) })
      let renewals = 0
      const job = world.job({ sources: world.sources([100]), renew: () => ((renewals += 1), true) })
      job.ledger.files[0]!.addresses = [`https://store.test/0/1?g=1&Expires=${begin / 1_000 + 600}`]

      expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 0 })

      expect(renewals).toBe(0)
    },
  )

  it('are not taken for dead where they say how long they live, and not until when', async () => {
    const headers = { date: new Date(1_800_000_000_000).toUTCString() }
    const slow = { kind: 'status', status: 400, code: 'RequestTimeout', headers } as const
    const world = createWorld({ fault: nth([slow]) })
    let renewals = 0
    const job = world.job({ sources: world.sources([100]), renew: () => ((renewals += 1), true) })
    job.ledger.files[0]!.addresses = ['https://store.test/0/1?g=1&expires=900&token=x']

    expect(await world.until(world.engine.run(job, signal()))).toEqual({ confirmedCount: 1, failedCount: 0 })

    expect(renewals).toBe(0)
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

  it.each([
    ['die', 'opened'],
    ['are renewed', 'opened'],
    ['die', 'read'],
    ['are renewed', 'read'],
  ])('are not sent to when they %s while their source is %s', async (what, step) => {
    const world = createWorld({
      engine: { retries: 1, wholeBodies: wholeBodies() },
      fault: ({ generation }) =>
        generation === 1 ? { kind: 'status', status: 403, code: 'RequestExpired' } : undefined,
    })
    const [slow] = world.sources([100])
    const error = new UploadError('ERR_UPLOAD_ADDRESS_EXPIRED', 'It has expired.')
    const reason = { isDead: false, error, lifeMs: undefined, signal: signal() }
    let isFirst = true
    const takesLong = async (): Promise<void> => {
      if (!isFirst) return
      isFirst = false
      await new Promise<void>((resolve) => world.clock.setTimeout(resolve, 60_000))
      if (what === 'are renewed') await job.renew(file!, reason)
    }
    const source = Object.assign(Object.create(slow!) as WatchedSource, {
      async open(expected: Parameters<WatchedSource['open']>[0]) {
        if (step === 'opened') await takesLong()
        const reader = await slow!.open(expected)
        const read: Reader['read'] = async (into, at) => {
          if (step === 'read') await takesLong()
          await reader.read(into, at)
        }
        return { ...reader, read }
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
