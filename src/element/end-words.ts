// What is shown and said when nothing runs any more: the same words to the eye and to the ear.

import type { Totals } from './list-state.ts'
import type { Words } from './words.ts'

export function endWords(
  words: Words,
  { filesConfirmed: done, filesTotal: all, filesFailed }: Pick<Totals, 'filesConfirmed' | 'filesTotal' | 'filesFailed'>,
): string {
  if (done === all) return words.allDone(all)
  // What is neither confirmed nor has failed was cancelled, whichever upload came last.
  return filesFailed > 0 ? words.notDone(filesFailed) : words.wasCancelled
}
