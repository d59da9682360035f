// What is shown and said when nothing runs any more: the same words to the eye and to the ear.

import type { Totals } from './list-state.ts'
import type { Words } from './words.ts'

export function endWords(
  words: Words,
  { filesConfirmed: done, filesTotal: all, sentBytes }: Pick<Totals, 'filesConfirmed' | 'filesTotal' | 'sentBytes'>,
  wasCancelled: boolean,
): string {
  if (done === all) return words.allDone(all)
  if (wasCancelled) return words.wasCancelled
  return sentBytes === 0 ? words.noneDone : words.notDone(all - done)
}
