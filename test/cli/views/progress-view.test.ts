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
/** Only the first listener draws. The other one prints a line for good. */
let wait: ((outage: object) => void) | undefined

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  nowMs = 10_000
  written = []
  sentBytes = 0
  wait = undefined
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Draws an upload of files of which nothing is sent yet, while the total grows. */
function view({ state = 'uploading', fileCount = 1, hasColor = false } = {}) {
  const files = Array.from({ length: fileCount }, () => file)
  const upload = {
    state,
    files: () => files,
    progress: () => ({
      ...{ sentBytes, confirmedBytes: 0, totalBytes: 1000, bytesPerSecond: 10, remainingMs: 1000 },
      ...{ filesConfirmed: 0, filesTotal: 1, filesFailed: 0 },
    }),
    on(event: string, listener: () => void) {
      if (event === 'progress') change = listener
      if (event === 'waiting') wait ??= listener
    },
  }
  const output = {
    hasColor,
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

it('is drawn once a second for ten thousand files, since each drawing looks at all of them', () => {
  const live = view({ fileCount: 10_000 })
  written.length = 0

  pass(3_000)

  expect(written).toHaveLength(3)
  live.end()
})

it('says below the files, in bold, how long a host has been away and when the next try is', () => {
  vi.spyOn(Date, 'now').mockReturnValue(1_000_000)
  const live = view({ state: 'waiting', hasColor: true })
  wait?.({ host: 'store.example:443', sinceMs: 926_000, untilMs: 1_012_000 })

  pass(1_000)

  const [ofFile, ofWhole] = written.at(-1)?.split('\n') ?? []
  expect(ofFile).toMatch(/  swing\.mp4 ░+   0 % of 1000 B$/)
  expect(ofWhole).toMatch(/^\x1b\[1mwaiting 1:14, next try in 0:12 · .*\x1b\[22m$/)
  live.end()
})
