// A regular file, opened for reading. Each operation is done at once if the disk is quick, else on a thread. Reads that
// take longer than the way to a thread and back always go to a thread, where they run while the calling thread sends.

import { close, closeSync, constants, fstat, fstatSync, open, openSync, read, readSync, statSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'

import { isUploadError } from '../../../core/errors.ts'
import { descriptors } from '../descriptors.ts'
import { fileProblem, notAFile, sizeUnknown } from '../file-problem.ts'
import { LONGEST_READ_BYTES } from '../positional-io.ts'
import { diskThreads } from './disk-threads.ts'
import { driveOf, noteDevice } from './drives.ts'
import type { QuickDisk } from './quick-disk.ts'

/** Where a file is, and the folder that it lies in, which is found once and asked about at every step. */
export interface Place {
  readonly location: string
  readonly folder: string
}

export interface OpenFile {
  /** As the file was when it was opened. */
  readonly facts: BigIntStats
  /**
   * Fills `into` from byte `at` on and returns the number of bytes read. If that is less than its length, the file
   * ended. Rejects with the signal's reason if that fires while it waits for a thread.
   */
  read(into: Uint8Array, at: number, signal?: AbortSignal): number | Promise<number>
  /** Called once, when no read is under way. */
  close(): Promise<void>
}

const opened = promisify(open)
const closed = promisify(close)
const found = promisify(fstat) as unknown as (fd: number, options: { bigint: true }) => Promise<BigIntStats>
const readAt = promisify(read)
const bigint = { bigint: true } as const
/** Takes the byte of a look, which nobody wants. */
const PROBE = new Uint8Array(1)
/** Reading this much takes some 30 µs or more, as long as it takes to ask a thread and get its answer. */
const LONG_BYTES = 131_072
// O_NONBLOCK: if a pipe has been put in the file's place since the first look, opening must not wait for a writer.
const FLAGS = constants.O_RDONLY | (process.platform === 'win32' ? 0 : constants.O_NONBLOCK)

/**
 * Looks at a file before it is first opened, and checks that it may be read: opening is the only check of permission
 * that works on every file system. Throws ERR_UPLOAD_SOURCE_READ for what is no regular file, cannot be read, or does not
 * say its size.
 */
export function lookFirst(disk: QuickDisk, place: Place): BigIntStats | Promise<BigIntStats> {
  return descriptors.patiently('file', () => look(disk, place))
}

function look(disk: QuickDisk, { location, folder }: Place): BigIntStats | Promise<BigIntStats> {
  if (!disk.mayAskNow(folder)) return diskThreads.run(driveOf(folder), () => lookFirstOnThread({ location, folder }))
  return disk.askNow(() => {
    try {
      const facts = statSync(location, bigint)
      noteDevice(folder, facts.dev)
      requireRegular(location, facts)
      const fd = openSync(location, FLAGS)
      try {
        if (facts.size === 0n && readSync(fd, PROBE, 0, 1, 0) > 0) throw sizeUnknown(location)
      } finally {
        closeSync(fd)
      }
      return facts
    } catch (error) {
      throw readProblem(error, location)
    }
  })
}

async function lookFirstOnThread({ location, folder }: Place): Promise<BigIntStats> {
  try {
    const facts = await stat(location, bigint)
    noteDevice(folder, facts.dev)
    requireRegular(location, facts)
    const fd = await opened(location, FLAGS)
    try {
      if (facts.size === 0n && (await readAt(fd, PROBE, 0, 1, 0)).bytesRead > 0) throw sizeUnknown(location)
    } finally {
      await closed(fd)
    }
    return facts
  } catch (error) {
    throw readProblem(error, location)
  }
}

/** Throws as `lookFirst` does. */
export function openRegularFile(disk: QuickDisk, place: Place): OpenFile | Promise<OpenFile> {
  return descriptors.patiently('file', () => openOnce(disk, place))
}

function openOnce(disk: QuickDisk, place: Place): OpenFile | Promise<OpenFile> {
  const { location, folder } = place
  if (!disk.mayAskNow(folder)) return diskThreads.run(driveOf(folder), () => openOnThread(disk, place))
  return disk.askNow(() => {
    let fd: number | undefined
    try {
      fd = openSync(location, FLAGS)
      const facts = fstatSync(fd, bigint)
      requireRegular(location, facts)
      return openFile(disk, folder, fd, facts)
    } catch (error) {
      if (fd !== undefined) closeSync(fd)
      throw readProblem(error, location)
    }
  })
}

async function openOnThread(disk: QuickDisk, { location, folder }: Place): Promise<OpenFile> {
  let fd: number | undefined
  try {
    fd = await opened(location, FLAGS)
    const facts = await found(fd, bigint)
    requireRegular(location, facts)
    return openFile(disk, folder, fd, facts)
  } catch (error) {
    if (fd !== undefined) await closed(fd).catch(() => undefined)
    throw readProblem(error, location)
  }
}

/** What the path stands for now. Throws or rejects with the system's error. */
export function lookAt(disk: QuickDisk, { location, folder }: Place): BigIntStats | Promise<BigIntStats> {
  return disk.mayAskNow(folder)
    ? disk.askNow(() => statSync(location, bigint))
    : diskThreads.run(driveOf(folder), () => stat(location, bigint))
}

function openFile(disk: QuickDisk, folder: string, fd: number, facts: BigIntStats): OpenFile {
  const hasClosed = descriptors.opened('file')
  return {
    facts,
    read: (into, at, signal) =>
      into.byteLength < LONG_BYTES && disk.mayAskNow(folder)
        ? disk.askNow(() => readNow(fd, into, at), into.byteLength)
        : readOnThread({ fd, drive: facts.dev }, into, at, signal),
    async close() {
      try {
        if (disk.mayAskNow(folder)) disk.askNow(() => closeSync(fd))
        else await diskThreads.run(facts.dev, () => closed(fd))
      } finally {
        hasClosed()
      }
    },
  }
}

function readNow(fd: number, into: Uint8Array, at: number): number {
  let bytes = 0
  while (bytes < into.byteLength) {
    const wanted = Math.min(into.byteLength - bytes, LONGEST_READ_BYTES)
    const got = readSync(fd, into, bytes, wanted, at + bytes)
    if (got === 0) break
    bytes += got
  }
  return bytes
}

/**
 * Does what `readFully` does, with a single promise. With the several that `readFully` makes, 2 GiB took longer than
 * when read on the calling thread.
 */
function readOnThread(
  { fd, drive }: { readonly fd: number; readonly drive: bigint },
  into: Uint8Array,
  at: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const readOn = (bytes: number): void => {
      const wanted = Math.min(into.byteLength - bytes, LONGEST_READ_BYTES)
      read(fd, into, bytes, wanted, at + bytes, (error, got) => {
        const isOver = error !== null || got === 0 || bytes + got === into.byteLength
        if (!isOver) {
          readOn(bytes + got)
          return
        }
        diskThreads.end(drive)
        if (error !== null) reject(error)
        else resolve(bytes + got)
      })
    }
    diskThreads.begin(drive, () => readOn(0), signal, reject)
  })
}

function readProblem(error: unknown, location: string): unknown {
  return isUploadError(error) ? error : fileProblem(error, location, 'read')
}

function requireRegular(location: string, facts: Pick<BigIntStats, 'isFile' | 'isDirectory' | 'isFIFO'>): void {
  if (facts.isFile()) return
  if (facts.isDirectory()) throw notAFile(location, 'a folder (name the files in it)')
  if (facts.isFIFO()) throw notAFile(location, 'a pipe (pass it as a stream, or save it to a file first)')
  throw notAFile(location, 'a device or socket')
}
