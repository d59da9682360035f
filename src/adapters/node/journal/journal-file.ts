// One session's journal file: opened and checked, appended to, and shortened when it has grown. Its process holds the
// lock.
//
// The file comes into being whole, by a rename, with its first records. It is 0600 because it contains addresses. A
// write that fails is cut off again, so that the next one may succeed.

import { writeSync } from 'node:fs'
import { rm, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { known, UploadError } from '../../../core/errors.ts'
import type { JournalRecord } from '../../../core/journal/journal.ts'
import { decodingJournal, encodeLines, KEPT_MARK, type JournalHeader } from '../../../core/journal/journal-lines.ts'
import { errorCode } from '../file-problem.ts'
import { inSlices } from '../in-slices.ts'
import { writeFully } from '../positional-io.ts'
import type { LineStore } from './group-commit.ts'
import { explained } from './journal-problem.ts'
import {
  asideOf,
  compactAtBytes,
  COMPACT_AT_OPEN_BYTES,
  encodeWhole,
  isRemoved,
  replace,
  shorten,
  sync,
  type WrittenJournal,
} from './journal-writing.ts'
import { bytesIn, openFile } from './patient-files.ts'

export interface JournalFile extends LineStore {
  /** The records found at opening. */
  readonly records: readonly JournalRecord[]
  /** Brings the rest to the disk, marks the file as complete and closes it. Never rejects. */
  close(): Promise<void>
}

/** The journal's file in a session's folder. */
export function journalPath(folder: string): string {
  return join(folder, 'journal')
}

/** The records in `folder` now, read without changing or locking anything; none if there is no journal. */
export function readJournalFile(folder: string): Promise<readonly JournalRecord[]> {
  const path = journalPath(folder)
  return explained(path, 'read', async () => (await inSlices(decodingJournal(await bytesOf(path), path))).records)
}

/**
 * Opens the journal in `folder`. If there is none, it is made with its first records, under the header that
 * `makeHeader` returns. Damage, another version, or the header of another key reject with ERR_UPLOAD_JOURNAL before
 * anything is changed.
 */
export async function openJournalFile(
  ports: Pick<WrittenJournal, 'disk' | 'clock' | 'claimFolder'>,
  folder: string,
  key: string,
  makeHeader: () => JournalHeader,
): Promise<JournalFile> {
  const path = journalPath(folder)
  return explained(path, 'opened', async () => {
    const bytes = await bytesOf(path)
    const { header, records, lineCount, isKept, soundBytes } = await inSlices(decodingJournal(bytes, path))
    if (header !== undefined && header.key !== key) throw otherKey(path, key, header.key)
    // Left by a process that died while writing it. It may contain addresses.
    await rm(asideOf(path), { force: true })
    const end = { lineCount, bytes: soundBytes }
    const state: WrittenJournal = {
      ...ports,
      path,
      header: header ?? makeHeader(),
      handle: undefined,
      broken: undefined,
      isMarked: true,
      end,
      kept: end,
      hasTail: bytes.length > soundBytes,
      compactAtBytes: compactAtBytes(end),
      lookAtMs: -Infinity,
    }
    if (header !== undefined) state.handle = await reopenFile(path, isKept)
    if (soundBytes >= COMPACT_AT_OPEN_BYTES) await shorten(state, records)
    return journalFile(state, records)
  })
}

function journalFile(state: WrittenJournal, records: readonly JournalRecord[]): JournalFile {
  return {
    records,
    broken: () => state.broken,
    isDirty: () => isDirty(state),
    write: (texts) => explained(state.path, 'written', () => write(state, texts)),
    sync: () => sync(state),
    async tidy() {
      if (state.end.bytes >= state.compactAtBytes) await shorten(state, undefined)
    },
    close: () => close(state),
  }
}

async function write(state: WrittenJournal, texts: readonly string[]): Promise<void> {
  if (state.handle === undefined) await replace(state, await encodeWhole(state.header, texts))
  else await add(state, texts)
  state.isMarked = false
}

/** Appends to a file that exists. */
async function add(state: WrittenJournal, texts: readonly string[]): Promise<void> {
  if (state.hasTail) await cutTail(state)
  // Only now: if somebody has removed the file, the cut has put it back, under another handle.
  const { end, kept } = state
  const handle = known(state.handle)
  const bytes = encodeLines(texts, end.lineCount + 1, kept.lineCount)
  try {
    await writeLines(state, handle, bytes)
  } catch (error) {
    // Whole lines may be among what was written. The next write cuts again, and makes sure of it.
    state.hasTail = true
    await handle.truncate(end.bytes).catch(() => undefined)
    throw error
  }
  state.end = { lineCount: end.lineCount + texts.length, bytes: end.bytes + bytes.length }
}

/**
 * Lines go into the system's memory, and thousands of small files write theirs one by one: each way to a thread and back would cost
 * more than the line. What the system does not take at once goes to a thread.
 */
async function writeLines({ disk, path, end }: WrittenJournal, handle: FileHandle, bytes: Uint8Array): Promise<void> {
  const written = disk.mayAskNow(dirname(path))
    ? disk.askNow(() => writeSync(handle.fd, bytes, 0, bytes.length, end.bytes), bytes.length)
    : 0
  await writeFully(handle, bytes.subarray(written), end.bytes + written)
}

/** The cut is on the disk before anything follows, or lines of the tail could show up again after new ones. */
async function cutTail(state: WrittenJournal): Promise<void> {
  await state.handle?.truncate(state.end.bytes)
  await sync(state)
  state.hasTail = false
}

function isDirty({ end, kept }: WrittenJournal): boolean {
  return end !== kept
}

async function close(state: WrittenJournal): Promise<void> {
  try {
    if (state.handle === undefined || state.broken !== undefined) return
    state.lookAtMs = -Infinity
    if (isDirty(state) || (await isRemoved(state))) await sync(state)
    if (!state.isMarked) await add(state, [KEPT_MARK])
  } catch {
    // Only received parts were not on the disk yet. The file will be read as after a crash.
  } finally {
    await state.handle?.close().catch(() => undefined)
  }
}

async function bytesOf(path: string): Promise<Uint8Array> {
  try {
    return await bytesIn(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return new Uint8Array()
    throw error
  }
}

/** What is found is relied on from now on, and its writer may have died before all of it was on the disk. */
async function reopenFile(path: string, isKept: boolean): Promise<FileHandle> {
  const handle = await openFile(path, 'r+')
  try {
    if (!isKept) await handle.datasync()
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

function otherKey(path: string, key: string, found: string): UploadError {
  return new UploadError(
    'ERR_UPLOAD_JOURNAL',
    `The journal "${path}" is that of the session "${found}", not of "${key}": its folder was renamed. Give the folder its old name back.`,
    { details: { path, key } },
  )
}
