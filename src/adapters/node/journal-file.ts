// One session's journal file: opened and checked, appended to, shortened when it has grown. Its process holds the lock.
//
// The file is born whole, by a rename, with its first records, and is 0600 because addresses are in it. A write that
// fails is cut off again, so that the next one may succeed. After an fsync that failed nothing is certain: the system
// may have dropped the bytes and still show them. The file is then cut back to what is known to be on the disk, and
// takes nothing more until it is opened again.
//
// It is rewritten as the shortest equivalent history when that halves it: at opening from 64 KiB on, and later each time
// it has doubled and is over 8 MiB: rewriting reads and folds all of it, which for the journal of a night of thousands of
// small files would cost more memory than the upload itself.

import { open, readFile, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { compactRecords } from '../../core/compact-journal.ts'
import { UploadError } from '../../core/errors.ts'
import type { JournalRecord } from '../../core/journal.ts'
import { decodeJournal, encodeHeader, encodeLines, KEPT_MARK } from '../../core/journal-lines.ts'
import { recordText } from '../../core/record-text.ts'
import type { JournalHeader } from '../../core/journal-lines.ts'
import { syncFolder, writeFully, writeWhole } from './durable-file.ts'
import { errorCode } from './file-problem.ts'
import type { LineStore } from './group-commit.ts'
import { explained, journalProblem } from './journal-problem.ts'

const COMPACT_AT_OPEN_BYTES = 64 * 1024
const COMPACT_LATER_BYTES = 8 * 1024 ** 2

export interface JournalFile extends LineStore {
  /** Found at opening. */
  readonly records: readonly JournalRecord[]
  /** Brings the rest to the disk, marks the file as complete and closes it. Never rejects. */
  close(): Promise<void>
}

/** The journal's file in a session's folder. */
export function journalPath(folder: string): string {
  return join(folder, 'journal')
}

/** The records in `folder` now, without changing or locking anything; none when there is no journal. */
export function readJournalFile(folder: string): Promise<readonly JournalRecord[]> {
  const path = journalPath(folder)
  return explained(path, 'read', async () => decodeJournal(await bytesOf(path), path).records)
}

/**
 * Opens the journal in `folder`; one that is not there is made with its first records, under the header that
 * `makeHeader` gives. Damage, another version and a header of another key reject with ERR_UPLOAD_JOURNAL, before
 * anything is changed.
 */
export async function openJournalFile(
  folder: string,
  key: string,
  makeHeader: () => JournalHeader,
): Promise<JournalFile> {
  const path = journalPath(folder)
  return explained(path, 'opened', async () => {
    const bytes = await bytesOf(path)
    const { header, records, lineCount, isKept, soundBytes } = decodeJournal(bytes, path)
    if (header !== undefined && header.key !== key) throw otherKey(path, key, header.key)
    // Left by a process that died while it wrote it; it may hold addresses.
    await rm(asideOf(path), { force: true })
    const state: State = {
      ...{ path, header: header ?? makeHeader(), handle: undefined, broken: undefined, isMarked: true },
      ...{ lineCount, endBytes: soundBytes, keptCount: lineCount, keptBytes: soundBytes },
      ...{ tailBytes: bytes.length - soundBytes, compactAtBytes: Math.max(COMPACT_LATER_BYTES, 2 * soundBytes) },
    }
    if (header !== undefined) state.handle = await openFile(path, isKept)
    if (soundBytes >= COMPACT_AT_OPEN_BYTES) await shorten(state, records)
    return journalFile(state, records)
  })
}

interface State {
  readonly path: string
  readonly header: JournalHeader
  /** Undefined until the file is there. */
  handle: FileHandle | undefined
  /** The number of the last line, and where it ends. */
  lineCount: number
  endBytes: number
  /** The same for the last line that is known to be on the disk. */
  keptCount: number
  keptBytes: number
  /** What stands behind the last whole line: cut off before the next write. */
  tailBytes: number
  compactAtBytes: number
  /** Nothing was written since the last line said that all before it is kept. */
  isMarked: boolean
  broken: UploadError | undefined
}

function journalFile(state: State, records: readonly JournalRecord[]): JournalFile {
  return {
    records,
    broken: () => state.broken,
    isDirty: () => state.endBytes > state.keptBytes,
    write: (texts) => explained(state.path, 'written', () => write(state, texts)),
    sync: () => sync(state),
    async tidy() {
      if (state.handle !== undefined && state.endBytes >= state.compactAtBytes) await shorten(state, undefined)
    },
    close: () => close(state),
  }
}

async function write(state: State, texts: readonly string[]): Promise<void> {
  const { handle } = state
  if (handle === undefined) await replace(state, texts)
  else await add(state, handle, texts)
  state.isMarked = false
}

async function add(state: State, handle: FileHandle, texts: readonly string[]): Promise<void> {
  const bytes = encodeLines(texts, state.lineCount + 1, state.keptCount)
  if (state.tailBytes > 0) await cutTail(state, handle)
  try {
    await writeFully(handle, bytes, state.endBytes)
  } catch (error) {
    // Whole lines may be among what was written. The next write cuts again, and makes sure of it.
    state.tailBytes = bytes.length
    await handle.truncate(state.endBytes).catch(() => undefined)
    throw error
  }
  state.lineCount += texts.length
  state.endBytes += bytes.length
}

/** On the disk before anything follows, or lines of the tail could show up again behind new ones. */
async function cutTail(state: State, handle: FileHandle): Promise<void> {
  await handle.truncate(state.endBytes)
  await sync(state)
  state.tailBytes = 0
}

async function sync(state: State): Promise<void> {
  try {
    await state.handle?.datasync()
    state.keptCount = state.lineCount
    state.keptBytes = state.endBytes
  } catch (error) {
    state.broken = journalProblem(error, state.path, 'brought to the disk')
    await state.handle?.truncate(state.keptBytes).catch(() => undefined)
    throw state.broken
  }
}

/** Puts a whole new file in place. When it rejects before the rename, all is as it was. */
async function replace(state: State, texts: readonly string[]): Promise<void> {
  const { path } = state
  // It is seen only when all of it is on the disk, so each line may call all of them kept.
  const bytes = encodeWhole(state.header, texts)
  await writeWhole(asideOf(path), bytes)
  const hadFile = state.handle !== undefined
  try {
    // Windows does not replace a file that is open.
    await state.handle?.close()
    state.handle = undefined
    await rename(asideOf(path), path)
  } catch (error) {
    await rm(asideOf(path), { force: true }).catch(() => undefined)
    if (hadFile) await reopen(state)
    throw error
  }
  const endBytes = bytes.length
  Object.assign(state, {
    lineCount: texts.length,
    endBytes,
    keptCount: texts.length,
    keptBytes: endBytes,
    tailBytes: 0,
  })
  await reopen(state)
  await syncNames(state)
}

async function reopen(state: State): Promise<void> {
  try {
    state.handle = await open(state.path, 'r+')
  } catch (error) {
    throw (state.broken = journalProblem(error, state.path, 'opened again'))
  }
}

/** If the new name could be lost, so could everything that is appended under it. */
async function syncNames(state: State): Promise<void> {
  const folder = dirname(state.path)
  try {
    await syncFolder(folder)
    await syncFolder(dirname(folder))
  } catch (error) {
    throw (state.broken = journalProblem(error, state.path, 'brought to the disk'))
  }
}

/** Keeps the file as it is when the shorter one cannot be written: only brevity is lost. Never rejects. */
async function shorten(state: State, known: readonly JournalRecord[] | undefined): Promise<void> {
  const { path, endBytes } = state
  try {
    const history = known ?? decodeJournal((await readFile(path)).subarray(0, endBytes), path).records
    const shorter = compactRecords(history)
    if (shorter.length < history.length) {
      const texts = shorter.map(recordText)
      if (encodeWhole(state.header, texts).length * 2 <= endBytes) await replace(state, texts)
    }
  } catch {
    // Where this left the file in doubt, `broken` says so to the next append.
  }
  state.compactAtBytes = Math.max(COMPACT_LATER_BYTES, 2 * state.endBytes)
}

async function close(state: State): Promise<void> {
  try {
    if (state.handle === undefined || state.broken !== undefined || state.isMarked) return
    if (state.endBytes > state.keptBytes) await sync(state)
    await add(state, state.handle, [KEPT_MARK])
  } catch {
    // Only received parts were not on the disk yet; the file is read as after a crash.
  } finally {
    await state.handle?.close().catch(() => undefined)
  }
}

function encodeWhole(header: JournalHeader, texts: readonly string[]): Uint8Array {
  return Buffer.concat([encodeHeader(header), encodeLines(texts, 1, texts.length)])
}

function asideOf(path: string): string {
  return `${path}.new`
}

async function bytesOf(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return new Uint8Array()
    throw error
  }
}

/** What is found is relied on from now on, and its writer may have died before all of it was on the disk. */
async function openFile(path: string, isKept: boolean): Promise<FileHandle> {
  const handle = await open(path, 'r+')
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
