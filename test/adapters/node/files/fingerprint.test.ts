// Whether a file that was read in part is known again, and another one with the same beginning, or as empty, is not.

import { randomFillSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import { createFingerprint, type Fingerprint } from '../../../../src/adapters/node/files/fingerprint.ts'

const KIB = 1_024
const MIB = 1_024 * KIB

const noise = (bytes: number): Uint8Array => randomFillSync(new Uint8Array(bytes))
const joined = (...pieces: readonly Uint8Array[]): Uint8Array => Buffer.concat(pieces)

/** Notes the range [start, end), as it is read through windows of this size. */
function readThrough(
  fingerprint: Fingerprint,
  file: Uint8Array,
  start: number,
  end: number,
  windowBytes: number,
): void {
  for (let at = start; at < end; at += windowBytes)
    fingerprint.note(file.subarray(at, Math.min(at + windowBytes, end)), at)
}

/** What was read: the ranges, in windows of 64 KiB. */
function readOf(file: Uint8Array, ...ranges: readonly (readonly [start: number, end: number])[]): Fingerprint {
  const fingerprint = createFingerprint()
  for (const [start, end] of ranges) readThrough(fingerprint, file, start, end, 64 * KIB)
  return fingerprint
}

const compare = (fingerprint: Fingerprint, file: Uint8Array) =>
  fingerprint.compare((into, at) => {
    const piece = file.subarray(at, at + into.byteLength)
    into.set(piece)
    return piece.byteLength
  })

describe('the fingerprint of a file that was read in part', () => {
  it.each([64 * KIB, 256 * KIB, 2 * MIB])(
    'knows the file again, read through windows of %d bytes',
    async (windowBytes) => {
      const file = noise(5 * MIB)
      const fingerprint = createFingerprint()
      readThrough(fingerprint, file, 0, 3 * MIB, windowBytes)
      readThrough(fingerprint, file, 3 * MIB, 5 * MIB, windowBytes)

      expect(await compare(fingerprint, file)).toBe('same')
    },
  )

  it('knows another one by each 64 KiB of a first part', async () => {
    const file = noise(2 * MIB)
    const fingerprint = readOf(file, [0, 2 * MIB])
    for (let at = 0; at < 2 * MIB; at += 64 * KIB) {
      const other = joined(file.subarray(0, at), noise(64 * KIB), file.subarray(at + 64 * KIB))
      expect(await compare(fingerprint, other)).toBe('other')
    }
    expect(await compare(fingerprint, file.subarray(0, -1))).toBe('other')
  })

  it('knows another one that begins with the same megabyte', async () => {
    const beginning = noise(MIB)
    const file = joined(beginning, noise(5 * MIB))
    const fingerprint = readOf(file, [0, 2 * MIB], [3 * MIB, 4 * MIB])

    expect(await compare(fingerprint, joined(beginning, noise(5 * MIB)))).toBe('other')
  })

  it.each<readonly [what: string, file: Uint8Array, readBytes: number]>([
    ['little was read of it', noise(MIB), 3 * 64 * KIB],
    ['what was read is empty', new Uint8Array(MIB), MIB],
    ['most of what was read is empty', joined(noise(512 * KIB), new Uint8Array(5 * MIB)), 5 * MIB],
    ['it is a column of times beside empty ones', times(MIB), MIB],
    ['its reads were short', noise(4_000), 3_000],
  ])('cannot be sure of a file where %s', async (_, file, readBytes) => {
    expect(await compare(readOf(file, [0, readBytes]), file)).toBe('unknown')
  })

  it('is sure of numbers', async () => {
    const numbers = Array.from({ length: 50_000 }, (_, index) => (1_000 * Math.sin(index * index)).toFixed(4))
    const file = new TextEncoder().encode(numbers.join(','))

    expect(await compare(readOf(file, [0, file.byteLength]), file)).toBe('same')
  })

  it('remembers at most 32 places of a file of any length, spread over what was read', async () => {
    const fingerprint = createFingerprint()
    const window = noise(256 * KIB)
    // Eight parts at once, as they are sent.
    const partBytes = 512 * MIB
    for (let at = 0; at < partBytes; at += window.byteLength)
      for (let part = 0; part < 8; part += 1) fingerprint.note(window, part * partBytes + at)
    const places: number[] = []
    await fingerprint.compare((into, at) => {
      places.push(at)
      into.set(window.subarray(at % window.byteLength).subarray(0, into.byteLength))
      return into.byteLength
    })

    expect(places.length).toBeLessThanOrEqual(32)
    const sorted = [0, ...places.sort((one, other) => one - other), 8 * partBytes]
    expect(Math.max(...sorted.slice(1).map((at, index) => at - sorted[index]!))).toBeLessThanOrEqual(partBytes)
  })
})

/** Lines of a table: the time, and markers that were not seen. */
function times(bytes: number): Uint8Array {
  const lines = Array.from({ length: bytes / 40 }, (_, index) => `${(index / 240).toFixed(4)}${',0.000'.repeat(12)}\n`)
  return new TextEncoder().encode(lines.join(''))
}
