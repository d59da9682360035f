// How amounts are written: in the unit that is read at a glance, and apart from words of another direction.

import { expect, it } from 'vitest'
import { createFormats } from '../../src/element/formats.ts'

it.each([
  [0, '0 byte'],
  [999, '999 byte'],
  [1_000, '1 kB'],
  [1_540, '1.5 kB'],
  [9_960, '10 kB'],
  [15_400, '15 kB'],
  [999_499, '999 kB'],
  [999_500, '1 MB'],
  [999_960_000, '1 GB'],
  [2.5e15, '2,500 TB'],
])('writes %d bytes as %s', (bytes, words) => {
  expect(createFormats('en').bytes(bytes).replace('bytes', 'byte')).toBe(words)
})

it('says of a time that runs out fewer and fewer seconds and minutes, each for about as long as the next', () => {
  const said = new Map<string, number>()
  for (let seconds = 269.5; seconds > 0; seconds -= 0.5) {
    const words = createFormats('en').duration(seconds * 1_000)
    said.set(words, (said.get(words) ?? 0) + 0.5)
  }
  expect(Object.fromEntries(said)).toEqual({
    ...{ '4 min': 60, '3 min': 60, '2 min': 60, '1 min': 32.5 },
    ...Object.fromEntries([55, 50, 45, 40, 35, 30, 25, 20, 15, 10].map((seconds) => [`${String(seconds)} sec`, 5])),
    '5 sec': 7,
  })
})

it.each([
  [59 * 60, '59 min'],
  [59.6 * 60, '1 hr'],
  [60.6 * 60, '1 hr 1 min'],
  [30 * 3600, '30 hr'],
])('says of %d s that they are %s', (seconds, words) => {
  expect(createFormats('en').duration(seconds * 1_000)).toBe(words)
})

it('keeps an amount of a language that is written from the right apart from its neighbours', () => {
  expect(createFormats('ar').bytes(2_000)).toMatch(/^\u2068.+\u2069$/)
  expect(createFormats('de').bytes(2_000)).toBe('2 kB')
})
