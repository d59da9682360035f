// The memory that many pieces have in common: who gives way when it is used up.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { createMemoryBound, type HeldMemory } from '../../../src/service/http/memory-bound.ts'

const KIB = 1024
const FREE = 16 * KIB

/** A memory of 1 MiB, whose bodies go by names, and who gave way. */
function memoryOfOneMib() {
  const memory = createMemoryBound(1024 * KIB)
  const refused: string[] = []
  const begin = (name: string): HeldMemory => {
    const held = memory.hold(name.charAt(0), () => refused.push(name))
    return {
      ...held,
      add(bytes) {
        const isHeld = held.add(bytes)
        if (!isHeld) refused.push(name)
        return isHeld
      },
    }
  }
  return { begin, refused }
}

describe('a memory that is used up', () => {
  it('is taken from the organisation that holds the most, and there from the youngest body', () => {
    const { begin, refused } = memoryOfOneMib()
    const bodies = ['a1', 'a2', 'b1'].map(begin)
    for (const body of bodies) body.add(300 * KIB + FREE)

    begin('b2').add(200 * KIB + FREE)

    expect(refused).toEqual(['a2'])
    begin('c1').add(300 * KIB + FREE)
    expect(refused).toEqual(['a2', 'b2'])
  })

  it('refuses no body that is complete, and counts it until its call is answered', () => {
    const { begin, refused } = memoryOfOneMib()
    const whole = begin('a1')
    whole.add(1024 * KIB + FREE)
    whole.keep()

    begin('b1').add(FREE + 1)
    expect(refused).toEqual(['b1'])
    whole.end()
    begin('b2').add(1024 * KIB + FREE)
    expect(refused).toEqual(['b1'])
  })

  it('takes small bodies all the same', () => {
    const { begin, refused } = memoryOfOneMib()
    const whole = begin('a1')
    whole.add(1024 * KIB + FREE)
    whole.keep()

    for (let index = 0; index < 100; index += 1) begin(`b${index}`).add(FREE)

    expect(refused).toEqual([])
  })

  it('refuses no small body of whoever holds the most, as that would give nothing back', () => {
    const { begin, refused } = memoryOfOneMib()
    begin('a1').add(600 * KIB + FREE)
    begin('a2').add(FREE)

    begin('b1').add(500 * KIB + FREE)

    expect(refused).toEqual(['a1'])
  })

  it('counts nothing of a body that was refused, whatever still comes of it', () => {
    const { begin, refused } = memoryOfOneMib()
    const large = begin('a1')
    expect(large.add(1025 * KIB + FREE)).toBe(false)
    expect(large.add(1024 * KIB)).toBe(false)

    expect(begin('b1').add(1024 * KIB + FREE)).toBe(true)
    expect(refused).toEqual(['a1', 'a1'])
  })

  it('never holds more, however bodies come and go, and refuses none while there is room', () => {
    const steps = fc.array(fc.tuple(fc.nat({ max: 9 }), fc.integer({ min: -1, max: 400 })), { maxLength: 100 })
    fc.assert(
      fc.property(steps, (all) => {
        const most = 1024 * KIB
        const memory = createMemoryBound(most)
        const sizes = new Map<number, number>()
        const bodies = new Map<number, HeldMemory>()
        const heldBytes = () => [...sizes.values()].reduce((sum, size) => sum + Math.max(0, size - FREE), 0)
        for (const [index, kib] of all) {
          const giveWay = () => {
            expect(heldBytes()).toBeGreaterThan(most)
            sizes.delete(index)
            bodies.delete(index)
          }
          const body = bodies.get(index) ?? memory.hold(String(index % 3), giveWay)
          bodies.set(index, body)
          if (kib < 0) {
            body.end()
            sizes.delete(index)
            bodies.delete(index)
          } else {
            sizes.set(index, (sizes.get(index) ?? 0) + kib * KIB)
            if (!body.add(kib * KIB)) giveWay()
          }
          expect(heldBytes()).toBeLessThanOrEqual(most)
        }
      }),
    )
  })
})
