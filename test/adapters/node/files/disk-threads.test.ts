// Threads that wait for disks: so many at once, in order, and one is left to others whatever hangs.

import { getEventListeners } from 'node:events'
import type * as Fs from 'node:fs'
import { existsSync, statSync } from 'node:fs'
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
    const threads = createDiskThreads(3)
    const begun: string[] = []
    const ends: Record<string, (error?: Error) => void> = {}
    const run = (name: string): Promise<unknown> =>
      threads.run(
        'drive',
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
    threads.begin('drive', () => told.push('first'))
    threads.begin(
      'drive',
      () => told.push('left'),
      leaving.signal,
      (reason) => told.push(reason.message),
    )
    threads.begin('drive', () => told.push('last'), signal)

    leaving.abort(new Error('paused'))
    expect(told).toEqual(['first', 'paused'])
    threads.end('drive')

    expect(told).toEqual(['first', 'paused', 'last'])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('are never all taken for one drive, and each goes to the first that may have it', () => {
    const threads = createDiskThreads(3)
    const begun: string[] = []
    const begin = (name: string): void => threads.begin(name.charAt(0), () => begun.push(name))
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) begin(name)
    expect(begun).toEqual(['a1', 'a2', 'b1'])

    threads.end('b')
    expect(begun.slice(3)).toEqual(['b2'])
    threads.end('a')
    expect(begun.slice(4)).toEqual(['a3'])
    for (const drive of ['a', 'a', 'b']) threads.end(drive)
    begin('b3')
    expect(begun.slice(5)).toEqual(['b3'])
  })
})

/** Two places on different drives, where this machine has them. */
const OTHER_DRIVE = '/dev/shm'
const hasOtherDrive = existsSync(OTHER_DRIVE) && statSync(OTHER_DRIVE).dev !== statSync(tmpdir()).dev
const neverQuick = { mayAskNow: () => false, askNow: <T>(work: () => T): T => work() }

async function openedAt(path: string) {
  const source = fileSourceOn(neverQuick, path)
  return source.open(await source.describe())
}

describe('reads of a drive that is gone', () => {
  it('leave a thread to others, and what waits behind them is let go by its signal', async () => {
    const path = join(folder, 'a.mp4')
    await writeFile(path, new Uint8Array(8))
    const source = fileSourceOn(neverQuick, path)
    const reader = await source.open(await source.describe())
    const stop = new AbortController()
    const reads = Array.from({ length: 8 }, (_, at) => reader.read(new Uint8Array(1), at, stop.signal))

    expect(held).toHaveLength(Math.max(1, (Number(process.env['UV_THREADPOOL_SIZE']) || 4) - 2))
    expect(await readFile(path)).toHaveLength(8)
    stop.abort(new Error('paused'))
    await Promise.all(reads.slice(held.length).map((read) => expect(read).rejects.toThrow('paused')))

    const going = held.splice(0)
    for (const go of going) go()
    await Promise.all(reads.slice(0, going.length).map(async (read) => read))
    await reader.close()
  })

  it.runIf(hasOtherDrive)('leave one to files of other drives', async () => {
    const path = join(folder, 'b.mp4')
    await writeFile(path, new Uint8Array(8))
    const dead = await openedAt(path)
    const other = await mkdtemp(join(OTHER_DRIVE, 'disk-threads-'))
    await writeFile(join(other, 'c.mp4'), new Uint8Array(8))
    const stop = new AbortController()
    const reads = Array.from({ length: 8 }, async (_, at) => dead.read(new Uint8Array(1), at, stop.signal))
    const ofDead = held.length

    const alive = await openedAt(join(other, 'c.mp4'))
    const read = alive.read(new Uint8Array(8), 0)
    expect(held).toHaveLength(ofDead + 1)
    for (const go of held.splice(ofDead)) go()
    await read

    stop.abort(new Error('paused'))
    for (const go of held.splice(0)) go()
    await Promise.allSettled(reads)
    await Promise.all([dead.close(), alive.close()])
    await rm(other, { recursive: true })
  })
})
