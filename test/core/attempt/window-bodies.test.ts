// How large windows are: as large as the memory allows for all parts in flight, a power of two. And why a body could not be read.

import { describe, expect, it } from 'vitest'
import { wholeBodies, type Content } from '../../../src/core/attempt/whole-body.ts'
import { windowBodies } from '../../../src/core/attempt/window-bodies.ts'
import type { Reader } from '../../../src/core/ports.ts'
import { createPace } from '../../../src/core/line/pace.ts'
import { createSimulatedClock } from '../../helpers/simulated-clock.ts'

const KIB = 1_024
const clock = createSimulatedClock()

it.each([
  [1, undefined, 256],
  [64, undefined, 256],
  [96, undefined, 256],
  [97, undefined, 128],
  [256, undefined, 64],
  [4, 64 * KIB * 8, 64],
  [4, 64 * KIB * 16 - 1, 64],
  [4, 64 * KIB * 16, 128],
])('with %i parts in flight and %s bytes they have %i KiB', (concurrency, memoryBytes, windowKib) => {
  const options = memoryBytes === undefined ? {} : { memoryBytes }

  expect(windowBodies({ clock, concurrency, ...options }).windowBytes).toBe(windowKib * KIB)
})

it('with less memory than the smallest take there are none', () => {
  const make = () => windowBodies({ clock, concurrency: 4, memoryBytes: 64 * KIB * 8 - 1 })

  expect(make).toThrow('memoryBytes must be at least 524288 for 4 parts in flight.')
})

it('are of the memory that the platform gives', async () => {
  const given: number[] = []
  const allocate = (bytes: number): Uint8Array => {
    given.push(bytes)
    return new Uint8Array(bytes)
  }
  const bodies = windowBodies({ clock, concurrency: 1, allocate })
  const lease = await bodies.lease(10, new AbortController().signal)

  expect(given).toEqual([256 * KIB])
  lease.release()
})

it.each([
  [64, undefined, 4],
  [62, undefined, 4],
  [80, undefined, 2],
  [96, undefined, 0],
  [4, 64 * KIB * 8, 0],
  [40, 128 * KIB * 96, 1],
  [1, undefined, 1],
  [4, Infinity, 4],
])(
  'with %i parts in flight and %s bytes so many of them have large ones: %i',
  async (concurrency, memoryBytes, count) => {
    const bodies = windowBodies({ clock, concurrency, ...(memoryBytes === undefined ? {} : { memoryBytes }) })
    const { signal } = new AbortController()
    const lengths: number[] = []
    while (lengths.length < count + 1) {
      const lease = bodies.lease(4_096 * KIB, signal)
      if (lease instanceof Promise) throw new Error('It waits for memory.')
      lengths.push(lease.windows[0]?.byteLength ?? 0)
    }

    expect(lengths).toEqual([...Array<number>(count).fill(8 * bodies.windowBytes), bodies.windowBytes])
  },
)

describe.each([
  ['in windows', {}],
  ['in one piece', { wholeBodies: wholeBodies() }],
])('a body %s', (_, options) => {
  const problem = new Error('the disk is gone')
  const fails: readonly Reader['read'][] = [
    () => Promise.reject(problem),
    () => {
      throw problem
    },
  ]

  it.each([false, true])('says why it could not be read, but for the abort of its attempt: %s', async (isAborted) => {
    for (const read of fails) {
      const controller = new AbortController()
      const content = contentOf({ read }, controller.signal)
      if (isAborted) controller.abort()

      await expect(firstBytes(content)).rejects.toBe(problem)
      expect(content.readError?.()).toBe(isAborted ? undefined : problem)
    }
  })

  function contentOf(own: Pick<Reader, 'read'>, signal: AbortSignal) {
    const unit = { fileIndex: 0, partNumber: 1, start: 0, end: 100 }
    const reader = { verify: () => undefined, close: () => Promise.resolve(), ...own }
    const watchdog = { started() {}, moved() {}, hold() {}, resume() {}, handedOver() {}, stop() {} }
    const bodies = windowBodies({ clock, concurrency: 1, ...options })
    const pace = createPace(clock, 'off')
    const windows = [new Uint8Array(100)]
    return bodies.content({ unit, reader, hasher: undefined, windows, pace, signal, watchdog, onHang() {} })
  }
})

async function firstBytes(content: Content): Promise<unknown> {
  const body = await content.make()
  return body.kind === 'windows' ? body.windows()[Symbol.asyncIterator]().next() : body
}
