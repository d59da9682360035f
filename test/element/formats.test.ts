// How amounts are written: in the unit that is read at a glance, and apart from words of another direction.

import { expect, it } from 'vitest'
import { createFormats } from '../../src/element/formats.ts'

it.each([
  [0, '0 byte'],
  [999, '999 byte'],
  [1_000, '1 kB'],
  [9_960, '10 kB'],
  [999_499, '999 kB'],
  [999_500, '1 MB'],
  [999_960_000, '1 GB'],
  [2.5e15, '2,500 TB'],
])('writes %d bytes as %s', (bytes, words) => {
  expect(createFormats('en').bytes(bytes).replace('bytes', 'byte')).toBe(words)
})

it('keeps an amount of a language that is written from the right apart from its neighbours', () => {
  expect(createFormats('ar').bytes(2_000)).toMatch(/^\u2068.+\u2069$/)
  expect(createFormats('de').bytes(2_000)).toBe('2 kB')
})
