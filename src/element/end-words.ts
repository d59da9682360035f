// What is shown and said when nothing runs any more: the same words to the eye and to the ear.

import type { Totals } from './list-state.ts'
import type { Words } from './words.ts'

export function endWords(
  words: Words,
  { filesConfirmed: done, filesTotal: all }: Pick<Totals, 'filesConfirmed' | 'filesTotal'>,
  wasCancelled: boolean,
): string {
  if (done === all) return words.allDone(all)
  return wasCancelled ? words.wasCancelled : words.notDone(all - done)
}
