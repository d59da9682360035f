// How many parts a rate limit keeps busy: as few as reach it.

import { describe, expect, it } from 'vitest'
import { createEnoughParts } from '../../../src/core/line/enough-parts.ts'

const KIB = 1024

/** Samples every half second for so long, on a line whose connections carry so much each. Others allow so many of them. */
function after(seconds: number, limit: number, perConnection: number, parts = createEnoughParts(), allowed = Infinity) {
  parts.restart()
  for (let atMs = 0; atMs <= seconds * 1_000; atMs += 500) {
    const inFlight = Math.min(parts.at(limit), allowed)
    const bytesSince = Math.min(limit, inFlight * perConnection) / 2
    parts.onSample({ atMs, inFlight, bytesSince })
  }
  return parts.at(limit)
}

describe('the parts that a rate limit keeps busy', () => {
  it.each([
    ['2', '1 KiB', KIB, 2],
    ['2', '512 KiB', 512 * KIB, 2],
    ['8', '2 MiB', 2048 * KIB, 8],
  ])('are %s at %s a second, and stay so few where they reach it', (_, __, limit, expected) => {
    expect(createEnoughParts().at(limit)).toBe(expected)
    expect(after(60, limit, 256 * KIB)).toBe(expected)
  })

  it('are more where connections carry less, but no more than reach nine tenths of the limit', () => {
    const found = after(60, 512 * KIB, 64 * KIB)

    expect(found).toBeGreaterThanOrEqual(0.9 * 8)
    expect(found).toBeLessThanOrEqual(0.9 * 8 * 1.5 + 1)
  })

  it('are not judged by slots that nothing uses, until they are used again', () => {
    const parts = createEnoughParts()
    const sample = (atMs: number, unused: number): void =>
      parts.onSample({ atMs, inFlight: parts.at(512 * KIB) - unused, bytesSince: KIB })
    for (let atMs = 0; atMs < 60_000; atMs += 500) sample(atMs, 1)
    expect(parts.at(512 * KIB)).toBe(2)

    for (let atMs = 60_000; atMs < 70_000; atMs += 500) sample(atMs, 0)
    expect(parts.at(512 * KIB)).toBeGreaterThan(4)
  })

  it('are judged by seconds, not by moments', () => {
    const parts = createEnoughParts()
    for (let atMs = 0; atMs < 60_000; atMs += 500)
      parts.onSample({ atMs, inFlight: parts.at(512 * KIB), bytesSince: (atMs % 1_000 === 0 ? 500 : 12) * KIB })

    expect(parts.at(512 * KIB)).toBe(2)
  })

  it('are not judged by what went before the limit was changed', () => {
    const parts = createEnoughParts()
    for (let atMs = 0; atMs < 2_000; atMs += 500)
      parts.onSample({ atMs, inFlight: parts.at(512 * KIB), bytesSince: KIB })
    parts.onSample({ atMs: 2_000, inFlight: parts.at(400 * KIB), bytesSince: 200 * KIB })

    expect(parts.at(400 * KIB)).toBe(2)
  })

  it('are not judged by a line that is away', () => {
    expect(after(60, 512 * KIB, 0)).toBe(2)
  })

  it.each([Infinity, 4])('are as few as before soon after a line was slow, where %d are allowed', (allowed) => {
    const parts = createEnoughParts()
    expect(after(20, 512 * KIB, KIB, parts, allowed)).toBeGreaterThan(4)

    expect(after(900, 512 * KIB, 256 * KIB, parts, allowed)).toBe(2)
  })

  it('lose little to looking whether fewer do', () => {
    const parts = createEnoughParts()
    after(60, 512 * KIB, 64 * KIB, parts)
    let bytes = 0
    for (let second = 0; second < 600; second += 1) {
      const inFlight = parts.at(512 * KIB)
      const bytesSince = Math.min(512, inFlight * 64) * KIB
      parts.onSample({ atMs: 60_000 + 1_000 * second, inFlight, bytesSince })
      bytes += bytesSince
    }

    expect(bytes / (600 * 512 * KIB)).toBeGreaterThan(0.97)
  })

  it('are not judged by a time in which the machine slept', () => {
    const parts = createEnoughParts()
    after(60, 512 * KIB, 256 * KIB, parts)
    parts.onSample({ atMs: 3_600_000, inFlight: 2, bytesSince: 100 * KIB })

    expect(parts.at(512 * KIB)).toBe(2)
  })

  it('are found anew for another limit, and as many as can be without one', () => {
    const parts = createEnoughParts()
    expect(after(60, 512 * KIB, 16 * KIB, parts)).toBeGreaterThan(20)

    expect(parts.at(undefined)).toBe(Infinity)
    expect(parts.at(512 * KIB)).toBe(2)
  })
})
