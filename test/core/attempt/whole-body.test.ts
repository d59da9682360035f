// A short part in one piece: which parts are short, what is waited for before it goes, and what frees its hash.

import { describe, expect, it, vi } from 'vitest'
import { wholeBodies, type WholeBodyOptions } from '../../../src/core/attempt/whole-body.ts'
import type { Reader } from '../../../src/core/ports.ts'

const KIB = 1_024
const reader = (read: Reader['read']): Reader => ({ read, verify: () => undefined, close: () => Promise.resolve() })
const filling = reader((into) => void into.fill(7))

function bodyOf(lengthBytes: number, options: Partial<WholeBodyOptions> = {}) {
  return wholeBodies()({
    unit: { fileIndex: 0, partNumber: 2, start: 1_000, end: 1_000 + lengthBytes },
    reader: filling,
    hasher: undefined,
    windows: [new Uint8Array(256 * KIB)],
    take: () => undefined,
    watchdog: { hold: () => undefined, started: () => undefined },
    ...options,
  })
}

describe('a part goes in one piece', () => {
  it.each([
    [0, 256 * KIB, true],
    [64 * KIB, 256 * KIB, true],
    [64 * KIB + 1, 256 * KIB, false],
    [100, 100, true],
    [101, 100, false],
  ])('of %i bytes, into a window of %i: %s', (lengthBytes, windowBytes, is) => {
    expect(bodyOf(lengthBytes, { windows: [new Uint8Array(windowBytes)] }) !== undefined).toBe(is)
  })

  it('only where there is a window, and is read as its range of the file; nothing is read of an empty one', () => {
    expect(bodyOf(5, { windows: [] })).toBe(undefined)
    const read = vi.fn(() => undefined)
    expect(bodyOf(0, { reader: reader(read) })?.make()).toMatchObject({ bytes: new Uint8Array() })
    expect(read).not.toHaveBeenCalled()

    expect(bodyOf(5, { reader: reader(read) })?.make()).toMatchObject({ kind: 'bytes' })
    expect(read.mock.calls).toEqual([[new Uint8Array(5), 1_000]])
  })
})

describe('a part in one piece', () => {
  it('is held from its beginning until it was read and has leave to go', async () => {
    const told: string[] = []
    const watchdog = { hold: () => void told.push('hold'), started: () => void told.push('started') }
    let leave: () => void = () => undefined
    const take = (bytes: number): Promise<void> => {
      told.push(`take ${String(bytes)}`)
      return new Promise((resolve) => (leave = resolve))
    }
    const made = bodyOf(5, { take, watchdog })?.make()
    await Promise.resolve()
    expect(told).toEqual(['hold', 'take 5'])

    leave()
    await made
    expect(told).toEqual(['hold', 'take 5', 'started'])
  })

  it('is hashed elsewhere before its digest is given, and before its window is given back', async () => {
    const told: string[] = []
    let hashed: () => void = () => undefined
    const start = () => ({
      update: () => new Promise<void>((resolve) => (hashed = resolve)),
      digest: () => (told.push('digest'), Promise.resolve('d')),
      dispose: () => void told.push('dispose'),
    })
    const body = bodyOf(5, { hasher: { start } })
    await body?.make()
    const [digest, ended] = [body?.digest(), body?.end?.()]
    await Promise.resolve()
    expect(told).toEqual([])

    hashed()
    await ended
    expect([await digest, told]).toEqual(['d', ['digest', 'dispose']])
  })

  it('tells of a hash that failed to whoever asks for the digest, and to nobody else', async () => {
    const problem = new Error('The thread is gone.')
    const dispose = vi.fn()
    const start = () => ({ update: () => Promise.reject(problem), digest: () => Promise.resolve(''), dispose })
    const unasked = bodyOf(5, { hasher: { start } })
    await unasked?.make()
    // A rejection that nobody hears of by now would end the process.
    await new Promise((resolve) => setImmediate(resolve))
    await unasked?.end?.()
    expect(dispose).toHaveBeenCalledTimes(1)

    const asked = bodyOf(5, { hasher: { start } })
    await asked?.make()
    await expect(asked?.digest()).rejects.toBe(problem)
    await asked?.end?.()
  })

  it('has a digest also where it is empty, and frees it', async () => {
    const dispose = vi.fn()
    const start = vi.fn(() => ({ update: () => undefined, digest: () => Promise.resolve('of nothing'), dispose }))
    const body = bodyOf(0, { hasher: { start } })
    await body?.make()

    expect(await body?.digest()).toBe('of nothing')
    expect(body?.end?.()).toBe(undefined)
    expect([start.mock.calls.length, dispose.mock.calls.length]).toEqual([1, 1])
  })
})
