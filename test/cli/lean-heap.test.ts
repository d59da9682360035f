// The watch over the heap must not end an upload: process.memoryUsage opens a file on Linux, and throws where the limit of open
// files is reached.

import { expect, it, onTestFinished, vi } from 'vitest'

import { keepHeapLean } from '../../src/cli/lean-heap.ts'

/** More than the heap may grow before it is collected. */
const BALLAST = new Array<number>(8_000_000).fill(0.5)

it('collects a heap that has grown, also where no file can be opened', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  vi.spyOn(process, 'memoryUsage').mockImplementation(() => {
    throw Object.assign(new Error('EMFILE: too many open files, uv_resident_set_memory'), { code: 'EMFILE' })
  })
  onTestFinished(() => void vi.useRealTimers())
  const garbage = new WeakRef({})
  // The step that made it still holds it.
  await new Promise((resolve) => setImmediate(resolve))
  keepHeapLean()

  vi.advanceTimersByTime(1_000)

  expect(garbage.deref()).toBeUndefined()
  expect(BALLAST).toHaveLength(8_000_000)
})
