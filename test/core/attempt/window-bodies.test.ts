// How large windows are: as large as the memory allows for all parts in flight, a power of two.

import { expect, it } from 'vitest'
import { windowBodies } from '../../../src/core/attempt/window-bodies.ts'
import type { Watchdog } from '../../../src/core/attempt/watchdog.ts'
import { createSimulatedClock } from '../../helpers/simulated-clock.ts'

const KIB = 1_024
const clock = createSimulatedClock()

it.each([
  [1, undefined, 256],
  [64, undefined, 256],
  [65, undefined, 128],
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
  [26, 1_024],
  [24, 256],
])('after a body that went out at %i MB/s they are of %i KiB', async (megabytesPerSecond, windowKib) => {
  let nowMs = 0
  const lengthBytes = 4_096 * KIB
  const bodies = windowBodies({ clock: { ...clock, monotonicNow: () => nowMs }, concurrency: 4 })
  const { signal } = new AbortController()
  const first = await bodies.lease(lengthBytes, signal)
  const content = bodies.content({
    unit: { fileIndex: 0, partNumber: 1, start: 0, end: lengthBytes },
    reader: { read: () => undefined, verify: () => undefined, close: () => Promise.resolve() },
    hasher: undefined,
    windows: first.windows,
    pace: { isLimited: () => false, pieceBytes: () => Infinity, take: () => undefined },
    signal,
    watchdog: { hold: () => undefined, resume: () => undefined } as Watchdog,
  })
  const body = await content.make()
  if (body.kind !== 'windows') throw new Error('It does not go through windows.')
  for await (const piece of body.windows()) nowMs += piece.byteLength / (megabytesPerSecond * 1_000)
  await content.digest()
  await content.end?.()
  first.release()

  const next = await bodies.lease(lengthBytes, signal)

  expect(first.windows.map(({ byteLength }) => byteLength)).toEqual([256 * KIB, 256 * KIB])
  expect(next.windows.map(({ byteLength }) => byteLength)).toEqual([windowKib * KIB, windowKib * KIB])
})
