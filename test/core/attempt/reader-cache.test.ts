// Who opens a file, who shares it, and when it is closed.

import { describe, expect, it, vi } from 'vitest'
import { createReaderCache, openPlanned } from '../../../src/core/attempt/reader-cache.ts'
import type { Reader } from '../../../src/core/ports.ts'

const never = new AbortController().signal
const readerThat = (close: () => Promise<void>): Reader => ({
  read: () => undefined,
  verify: () => undefined,
  close,
})

describe('a cache of readers', () => {
  it('opens a file for the first that needs it, and closes it when the last one gives it back', async () => {
    const closed = vi.fn(() => Promise.resolve())
    const open = vi.fn(() => Promise.resolve(readerThat(closed)))
    const readers = createReaderCache(open)

    const [one, other] = await Promise.all([readers.acquire(7, never), readers.acquire(7, never)])
    expect([one === other, open.mock.calls]).toEqual([true, [[7]]])
    expect(readers.acquire(7, never)).toBe(one)
    expect([readers.release(7), readers.release(7), closed.mock.calls.length]).toEqual([undefined, undefined, 0])
    await readers.release(7)
    expect(closed).toHaveBeenCalledTimes(1)

    await readers.acquire(7, never)
    expect(open).toHaveBeenCalledTimes(2)
  })

  it('has nothing to close of a file that nobody needed', () => {
    const readers = createReaderCache(() => expect.unreachable('It opens nothing.'))

    expect(readers.release(7)).toBe(undefined)
  })

  it('does not wait for a file that never opens, and closes it when it is open after all', async () => {
    let opened: (reader: Reader) => void = () => undefined
    const readers = createReaderCache(() => new Promise((resolve) => (opened = resolve)))
    const controller = new AbortController()
    const waiting = readers.acquire(7, controller.signal)
    controller.abort(new Error('paused'))
    await expect(waiting).rejects.toThrow('paused')
    const released = readers.release(7)

    const closed = vi.fn(() => Promise.resolve())
    opened(readerThat(closed))
    await released
    expect(closed).toHaveBeenCalledTimes(1)
  })

  it('says nothing of a file that could not be opened, or closed, to whoever gives it back', async () => {
    const problem = new Error('EIO')
    const broken = createReaderCache(() => Promise.reject(problem))
    await expect(broken.acquire(7, never)).rejects.toBe(problem)
    await broken.release(7)

    const readers = createReaderCache(() => Promise.resolve(readerThat(() => Promise.reject(problem))))
    await readers.acquire(7, never)
    await readers.release(7)
  })
})

it('a source is opened as what was planned, with a date where there is one', async () => {
  const open = vi.fn(() => Promise.resolve(readerThat(() => Promise.resolve())))
  const source = { name: 'a', describe: () => expect.unreachable(), open }
  const plan = { fileIndex: 0, name: 'a', sizeBytes: 5, partCount: 1, partSizeBytes: 5 }

  await openPlanned(source, plan)
  await openPlanned(source, { ...plan, modifiedAtMs: 9 })

  expect(open.mock.calls).toStrictEqual([[{ sizeBytes: 5 }], [{ sizeBytes: 5, modifiedAtMs: 9 }]])
})
