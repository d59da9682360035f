// When the disk may be asked at once: on a local file system only, and only while it answers quickly.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

import { fileSourceOn } from '../../../../src/adapters/node/files/file-source.ts'
import { createQuickDisk, type QuickDisk } from '../../../../src/adapters/node/files/quick-disk.ts'

const EXT4 = 0xef53
const NFS = 0x6969

function diskOf(typeOf: ((folder: string) => Promise<number>) | undefined) {
  let nowMs = 0
  let diskReads = 0
  let isCached = false
  let turn: () => void = () => undefined
  const disk = createQuickDisk(
    () => nowMs,
    typeOf,
    () => (isCached ? diskReads : ++diskReads),
    (act) => (turn = act),
  )
  const askAgain = (ms: number, bytes?: number) => disk.askNow(() => (nowMs += ms), bytes)
  return {
    disk,
    wait: (ms: number) => (nowMs += ms),
    /** One operation that takes so long, in the turn in which the last one was. */
    askAgain,
    /** The same in a turn of its own. */
    ask(ms: number, bytes?: number) {
      askAgain(ms, bytes)
      turn()
    },
    turn: () => turn(),
    /** From now on everything is in memory. */
    cache: () => (isCached = true),
    /** Asks about a folder and lets the answer come. */
    async know(path: string) {
      disk.mayAskNow(path)
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

describe('createQuickDisk', () => {
  it.each([
    ['a local file system', () => Promise.resolve(EXT4), true],
    ['a network drive', () => Promise.resolve(NFS), false],
    ['a folder that cannot be looked at', () => Promise.reject(new Error('no such folder')), false],
  ])('judges %s', async (_what, typeOf, isQuick) => {
    const { disk, know } = diskOf(typeOf)

    expect(disk.mayAskNow('/a')).toBe(false)
    await know('/a')

    expect(disk.mayAskNow('/a')).toBe(isQuick)
    expect(disk.mayAskNow('/elsewhere')).toBe(false)
  })

  it('lets others have their turn after 10 ms', async () => {
    const { disk, know, askAgain, turn } = diskOf(() => Promise.resolve(EXT4))
    await know('/a/b')

    for (let index = 0; index < 99; index += 1) askAgain(0.1)
    expect(disk.mayAskNow('/a/b')).toBe(true)
    for (let index = 0; index < 2; index += 1) askAgain(0.1)
    expect(disk.mayAskNow('/a/b')).toBe(false)
    turn()
    expect(disk.mayAskNow('/a/b')).toBe(true)
  })

  it('is never quick where the platform does not say what a file system is', async () => {
    const { disk, know } = diskOf(undefined)

    await know('/a/b')

    expect(disk.mayAskNow('/a/b')).toBe(false)
  })

  it('rests for a second after operations that took too long, and is tried again', async () => {
    const { disk, know, ask, wait } = diskOf(() => Promise.resolve(EXT4))
    await know('/a/b')

    ask(15)
    expect(disk.mayAskNow('/a/b')).toBe(true)
    ask(15)

    expect(disk.mayAskNow('/a/b')).toBe(false)
    wait(999)
    expect(disk.mayAskNow('/a/b')).toBe(false)
    wait(1)
    expect(disk.mayAskNow('/a/b')).toBe(true)
  })

  it('forgives one slow operation among many quick ones', async () => {
    const { disk, know, ask } = diskOf(() => Promise.resolve(EXT4))
    await know('/a/b')

    for (let round = 0; round < 10; round += 1) {
      ask(15)
      for (let index = 0; index < 100; index += 1) ask(0.01)
    }

    expect(disk.mayAskNow('/a/b')).toBe(true)
  })

  it('allows a read time by its length', async () => {
    const { disk, know, ask } = diskOf(() => Promise.resolve(EXT4))
    await know('/a/b')

    for (let index = 0; index < 100; index += 1) ask(1, 1024 * 1024)
    expect(disk.mayAskNow('/a/b')).toBe(true)
    for (let index = 0; index < 100; index += 1) ask(1, 1024)
    expect(disk.mayAskNow('/a/b')).toBe(false)
  })

  it('does not blame the disk for what other programs took of the processor', async () => {
    const { disk, know, ask, cache } = diskOf(() => Promise.resolve(EXT4))
    await know('/a/b')
    ask(1)
    cache()

    for (let round = 0; round < 100; round += 1) ask(15)

    expect(disk.mayAskNow('/a/b')).toBe(true)
  })

  it('rests after an operation that hung, whatever the disk did', async () => {
    const { disk, know, ask, cache } = diskOf(() => Promise.resolve(EXT4))
    await know('/a/b')
    cache()

    ask(60)

    expect(disk.mayAskNow('/a/b')).toBe(false)
  })

  it('takes note of an operation that fails, and throws its error', async () => {
    const { disk, know, wait } = diskOf(() => Promise.resolve(EXT4))
    await know('/a/b')
    const failure = new Error('EIO')
    const fail = (): never => {
      wait(60)
      throw failure
    }

    expect(() => disk.askNow(fail)).toThrow(failure)

    expect(disk.mayAskNow('/a/b')).toBe(false)
  })
})

describe('a file source', () => {
  it.each([
    ['at once', true],
    ['on a thread', false],
  ])('does the same when it asks %s', async (_how, isQuick) => {
    const folder = await mkdtemp(join(tmpdir(), 'quick-disk-'))
    const path = join(folder, 'take.mp4')
    await writeFile(path, 'ten bytes!')
    const asked: number[] = []
    const disk: QuickDisk = {
      mayAskNow: () => isQuick,
      askNow(work, bytes = 0) {
        asked.push(bytes)
        return work()
      },
    }
    const source = fileSourceOn(disk, path)

    const identity = await source.describe()
    const opening = source.open(identity)
    expect(opening instanceof Promise).toBe(!isQuick)
    await expect(source.open({ ...identity, sizeBytes: 9 })).rejects.toMatchObject({
      code: 'ERR_UPLOAD_SOURCE_CHANGED',
    })
    const reader = await opening
    const into = new Uint8Array(6)
    await reader.read(into, 4)
    expect(Buffer.from(into).toString()).toBe('bytes!')
    await expect(reader.read(new Uint8Array(2), 9)).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_CHANGED' })
    await reader.verify()
    await writeFile(path, 'more', { flag: 'a' })
    await expect(reader.verify()).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_CHANGED' })
    await reader.close()
    await rm(folder, { recursive: true })

    await expect(source.describe()).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ' })
    await expect(source.open(identity)).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ' })
    await expect(fileSourceOn(disk, tmpdir()).describe()).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_READ' })
    expect(asked.length > 0).toBe(isQuick)
  })

  it.each([
    [131_071, true],
    [131_072, false],
  ])('reads %i bytes of a quick disk at once: %s', async (byteCount, isAtOnce) => {
    const folder = await mkdtemp(join(tmpdir(), 'quick-disk-'))
    const path = join(folder, 'take.mp4')
    const bytes = Buffer.from(Array.from({ length: byteCount + 1 }, (_, at) => (at * 7) % 251))
    await writeFile(path, bytes)
    const source = fileSourceOn({ mayAskNow: () => true, askNow: (work) => work() }, path)
    const reader = await source.open(await source.describe())
    const into = new Uint8Array(byteCount)

    const reading = reader.read(into, 1)
    expect(reading === undefined).toBe(isAtOnce)
    await reading

    expect(Buffer.compare(into, bytes.subarray(1))).toBe(0)
    await expect(reader.read(into, 2)).rejects.toMatchObject({ code: 'ERR_UPLOAD_SOURCE_CHANGED' })
    await reader.close()
    await rm(folder, { recursive: true })
  })
})
