// The live view over time.

import { performance } from 'node:perf_hooks'

import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import type { Output } from '../../../src/cli/views/output.ts'
import { tellOnTerminal } from '../../../src/cli/views/progress-view.ts'
import type { Upload } from '../../../src/flows/upload.ts'

const EVERY_MS = 100
const file = { fileIndex: 0, name: 'swing.mp4', bytes: 1000, sentBytes: 0, confirmedBytes: 0, state: 'uploading' }
let nowMs: number
let written: string[]
let sentBytes: number
let change: () => void

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  nowMs = 10_000
  written = []
  sentBytes = 0
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Draws an upload of one file of which nothing is sent yet, while the total grows. */
function view() {
  const upload = {
    state: 'uploading',
    files: () => [file],
    progress: () => ({
      ...{ sentBytes, confirmedBytes: 0, totalBytes: 1000, bytesPerSecond: 10, remainingMs: 1000 },
      ...{ filesConfirmed: 0, filesTotal: 1, filesFailed: 0 },
    }),
    on(event: string, listener: () => void) {
      if (event === 'progress') change = listener
    },
  }
  const output = {
    hasColor: false,
    size: () => ({ columns: 80, rows: 24 }),
    draw: (text: string) => written.push(text),
    setLive: () => undefined,
  }
  return tellOnTerminal(upload as unknown as Upload, output as unknown as Output, { say: () => undefined } as never)
}

function pass(ms: number): void {
  for (let passed = 0; passed < ms; passed += EVERY_MS) {
    nowMs += EVERY_MS
    sentBytes += 1
    change()
    vi.advanceTimersByTime(EVERY_MS)
  }
}

it('writes a line that stays the same once a second, for a key that was pressed has moved it', () => {
  const live = view()
  pass(900)
  const [first = '', ...others] = written
  expect(first).toContain('swing.mp4')
  expect(others).toHaveLength(9)
  expect(others.filter((text) => text.includes('swing.mp4'))).toEqual([])

  pass(1_000)
  expect(written.slice(10).filter((text) => text.includes('swing.mp4'))).toHaveLength(1)
  live.end()
})
