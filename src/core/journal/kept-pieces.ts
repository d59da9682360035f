// How a record that holds all files of a session is written: in lines of bounded length, so that no step of reading or writing
// it takes long. Only the lines know of it; everybody else sees one record.

import type { JournalRecord, KeptFile, KeptRecord } from './journal.ts'

/** A piece ends with the file that brings it to this many parts: half a megabyte with addresses of an ordinary length. */
const PARTS_IN_PIECE = 1_000

/** Records that are all like `kept`, but each with some of its files; at least one, and in the order of the files. */
export function inPieces(kept: KeptRecord): KeptRecord[] {
  const pieces: KeptRecord[] = []
  let files: KeptFile[] = []
  let partCount = PARTS_IN_PIECE
  for (const file of kept.files) {
    if (partCount >= PARTS_IN_PIECE) {
      files = []
      partCount = 0
      pieces.push({ ...kept, files })
    }
    files.push(file)
    partCount += file.parts.length
  }
  return pieces.length === 0 ? [kept] : pieces
}

/** Adds the record of the next line to those before it: a piece to the piece before it, anything else as it is. */
export function addRecord(records: JournalRecord[], record: JournalRecord): void {
  const last = records.at(-1)
  if (last?.type !== 'session.kept' || record.type !== 'session.kept' || !isList(last.files) || !isList(record.files))
    records.push(record)
  else for (const file of record.files) (last.files as KeptFile[]).push(file)
}

/** What was read may have been written by hand; the fold judges it. */
function isList(files: unknown): boolean {
  return Array.isArray(files)
}
