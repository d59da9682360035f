// What is asked before something that was uploaded is given up.

import { expect, it } from 'vitest'

import { questionOf } from '../../src/element/question.ts'
import { englishTexts } from '../../src/element/texts.ts'
import { createWords } from '../../src/element/words.ts'

const words = createWords(englishTexts, 'en')

const PART = 'Part of it is uploaded already. That is given up too.'

it.each([
  ['what is confirmed', [1, 3, 9], true, '1 of 3 files confirmed'],
  ['the same where it may be given up with the rest', [2, 3, 9], false, '2 of 3 files confirmed'],
  ['that all is confirmed, where it may be given up', [3, 3, 9], false, '3 of 3 files confirmed'],
  ['that parts of a file are given up', [0, 3, 9], false, PART],
  ['the same where files would be kept', [0, 3, 9], true, PART],
  ['nothing where nothing was uploaded', [0, 3, 0], false, undefined],
  ['nothing where all is confirmed and kept', [3, 3, 9], true, undefined],
] as const)('says %s', (_what, [filesConfirmed, filesTotal, confirmedBytes], isKept, question) => {
  expect(questionOf({ filesConfirmed, filesTotal, confirmedBytes }, isKept, words)).toBe(question)
})
