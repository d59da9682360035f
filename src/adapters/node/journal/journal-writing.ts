// A journal's file while it is open: how much of it is known to be on the disk, and how it is replaced as a whole.
//
// After a failed fsync nothing is certain: the system may have dropped the bytes and still show them. The file is then
// cut back to what is known to be on the disk, and takes nothing more until it is opened again.
//
// The file is rewritten as the shortest equivalent history if that halves it: at opening from 64 KiB on, and later each
// time it has doubled and is over 8 MiB. Not more often, because rewriting reads and folds all of it. For the journal
// of a night of thousands of small files, that would cost more memory than the upload itself.
//
// A file that somebody removes while it is open, such as a program that cleans up, is put back: what is written to it after that
// would be kept for nobody, and an upload that is interrupted could not be resumed. Whether it is still there is looked at when it
// is brought to the disk, once a second at most, since thousands of small files bring it there as often, and when it is closed.

import { rm, stat, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'

import { compactTexts } from '../../../core/journal/compact-in-steps.ts'
import { isUploadError, type UploadError } from '../../../core/errors.ts'
import type { JournalRecord } from '../../../core/journal/journal.ts'
import type { Clock } from '../../../core/ports.ts'
import {
  decodingJournal,
  encodeHeader,
  encodingLines,
  lengthOf,
  type JournalHeader,
} from '../../../core/journal/journal-lines.ts'
import type { QuickDisk } from '../files/quick-disk.ts'
import { inSlices } from '../in-slices.ts'
import { readFully } from '../positional-io.ts'
import { renameWritten, syncFolder, writeWhole } from './durable-file.ts'
import { journalProblem } from './journal-problem.ts'
import { bytesIn, openFile } from './patient-files.ts'

export const COMPACT_AT_OPEN_BYTES = 64 * 1024
const COMPACT_LATER_BYTES = 8 * 1024 ** 2
const LOOK_EVERY_MS = 1_000

/** A line of the file: its number, and where it ends. */
export interface LinePlace {
  readonly lineCount: number
  readonly bytes: number
}

/** Changed in place by whoever writes. */
export interface WrittenJournal {
  readonly path: string
  readonly header: JournalHeader
  /** Whether lines may be written on the calling thread. */
  readonly disk: QuickDisk
  /** Undefined until the file exists. */
  handle: FileHandle | undefined
  /** The last line. */
  end: LinePlace
  /** The last line that is known to be on the disk. The same object as `end` if that is it. */
  kept: LinePlace
  /** Something follows the last whole line. It is cut off before the next write. */
  hasTail: boolean
  compactAtBytes: number
  /** Nothing was written since the last line said that all before it is kept. */
  isMarked: boolean
  broken: UploadError | undefined
  readonly clock: Pick<Clock, 'monotonicNow'>
  /** From when on `sync` looks again whether the file is still there, monotonic ms. */
  lookAtMs: number
  /** Makes the folder of the file, and locks it, if it is gone. */
  readonly claimFolder: () => Promise<void>
}

/** Brings everything that was written to the disk. Rejects with ERR_UPLOAD_JOURNAL, after which the file is broken. */
export async function sync(state: WrittenJournal): Promise<void> {
  try {
    const nowMs = state.clock.monotonicNow()
    const isDue = nowMs >= state.lookAtMs
    if (isDue) state.lookAtMs = nowMs + LOOK_EVERY_MS
    const [isGone] = await Promise.all([isDue && isRemoved(state), state.handle?.datasync()])
    if (isGone) await putBack(state)
    state.kept = state.end
  } catch (error) {
    state.broken = isUploadError(error) ? error : journalProblem(error, state.path, 'brought to the disk')
    await state.handle?.truncate(state.kept.bytes).catch(() => undefined)
    throw state.broken
  }
}

/** Whether the open file has lost its name. Some file systems count no links, so the name is looked at too. */
export async function isRemoved({ handle, path }: WrittenJournal): Promise<boolean> {
  const facts = await handle?.stat()
  if (facts?.nlink !== 0) return false
  const named = await stat(path).catch(() => undefined)
  return named?.ino !== facts.ino
}

async function putBack(state: WrittenJournal): Promise<void> {
  const { handle, end } = state
  if (handle === undefined) return
  const bytes = new Uint8Array(end.bytes)
  await readFully(handle, bytes, 0)
  await state.claimFolder()
  await replace(state, { pieces: [bytes], ...end })
}

/** Puts a whole new file in place. If it rejects before the rename, everything is as it was. */
export async function replace(state: WrittenJournal, { pieces, ...end }: WholeJournal): Promise<void> {
  const { path } = state
  await writeWhole(asideOf(path), pieces)
  try {
    // Windows does not replace a file that is open.
    await state.handle?.close()
    await renameWritten(asideOf(path), path)
  } catch (error) {
    await rm(asideOf(path), { force: true }).catch(() => undefined)
    if (state.handle !== undefined) await reopen(state)
    throw error
  }
  state.end = state.kept = end
  state.hasTail = false
  await reopen(state)
  await syncNames(state)
}

async function reopen(state: WrittenJournal): Promise<void> {
  try {
    state.handle = await openFile(state.path, 'r+')
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

/** Shortens the history. If the shorter file cannot be written, the longer one stays. Never rejects. */
export async function shorten(state: WrittenJournal, known: readonly JournalRecord[] | undefined): Promise<void> {
  const { path, end } = state
  try {
    const history = known ?? (await inSlices(decodingJournal(await bytesIn(path), path))).records
    const texts = await inSlices(compactTexts(history))
    if (texts !== undefined) {
      const whole = await encodeWhole(state.header, texts)
      if (whole.bytes * 2 <= end.bytes) await replace(state, whole)
    }
  } catch {
    // If this left the file in doubt, `broken` says so to the next append.
  }
  state.compactAtBytes = compactAtBytes(state.end)
}

/** The length from which on the file is worth rewriting again. */
export function compactAtBytes({ bytes }: LinePlace): number {
  return Math.max(COMPACT_LATER_BYTES, 2 * bytes)
}

/** A whole journal, encoded. */
export interface WholeJournal extends LinePlace {
  readonly pieces: readonly Uint8Array[]
}

/** It becomes visible only when all of it is on the disk, so each line says that all of them are kept. */
export async function encodeWhole(header: JournalHeader, texts: readonly string[]): Promise<WholeJournal> {
  const lineCount = texts.length
  const pieces = [encodeHeader(header), ...(await inSlices(encodingLines(texts, 1, lineCount)))]
  return { lineCount, bytes: lengthOf(pieces), pieces }
}

/** Where a new file is written before it takes its place. */
export function asideOf(path: string): string {
  return `${path}.new`
}
