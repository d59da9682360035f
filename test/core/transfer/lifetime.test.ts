// The life of concurrent work: whoever awaits it knows that nothing runs any more.

import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLifetime, type Lifetime } from '../../../src/core/transfer/lifetime.ts'

describe('a lifetime', () => {
  it('is not over by the end of a task while there is no outcome, and tells of each that has ended', async () => {
    const outer = new AbortController()
    let ended = 0
    const outcome: { value?: object } = {}
    const life = createLifetime(
      outer.signal,
      () => outcome.value,
      () => (ended += 1),
    )

    await life.track(() => Promise.resolve())
    await life.track(() => Promise.reject(new Error('the end')))
    expect(ended).toBe(2)

    const other = createLifetime(outer.signal, () => outcome.value)
    await other.track(() => Promise.resolve())
    expect(await isSettled(other.done)).toBe(false)
    outcome.value = {}
    other.settleIfOver()
    expect(await other.done).toBe(outcome.value)
    // Nobody awaits what was stopped, and nothing listens any more.
    expect(getEventListeners(outer.signal, 'abort')).toEqual([])
  })

  it('settles when the outcome is there, and not before the last task has ended', async () => {
    const { life, setOutcome, gate } = begin()
    const task = life.track(() => gate.promise)
    setOutcome({ count: 2 })
    life.settleIfOver()
    expect(await isSettled(life.done)).toBe(false)

    gate.open()
    await task

    expect(await life.done).toEqual({ count: 2 })
  })

  it('stops with the reason of the outer signal, after the last task has ended', async () => {
    const { life, outer, gate } = begin()
    const task = life.track(() => gate.promise)
    const reason = new Error('paused')

    outer.abort(reason)

    expect(life.signal.reason).toBe(reason)
    expect(await isSettled(life.done)).toBe(false)
    gate.open()
    await task
    await expect(life.done).rejects.toBe(reason)
  })

  it('stops everything when a task rejects, and gives that error', async () => {
    const { life, gate } = begin()
    const mistake = new Error('a mistake')
    const other = life.track(() => gate.promise)

    await life.track(() => Promise.reject(mistake))

    expect(life.signal.aborted).toBe(true)
    gate.open()
    await other
    await expect(life.done).rejects.toBe(mistake)
  })

  it('runs no task after it was stopped', async () => {
    const { life } = begin()
    life.stop(new Error('over'))
    let hasRun = false

    await life.track(async () => {
      hasRun = true
    })

    expect(hasRun).toBe(false)
    await expect(life.done).rejects.toThrow('over')
  })

  it('is over at once under a signal that has fired', async () => {
    const life = createLifetime(AbortSignal.abort(new Error('long ago')), () => ({}))

    expect(life.signal.aborted).toBe(true)
    await expect(life.done).rejects.toThrow('long ago')
  })

  it('settles once, after all tasks, in any order of their ends and of an abort', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 8 }), fc.boolean(), async (s, count, isAborted) => {
        const outer = new AbortController()
        let left = count
        let running = 0
        const life = createLifetime(outer.signal, () => (left === 0 ? { isOver: true } : undefined))
        const atEnd = life.done.then(
          () => [running, 'resolved'],
          () => [running, 'rejected'],
        )
        for (let index = 0; index < count; index += 1) {
          void life.track(async () => {
            running += 1
            await s.schedule(Promise.resolve())
            running -= 1
            left -= 1
          })
        }
        if (isAborted) void s.schedule(Promise.resolve()).then(() => outer.abort(new Error('x')))
        const [runningAtEnd] = await s.waitFor(atEnd)
        expect(runningAtEnd).toBe(0)
      }),
    )
  })
})

function begin(): {
  life: Lifetime<object>
  outer: AbortController
  gate: { promise: Promise<void>; open(): void }
  setOutcome(value: object): void
} {
  let outcome: object | undefined
  const outer = new AbortController()
  let open = (): void => undefined
  const promise = new Promise<void>((resolve) => {
    open = resolve
  })
  return {
    outer,
    life: createLifetime(outer.signal, () => outcome),
    gate: { promise, open: () => open() },
    setOutcome(value) {
      outcome = value
    },
  }
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let isOver = false
  promise.then(
    () => (isOver = true),
    () => (isOver = true),
  )
  await new Promise((resolve) => setImmediate(resolve))
  return isOver
}
