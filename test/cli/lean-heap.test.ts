// The watch over the heap must not end an upload: process.memoryUsage opens a file on Linux, and throws where the limit of open
// files is reached.

import { expect, it, onTestFinished, vi } from 'vitest'

import { keepHeapLean } from '../../src/cli/lean-heap.ts'

it('looks at the heap also where no file can be opened', () => {
  vi.useFakeTimers()
  vi.spyOn(process, 'memoryUsage').mockImplementation(() => {
    throw Object.assign(new Error('EMFILE: too many open files, uv_resident_set_memory'), { code: 'EMFILE' })
  })
  onTestFinished(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
  keepHeapLean()

  expect(() => vi.advanceTimersByTime(1_000)).not.toThrow()
})
