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
import { driveOf, isDriveGone, noteDevice } from './drives.ts'
import { lookAt, lookFirst, openRegularFile, type OpenFile, type Place } from './open-file.ts'
import { createQuickDisk, type QuickDisk } from './quick-disk.ts'
import { isPromise } from '../../../core/is-promise.ts'

export interface FileSourceOptions {
  /** The name sent to the service. Default: the last part of the path. */
  readonly name?: string
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
  /** The drive on which it was last seen. */
  let device: bigint | undefined
  /** Some of it may have been sent, and since then its drive was away: another card may be in its place, with a file that looks alike. */
  let hasOpened = false
  let mayBeAnother = false
  const onGone = (): void => {
    mayBeAnother = hasOpened
  }
  /** Makes the reader if this is the expected file. Otherwise closes the file. */
  const check = (file: OpenFile, expected: SourceIdentity): Reader | Promise<Reader> => {
    const { facts } = file
    noteDevice(place.folder, facts.dev)
    try {
      requireSame(location, expected, identityOf(facts))
      if (mayBeAnother) throw driveChanged(location)
      device = facts.dev
      hasOpened = true
    } catch (error) {
      // A drive that is gone may fail to close it, which says nothing more.
      return file.close().finally(() => {
        throw error
      }) as Promise<never>
    }
    return fileReader(disk, place, file, onGone)
  }

  /** A file that is nowhere may be back in a moment, if its drive is gone too. */
  const orGone = async (error: unknown): Promise<never> => {
    const seen = device ?? driveOf(place.folder)
    const isWithDrive = isNowhere(error) && typeof seen === 'bigint' && (await isDriveGone(location, seen))
    if (!isWithDrive) throw error
    onGone()
    throw fileGone(error, location, true)
  }

  return {
    name: options.name ?? basename(location),
    location,
    async describe(signal) {
      signal?.throwIfAborted()
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

function fileReader(disk: QuickDisk, place: Place, file: OpenFile, onGone: () => void): Reader {
  const { location } = place
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
        },
        (error) => (error === signal?.reason ? error : fileProblem(error, location, `read at byte ${at}`)),
      ),
    verify: () =>
      atOnceOrLater(
        () => lookAt(disk, place),
        (found) => verifyPath(location, file.facts, found),
        (error) => fileProblem(error, location, 'looked at'),
      )?.catch(async (error: unknown) => {
        if (!isNowhere(error)) throw error
        const isWithDrive = await isDriveGone(location, file.facts.dev)
        if (isWithDrive) onGone()
        throw fileGone(error, location, isWithDrive)
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
  if (found.dev !== opened.dev) throw driveChanged(location)
  if (found.ino !== opened.ino) throw sourceChanged(location, 'another file was put in its place')
}

function identityOf(facts: BigIntStats): SourceIdentity {
  return { sizeBytes: Number(facts.size), modifiedAtMs: Number(facts.mtimeMs) }
}
