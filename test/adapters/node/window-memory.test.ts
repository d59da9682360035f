import { describe, expect, it } from 'vitest'
import { windowMemory } from '../../../src/adapters/node/window-memory.ts'

describe('memory for windows', () => {
  it('is zeroed, of the length that was asked for, and all of it can be written', () => {
    const memory = windowMemory(512 * 1024)

    expect(memory.byteLength).toBe(512 * 1024)
    expect(memory.every((byte) => byte === 0)).toBe(true)
    memory.fill(7)
    expect(memory.at(-1)).toBe(7)
  })

  it('begins half a page behind the size that malloc keeps before a large piece of memory', () => {
    const { byteOffset } = windowMemory(65_536)

    expect((byteOffset + 16) % 4096).toBe(2048)
  })
})
