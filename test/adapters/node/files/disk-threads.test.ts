// Threads that wait for disks: so many at once, in order, and one is left to others whatever hangs.

import { getEventListeners } from 'node:events'
import type * as Fs from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, it, vi } from 'vitest'
import { createDiskThreads } from '../../../../src/adapters/node/files/disk-threads.ts'
import { fileSourceOn } from '../../../../src/adapters/node/files/file-source.ts'
import { passTurns } from '../../../helpers/pass-turns.ts'

/** Reads that have begun and are not let go: each takes a thread, as if its drive were gone. */
const held = vi.hoisted(() => [] as (() => void)[])
vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof Fs>()
  const read = (...args: Parameters<typeof fs.read>): void => void held.push(() => fs.read(...args))
  return { ...fs, read, default: { ...fs, read } }
})

const folder = await mkdtemp(join(tmpdir(), 'disk-threads-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('threads for disks', () => {
  it('are taken so many at once, in the order of the calls, and given back also by what fails', async () => {
    const threads = createDiskThreads(2)
    const begun: string[] = []
    const ends: Record<string, (error?: Error) => void> = {}
    const run = (name: string): Promise<unknown> =>
      threads.run(
        () =>
          new Promise<void>((resolve, reject) => {
            begun.push(name)
            ends[name] = (error) => (error === undefined ? resolve() : reject(error))
          }),
      )
    const running = ['a', 'b', 'c', 'd'].map(run)
    await passTurns(5)
    expect(begun).toEqual(['a', 'b'])

    ends['b']?.(new Error('gone'))
    await expect(running[1]).rejects.toThrow('gone')
    expect(begun).toEqual(['a', 'b', 'c'])
    ends['a']?.()
    ends['c']?.()
    await passTurns(5)
    ends['d']?.()

    await Promise.all([running[0], running[2], running[3]])
  })

  it('are not waited for once a signal has fired, and nothing listens to one that has not', () => {
    const threads = createDiskThreads(1)
    const { signal } = new AbortController()
    const leaving = new AbortController()
    const told: unknown[] = []
    threads.begin(() => told.push('first'))
    threads.begin(
      () => told.push('left'),
      leaving.signal,
      (reason) => told.push(reason.message),
    )
    threads.begin(() => told.push('last'), signal)

    leaving.abort(new Error('paused'))
    expect(told).toEqual(['first', 'paused'])
    threads.end()

    expect(told).toEqual(['first', 'paused', 'last'])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})

describe('reads of a drive that is gone', () => {
  it('leave a thread to others, and what waits behind them is let go by its signal', async () => {
    const path = join(folder, 'a.mp4')
    await writeFile(path, new Uint8Array(8))
    const neverQuick = { mayAskNow: () => false, askNow: <T>(work: () => T): T => work() }
    const source = fileSourceOn(neverQuick, path)
    const reader = await source.open(await source.describe())
    const stop = new AbortController()
    const reads = Array.from({ length: 8 }, (_, at) => reader.read(new Uint8Array(1), at, stop.signal))

    expect(held).toHaveLength(Math.max(1, (Number(process.env['UV_THREADPOOL_SIZE']) || 4) - 1))
    expect(await readFile(path)).toHaveLength(8)
    stop.abort(new Error('paused'))
    await Promise.all(reads.slice(held.length).map((read) => expect(read).rejects.toThrow('paused')))

    for (const go of held) go()
    await Promise.all(reads.slice(0, held.length).map(async (read) => read))
    await reader.close()
  })
})
