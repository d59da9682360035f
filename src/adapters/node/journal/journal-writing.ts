// A journal's file while it is open: what of it is known to be on the disk, and how it is replaced by another one as a whole.
//
// After an fsync that failed nothing is certain: the system may have dropped the bytes and still show them. The file is then
// cut back to what is known to be on the disk, and takes nothing more until it is opened again.
//
// It is rewritten as the shortest equivalent history when that halves it: at opening from 64 KiB on, and later each time
// it has doubled and is over 8 MiB: rewriting reads and folds all of it, which for the journal of a night of thousands of
// small files would cost more memory than the upload itself.

import { open, readFile, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'

import { compactRecords } from '../../../core/journal/compact-journal.ts'
import type { UploadError } from '../../../core/errors.ts'
import type { JournalRecord } from '../../../core/journal/journal.ts'
import { decodeJournal, encodeHeader, encodeLines, type JournalHeader } from '../../../core/journal/journal-lines.ts'
import { recordText } from '../../../core/journal/record-text.ts'
import { syncFolder, writeWhole } from './durable-file.ts'
import { journalProblem } from './journal-problem.ts'

export const COMPACT_AT_OPEN_BYTES = 64 * 1024
const COMPACT_LATER_BYTES = 8 * 1024 ** 2

/** A line of the file: its number, and where it ends. */
export interface LinePlace {
  readonly lineCount: number
  readonly bytes: number
}

/** Changed in place by whoever writes. */
export interface WrittenJournal {
  readonly path: string
  readonly header: JournalHeader
  /** Undefined until the file is there. */
  handle: FileHandle | undefined
  /** The last line. */
  end: LinePlace
  /** The last line that is known to be on the disk: the same object where that is the last one. */
  kept: LinePlace
  /** Something stands behind the last whole line: cut off before the next write. */
  hasTail: boolean
  compactAtBytes: number
  /** Nothing was written since the last line said that all before it is kept. */
  isMarked: boolean
  broken: UploadError | undefined
}

/** Brings all that was written to the disk. Rejects with ERR_UPLOAD_JOURNAL; the file is broken then. */
export async function sync(state: WrittenJournal): Promise<void> {
  try {
    await state.handle?.datasync()
    state.kept = state.end
  } catch (error) {
    state.broken = journalProblem(error, state.path, 'brought to the disk')
    await state.handle?.truncate(state.kept.bytes).catch(() => undefined)
    throw state.broken
  }
}

/** Puts a whole new file in place. When it rejects before the rename, all is as it was. */
export async function replace(state: WrittenJournal, texts: readonly string[]): Promise<void> {
  const { path } = state
  // It is seen only when all of it is on the disk, so each line may call all of them kept.
  const bytes = encodeWhole(state.header, texts)
  await writeWhole(asideOf(path), bytes)
  try {
    // Windows does not replace a file that is open.
    await state.handle?.close()
    await rename(asideOf(path), path)
  } catch (error) {
    await rm(asideOf(path), { force: true }).catch(() => undefined)
    if (state.handle !== undefined) await reopen(state)
    throw error
  }
  state.end = state.kept = { lineCount: texts.length, bytes: bytes.length }
  state.hasTail = false
  await reopen(state)
  await syncNames(state)
}

async function reopen(state: WrittenJournal): Promise<void> {
  try {
    state.handle = await open(state.path, 'r+')
  } catch (error) {
    throw (state.broken = journalProblem(error, state.path, 'opened again'))
  }
}

/** If the new name could be lost, so could everything that is appended under it. */
async function syncNames(state: WrittenJournal): Promise<void> {
  const folder = dirname(state.path)
  try {
    await syncFolder(folder)
    await syncFolder(dirname(folder))
  } catch (error) {
    throw (state.broken = journalProblem(error, state.path, 'brought to the disk'))
  }
}

/** Keeps the file as it is when the shorter one cannot be written: only brevity is lost. Never rejects. */
export async function shorten(state: WrittenJournal, known: readonly JournalRecord[] | undefined): Promise<void> {
  const { path, end } = state
  try {
    const history = known ?? decodeJournal(await readFile(path), path).records
    const shorter = compactRecords(history)
    if (shorter.length < history.length) {
      const texts = shorter.map(recordText)
      if (encodeWhole(state.header, texts).length * 2 <= end.bytes) await replace(state, texts)
    }
  } catch {
    // Where this left the file in doubt, `broken` says so to the next append.
  }
  state.compactAtBytes = compactAtBytes(state.end)
}

/** How long the file is when it is worth rewriting again. */
export function compactAtBytes({ bytes }: LinePlace): number {
  return Math.max(COMPACT_LATER_BYTES, 2 * bytes)
}

function encodeWhole(header: JournalHeader, texts: readonly string[]): Uint8Array {
  return Buffer.concat([encodeHeader(header), encodeLines(texts, 1, texts.length)])
}

/** Where a new file is written before it takes its place. */
export function asideOf(path: string): string {
  return `${path}.new`
}
