// Source over a regular file: one handle per opening, reads at positions, and a check that the path still means that
// file.

import type { BigIntStats } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'

import { invalid, invariant, isUploadError, type UploadError } from '../../../core/errors.ts'
import type { Clock, Reader, Source, SourceIdentity } from '../../../core/ports.ts'
import { createReadGate } from '../../web/read-gate.ts'
import { endedEarly, requirePosition, requireSame, sourceChanged } from '../../web/source-identity.ts'
import { systemClock } from '../../web/system-clock.ts'
import { driveChanged, fileGone, fileProblem } from '../file-problem.ts'
import { unlessBusy } from './busy-file.ts'
import { driveOf, isDriveGone, isSameDevice, noteDevice } from './drives.ts'
import { createFingerprint, type Fingerprint } from './fingerprint.ts'
import { lookAt, lookFirst, openRegularFile, type OpenFile, type Place } from './open-file.ts'
import { createQuickDisk, type QuickDisk } from './quick-disk.ts'
import { isPromise } from '../../../core/is-promise.ts'

export interface FileSourceOptions {
  /** The name sent to the service. Default: the last part of the path. */
  readonly name?: string | undefined
}

/** One for the process, because it shares its disks. */
const processDisk = createQuickDisk()
/** One for all sources: thousands of them are made at once. */
const processClock = systemClock()

/**
 * Uploads the file at `path`, which is resolved at once against the current working folder. Links are followed. A file
 * that is missing, not readable by this user or not regular makes `describe` reject with ERR_UPLOAD_SOURCE_READ.
 */
export function fileSource(path: string, options: FileSourceOptions = {}): Source {
  return fileSourceOn(processDisk, path, options)
}

/** The same on a disk whose quickness, and with a clock whose time, a test decides. */
export function fileSourceOn(
  disk: QuickDisk,
  path: string,
  options: FileSourceOptions = {},
  clock: Clock = processClock,
): Source {
  if (typeof path !== 'string' || path === '') {
    invalid('fileSource: the path is empty or no string. Pass the path of a file.')
  }
  const location = resolve(path)
  const place: Place = { location, folder: dirname(location) }
  /** The drive on which it was last seen, and its number there when it was last opened. */
  let device: bigint | undefined
  let inode: bigint | undefined
  const past: Past = { fingerprint: undefined, trouble: undefined }
  /** Makes the reader if this is the expected file. Otherwise closes the file. */
  const check = (file: OpenFile, expected: SourceIdentity): Reader | Promise<Reader> => {
    const { facts } = file
    const { fingerprint, trouble } = past
    const accept = (): Reader => {
      if (past.trouble === trouble) past.trouble = undefined
      device = facts.dev
      inode = facts.ino
      return fileReader(disk, place, file, past)
    }
    // A drive that is gone may fail to close it, which says nothing more.
    const refuse = (error: unknown): Promise<never> =>
      file.close().finally(() => {
        throw error
      }) as Promise<never>
    noteDevice(place.folder, facts.dev)
    try {
      requireSame(location, expected, identityOf(facts))
    } catch (error) {
      return refuse(error)
    }
    const isPutBack = trouble?.isGone === true || device === undefined || !isSameDevice(device, facts.dev)
    const mayBeAnother = isPutBack || trouble !== undefined || inode !== facts.ino
    if (!fingerprint || !mayBeAnother) return accept()
    return isKnown(location, file, fingerprint, isPutBack)
      .then((isSame) => {
        if (isSame) return accept()
        // That fails the file. A resume may be given the same source, and proves by itself what it holds then.
        past.fingerprint = undefined
        throw driveChanged(location, false)
      })
      .catch(refuse)
  }

  /** A file that is nowhere may be back in a moment, if its drive is gone too. */
  const orGone = async (error: unknown): Promise<never> => {
    const seen = device ?? driveOf(place.folder)
    const isGone = isNowhere(error) && typeof seen === 'bigint' && (await isDriveGone(location, seen))
    noteTrouble(past, isGone)
    throw isGone ? fileGone(error, location, true) : error
  }

  return {
    name: options.name ?? basename(location),
    location,
    async describe(signal) {
      signal?.throwIfAborted()
      // An upload begins, of which nothing was sent. The source may have been used before.
      past.fingerprint = undefined
      const looking = unlessBusy(clock, () => lookFirst(disk, place), signal)
      const facts = isPromise(looking) ? await looking.catch(orGone) : looking
      device ??= facts.dev
      return identityOf(facts)
    },
    open(expected) {
      const opening = unlessBusy(clock, () => openRegularFile(disk, place))
      return isPromise(opening) ? opening.then((file) => check(file, expected), orGone) : check(opening, expected)
    },
  }
}

/** What a source remembers of its file, which may be another one by the time that it is opened again. */
interface Past {
  /** Undefined while nothing of it was read but the whole, which is sent as a whole each time. */
  fingerprint: Fingerprint | undefined
  /** What went wrong since it was last opened. `isGone`: it was nowhere, and so was its drive. */
  trouble: { readonly isGone: boolean } | undefined
}

function noteTrouble(past: Past, isGone: boolean): void {
  past.trouble = { isGone: isGone || past.trouble?.isGone === true }
}

/**
 * Whether it is the file whose parts were read, and not another one, such as one of another card. One that was put back must be
 * known for sure. Rejects where it cannot be read.
 */
async function isKnown(
  location: string,
  file: OpenFile,
  fingerprint: Fingerprint,
  isPutBack: boolean,
): Promise<boolean> {
  const comparing = fingerprint.compare((into, at) => file.read(into, at))
  const likeness = await comparing.catch((error: unknown) => {
    throw fileProblem(error, location, 'read')
  })
  return likeness === 'same' || (likeness === 'unknown' && !isPutBack)
}

function fileReader(disk: QuickDisk, place: Place, file: OpenFile, past: Past): Reader {
  const { location } = place
  const sizeBytes = Number(file.facts.size)
  const what = `the reader of "${location}"`
  const gate = createReadGate(what)
  let isClosed = false
  /** What the disk answers at once is used at once. Whatever goes wrong is a rejection. */
  const atOnceOrLater = <T>(
    ask: () => T | Promise<T>,
    check: (answer: T) => void,
    problem: (error: unknown) => unknown,
  ): Promise<void> | undefined => {
    try {
      invariant(!isClosed, `${what} was used after it was closed`)
      const answer = asked(ask, problem)
      if (isPromise(answer)) return gate.run(() => answer.then(check))
      check(answer)
      return undefined
    } catch (error) {
      if (error instanceof Error) return Promise.reject(error)
      throw error
    }
  }

  return {
    read: (into, at, signal) =>
      atOnceOrLater(
        () => {
          requirePosition(at)
          return file.read(into, at, signal)
        },
        (filled) => {
          if (filled < into.byteLength) throw endedEarly(location, at, into.byteLength, filled)
          if (filled < sizeBytes) (past.fingerprint ??= createFingerprint()).note(into, at)
        },
        (error) => {
          if (error === signal?.reason) return error
          noteTrouble(past, false)
          return fileProblem(error, location, `read at byte ${at}`)
        },
      ),
    verify: () =>
      atOnceOrLater(
        () => lookAt(disk, place),
        (found) => verifyPath(location, file.facts, found),
        (error) => fileProblem(error, location, 'looked at'),
      )?.catch(async (error: unknown) => {
        if (!isNowhere(error)) throw error
        const isGone = await isDriveGone(location, file.facts.dev)
        noteTrouble(past, isGone)
        throw fileGone(error, location, isGone)
      }),
    close() {
      isClosed = true
      return gate.close(() => file.close())
    },
  }
}

/**
 * Returns the answer. A throw or a rejection becomes what `problem` makes of it; an UploadError that is thrown stays.
 */
function asked<T>(ask: () => T | Promise<T>, problem: (error: unknown) => unknown): T | Promise<T> {
  try {
    const answer = ask()
    if (!isPromise(answer)) return answer
    return answer.catch((error: unknown) => {
      throw problem(error)
    })
  } catch (error) {
    throw isUploadError(error) ? error : problem(error)
  }
}

function isNowhere(error: unknown): error is UploadError {
  return isUploadError(error) && error.details['systemCode'] === 'ENOENT'
}

/**
 * Judges the path, not the handle: if another file was moved over this one, the handle still has the old bytes, but a
 * resume would read the new ones. An open file keeps its inode number even on drives that make numbers up as they go; but a
 * drive that was taken out and put back has another device number.
 */
function verifyPath(location: string, opened: BigIntStats, found: BigIntStats): void {
  requireSame(location, identityOf(opened), identityOf(found))
  if (found.mtimeNs !== opened.mtimeNs) throw sourceChanged(location, 'it was written to')
  if (!isSameDevice(found.dev, opened.dev)) throw driveChanged(location, true)
  if (found.ino !== opened.ino) throw sourceChanged(location, 'another file was put in its place')
}

function identityOf(facts: BigIntStats): SourceIdentity {
  return { sizeBytes: Number(facts.size), modifiedAtMs: Number(facts.mtimeMs) }
}
