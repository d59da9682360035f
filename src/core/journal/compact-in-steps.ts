// `compactRecords` for histories so long that all of it at once would hold the thread for seconds. It gives the texts of the
// records, because these take their time too.

import { known } from '../errors.ts'
import { advanceFound, foldFound, type FoldedJournal } from './fold-journal.ts'
import type { JournalRecord, KeptFile, KeptRecord, SessionStanding } from './journal.ts'
import { inPieces } from './kept-pieces.ts'
import { keptFileOf, keptOf } from './kept-state.ts'
import { recordText } from './record-text.ts'
import type { Steps } from './steps.ts'

/**
 * The texts of lines whose records fold to exactly what `records` fold to; undefined when there is nothing to shorten. Throws
 * when either cannot be folded, and when they are not plain data.
 */
export function* compactTexts(records: readonly JournalRecord[]): Steps<readonly string[] | undefined> {
  const [begun] = records
  const last = records.at(-1)
  if (begun === undefined || last === undefined || records.length < 3) return undefined
  const folded = yield* foldInSteps(records)
  const files: KeptFile[] = []
  for (const file of folded.ledger.files) {
    files.push(keptFileOf(file))
    yield
  }
  const standing = keptOf<SessionStanding>(folded)
  const kept: KeptRecord = { type: 'session.kept', at: last.at, standing, files }
  // What somebody wrote by hand may be readable in many records but not in this one. Then it stays as it is.
  yield* foldInSteps([begun, kept])
  // Its text is that of what JSON was read from: nothing in it can be lost.
  const texts = [JSON.stringify(begun)]
  for (const piece of inPieces(kept)) {
    yield
    texts.push(recordText(piece))
  }
  return texts
}

/** `foldFound` in steps, one for each record. */
function* foldInSteps(records: readonly JournalRecord[]): Steps<FoldedJournal> {
  const folded = foldFound(records.slice(0, 1))
  for (let at = 1; at < records.length; at += 1) {
    yield
    advanceFound(folded, known(records[at]))
  }
  return folded
}
