// What is shown when nothing runs any more, and said by screen readers in the same words.

import type { Totals } from './list-state.ts'
import type { Words } from './words.ts'

export function endOf(
  words: Words,
  { filesConfirmed: done, filesTotal: all, filesFailed }: Pick<Totals, 'filesConfirmed' | 'filesTotal' | 'filesFailed'>,
): readonly [outcome: 'done' | 'problem' | '', said: string] {
  if (done === all) return ['done', words.allDone(all)]
  // A file that is neither confirmed nor failed was cancelled, whichever upload ended last.
  return filesFailed > 0 ? ['problem', words.notDone(filesFailed)] : ['', words.wasCancelled]
}
