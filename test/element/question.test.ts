// What is asked before something that was uploaded is given up.

import { expect, it } from 'vitest'

import { questionOf } from '../../src/element/question.ts'
import { englishTexts } from '../../src/element/texts.ts'
import { createWords } from '../../src/element/words.ts'

const words = createWords(englishTexts, 'en')

it.each([
  ['what is kept and what is lost', [1, 3, 9], true, '1 file is confirmed and kept. 2 files are given up.'],
  ['what is lost with the rest', [2, 3, 9], false, '2 files are confirmed already. That is given up too.'],
  ['parts of a file', [0, 3, 9], false, 'Part of it is uploaded already. That is given up too.'],
  ['nothing where nothing was uploaded', [0, 3, 0], false, undefined],
  ['nothing where all is confirmed and kept', [3, 3, 9], true, undefined],
] as const)('says %s', (_what, [filesConfirmed, filesTotal, confirmedBytes], isKept, question) => {
  expect(questionOf({ filesConfirmed, filesTotal, confirmedBytes }, isKept, words)).toBe(question)
})
