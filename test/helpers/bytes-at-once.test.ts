// Bytes are compared fast in tests, and as strictly as vitest compares them.

import { expect, it } from 'vitest'

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)

it('tells bytes apart by their values, their number and their kind, also inside of something else', () => {
  expect({ of: [bytes(1, 2)] }).toStrictEqual({ of: [bytes(1, 2)] })
  for (const other of [bytes(1, 3), bytes(1), bytes(1, 2, 0), Buffer.of(1, 2), Uint8ClampedArray.of(1, 2)]) {
    expect(other).not.toEqual(bytes(1, 2))
    expect({ of: [other] }).not.toStrictEqual({ of: [bytes(1, 2)] })
  }
})

it('says where bytes differ, and of equal ones that they are', () => {
  expect(() => expect(bytes(1, 2)).toEqual(bytes(1, 3))).toThrow('to deeply equal')
  expect(() => expect(bytes(1, 2)).not.toEqual(bytes(1, 2))).toThrow('to not deeply equal')
})
