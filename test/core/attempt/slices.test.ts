import { describe, expect, it } from 'vitest'
import { createSlicer } from '../../../src/core/attempt/slices.ts'

const KIB = 1024

function sizesOn(bytesPerMs: number, count: number): number[] {
  let now = 0
  const slicer = createSlicer({ monotonicNow: () => now }, 1_024 * KIB)
  return Array.from({ length: count }, () => {
    const size = slicer.size()
    slicer.began()
    now += size / bytesPerMs
    slicer.ended()
    return size / KIB
  })
}

describe('slices of a window', () => {
  it('grow to the whole window on a fast line', () => {
    expect(sizesOn(100 * KIB, 6)).toEqual([64, 128, 256, 512, 1_024, 1_024])
  })

  it('stay where they are while a slice takes neither long nor short', () => {
    expect(sizesOn(KIB / 2, 3)).toEqual([64, 64, 64])
  })

  it('shrink on a slow line, so that four a minute are not a stall', () => {
    expect(sizesOn(KIB / 200, 4)).toEqual([64, 32, 16, 16])
  })

  it.each([
    [49, 128],
    [50, 64],
    [1_000, 64],
    [1_001, 32],
  ])('are judged by how long the line took, %i ms, and by no rest before it', (tookMs, nextKib) => {
    let now = 0
    const slicer = createSlicer({ monotonicNow: () => now }, 1_024 * KIB)
    now += 10_000
    slicer.began()
    now += tookMs
    slicer.ended()

    expect(slicer.size()).toBe(nextKib * KIB)
  })

  it('never pass a window that is smaller than the first slice', () => {
    expect(createSlicer({ monotonicNow: () => 0 }, 4 * KIB).size()).toBe(4 * KIB)
  })
})
