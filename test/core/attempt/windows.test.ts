// The pool of windows: the budget is a bound, and nobody waits for ever.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createWindowPool, type WindowLease } from '../../../src/core/attempt/windows.ts'

const never = (): AbortSignal => new AbortController().signal

describe('a pool of windows', () => {
  it('gives one window to a body that fits into it and two to a larger one', async () => {
    const pool = createWindowPool({ budgetBytes: 400, windowBytes: 100 })

    const [small, large] = [await pool.lease(100, never()), await pool.lease(101, never())]

    expect([small.windows.length, large.windows.length, pool.leasedBytes()]).toEqual([1, 2, 300])
    expect([...small.windows, ...large.windows].map((window) => window.byteLength)).toEqual([100, 100, 100])
    expect(new Set([...small.windows, ...large.windows]).size).toBe(3)
  })

  it('lets a body wait until there is room, first come first served, also when a smaller one would fit', async () => {
    const pool = createWindowPool({ budgetBytes: 300, windowBytes: 100 })
    const first = await pool.lease(200, never())
    const order: string[] = []
    const large = Promise.resolve(pool.lease(200, never())).then((lease) => (order.push('large'), lease))
    const small = Promise.resolve(pool.lease(50, never())).then((lease) => (order.push('small'), lease))
    await settled()
    expect(order).toEqual([])

    first.release()
    await Promise.all([large, small])

    expect(order).toEqual(['large', 'small'])
    expect(pool.leasedBytes()).toBe(300)
  })

  it('reuses memory instead of making more', async () => {
    let madeBytes = 0
    const allocate = (bytes: number): Uint8Array => ((madeBytes += bytes), new Uint8Array(bytes))
    const pool = createWindowPool({ budgetBytes: 400, windowBytes: 100, allocate })

    for (let round = 0; round < 20; round += 1) (await pool.lease(300, never())).release()

    expect(madeBytes).toBe(200)
  })

  it('makes no more memory than a body needs, and gives what one gave back to the next that waits', async () => {
    let madeBytes = 0
    const allocate = (bytes: number): Uint8Array => ((madeBytes += bytes), new Uint8Array(bytes))
    const pool = createWindowPool({ budgetBytes: 200, windowBytes: 100, allocate })

    const short = await pool.lease(100, never())
    expect(madeBytes).toBe(100)
    const waiting = pool.lease(101, never())
    short.release()
    ;(await waiting).release()
    const before = madeBytes
    const long = await pool.lease(101, never())
    const next = pool.lease(101, never())
    long.release()
    await next
    expect(madeBytes).toBe(before)
  })

  it('gives large ones to the first long bodies, out of what the budget has for them, and what others need is left', async () => {
    let madeBytes = 0
    const allocate = (bytes: number): Uint8Array => ((madeBytes += bytes), new Uint8Array(bytes))
    const pool = createWindowPool({ budgetBytes: 3_600, windowBytes: 100, largePairs: 2, allocate })
    const lengths = ({ windows }: WindowLease): readonly number[] => windows.map(({ byteLength }) => byteLength)
    const lease = async (bytes: number): Promise<WindowLease> => pool.lease(bytes, never())

    const [first, second, third] = [await lease(1_600), await lease(1_700), await lease(1_600)]
    expect([lengths(first), lengths(second), lengths(third)]).toEqual([
      [800, 800],
      [800, 800],
      [100, 100],
    ])
    expect([pool.leasedBytes(), madeBytes]).toEqual([3_400, 3_400])
    first.release()
    expect(lengths(await lease(1_599))).toEqual([100, 100])
    expect(lengths(await lease(1_600))).toEqual([800, 800])
    let isServed = false
    const waiting = lease(1_600).then(() => (isServed = true))
    await settled()
    expect([isServed, pool.leasedBytes(), madeBytes]).toEqual([false, 3_600, 3_600])
    third.release()
    await waiting
    expect([pool.leasedBytes(), madeBytes]).toEqual([3_600, 3_600])
  })

  it('tells who waits when there is no memory to be had, and nobody else, and counts nothing as handed out', async () => {
    let left = 1
    const allocate = (bytes: number): Uint8Array => {
      left -= 1
      if (left < 0) throw new RangeError('There is no memory.')
      return new Uint8Array(bytes)
    }
    const pool = createWindowPool({ budgetBytes: 2_000, windowBytes: 1_000, allocate })
    const short = await pool.lease(10, never())
    const waiting = pool.lease(2_000, never())
    short.release()

    await expect(waiting).rejects.toThrow('There is no memory.')
    expect(() => pool.lease(2_000, never())).toThrow('There is no memory.')
    expect(pool.leasedBytes()).toBe(0)

    const large = createWindowPool({ budgetBytes: 20_000, windowBytes: 1_000, largePairs: 1, allocate })
    expect(() => large.lease(16_000, never())).toThrow('There is no memory.')
    expect(large.leasedBytes()).toBe(0)
  })

  it('lets go of who stops waiting, and serves who came after', async () => {
    const pool = createWindowPool({ budgetBytes: 300, windowBytes: 100 })
    const held = await pool.lease(200, never())
    const controller = new AbortController()
    const leaving = pool.lease(200, controller.signal)
    const staying = pool.lease(100, never())
    const reason = new Error('paused')

    controller.abort(reason)

    await expect(leaving).rejects.toBe(reason)
    expect((await staying).windows).toHaveLength(1)
    held.release()
    expect(pool.leasedBytes()).toBe(100)
    await expect(pool.lease(1, AbortSignal.abort(reason))).rejects.toBe(reason)
  })

  it('lets nobody wait for what was left, and hands it out again once it is given back', async () => {
    const pool = createWindowPool({ budgetBytes: 400, windowBytes: 100 })
    const [short, long, other] = [
      await pool.lease(1, never()),
      await pool.lease(200, never()),
      await pool.lease(1, never()),
    ]
    const [forLong, forShort] = [pool.lease(200, never()), pool.lease(1, never())].map((lease) =>
      Promise.resolve(lease),
    )
    long.leave?.()
    await settled()
    short.leave?.()
    await expect(forLong).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ' })
    other.release()
    ;(await forShort)?.release()
    expect(() => pool.lease(200, never())).toThrow('restart the program')
    long.release()
    short.release()

    expect((await pool.lease(200, never())).windows).toHaveLength(2)
    expect(pool.leasedBytes()).toBe(200)
  })

  it('never hands out more than the budget, in any order of leases, releases and aborts', async () => {
    const step = fc.record({
      bytes: fc.integer({ min: 0, max: 2_000 }),
      ends: fc.constantFrom('release', 'abort', 'leave'),
    })
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(step, { maxLength: 25 }), async (scheduler, steps) => {
        let madeBytes = 0
        const allocate = (bytes: number): Uint8Array => ((madeBytes += bytes), new Uint8Array(bytes))
        const pool = createWindowPool({ budgetBytes: 3_700, windowBytes: 100, largePairs: 2, allocate })
        const inUse = new Set<Uint8Array>()
        const use = async ({ bytes, ends }: (typeof steps)[number]): Promise<void> => {
          const controller = new AbortController()
          if (ends === 'abort') void scheduler.schedule(Promise.resolve()).then(() => controller.abort(new Error('x')))
          let lease: WindowLease
          try {
            lease = await pool.lease(bytes, controller.signal)
          } catch {
            return
          }
          for (const window of lease.windows) expect(inUse.has(window)).toBe(false)
          for (const window of lease.windows) inUse.add(window)
          expect(Math.max(pool.leasedBytes(), madeBytes)).toBeLessThanOrEqual(3_700)
          await scheduler.schedule(Promise.resolve())
          if (ends === 'leave') lease.leave?.()
          await scheduler.schedule(Promise.resolve())
          for (const window of lease.windows) inUse.delete(window)
          lease.release()
        }
        const all = Promise.all(steps.map(use))
        await scheduler.waitFor(all)
        expect(pool.leasedBytes()).toBe(0)
      }),
    )
  })
})

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
