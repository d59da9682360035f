// Looks below a folder for files of sessions that are no longer where they were, such as on a drive that is now mounted elsewhere.

import { basename, isAbsolute, resolve, sep } from 'node:path'

import { filesUnder } from '../adapters/node/files/directory.ts'
import { fileSource } from '../adapters/node/files/file-source.ts'
import { differenceOf } from '../adapters/web/source-identity.ts'
import { invalid, isUploadError, UploadError } from '../core/errors.ts'
import type { Reader, SoughtFile, Source, SourceIdentity } from '../core/ports.ts'
import type { ResumeOptions } from '../flows/sessions.ts'
import { errorLine } from './views/error-line.ts'

/** The one path that must be the file, or why there is no such path. `isChanged`: the file is there, and is no longer what it was. */
export type FoundPlace = { readonly path: string } | { readonly why: string; readonly isChanged?: true }

/** Of a stream, for example, the journal has only the name. A file of that name in the working folder may be another one. */
const NO_PATH = 'it came from no path, so it cannot be found there again'

export interface MovedFiles {
  /** For `resume`: opens each file where it was or, if it is not there, below the folder. */
  readonly source: NonNullable<ResumeOptions['source']>
  /** Says where a file would be taken from, as far as that can be told without its bytes. */
  find(file: SoughtFile): Promise<FoundPlace>
}

interface Found {
  readonly path: string
  /** Read when it is first asked for. */
  identity?: Promise<SourceIdentity | undefined>
}

/**
 * Takes each of `all` from where it was or, if it is not there, takes the file below `folder` with its name, size and time, hidden or
 * not. If several files below the folder, or several of `all`, are alike in that, the path decides that shares the most trailing steps
 * with the old one. If none does, no file is taken, because it might be another one's. Rejects as `filesUnder` does for the folder, and
 * with ERR_UPLOAD_INVALID_ARGUMENT if it is a file.
 */
export async function movedFiles(folder: string, all: readonly SoughtFile[]): Promise<MovedFiles> {
  const sought = byName(all, ({ location }) => location)
  const { files } = await filesUnder(folder, { isSought: (name) => sought.has(spelled(name)) })
  // What is named itself has the path that was given, and nothing below a folder has.
  if (files[0]?.path === folder) invalid(`--files-in: "${folder}" is a file: name the folder that it lies in.`)
  const found = byName<Found>(files, ({ path }) => path)

  const placeBelow = async (file: SoughtFile): Promise<FoundPlace> => {
    const fits: { readonly path: string; readonly likeness: number }[] = []
    for (const one of found.get(nameOf(file.location)) ?? []) {
      // Read once for all: thousands of takes may share a name.
      if (!isAlike(file, await (one.identity ??= identityOf(one.path, () => delete one.identity)))) continue
      fits.push({ path: one.path, likeness: sharedSteps(one.path, file.location) })
    }
    const [best, second] = fits.sort((left, right) => right.likeness - left.likeness)
    if (best === undefined) return { why: `no file below "${folder}" has its name, size and time` }
    const { path, likeness } = best
    const others = (sought.get(nameOf(file.location)) ?? []).filter(
      (other) => other.location !== file.location && isAlike(file, other),
    )
    const isOnly =
      second?.likeness !== likeness && others.every(({ location }) => sharedSteps(path, location) < likeness)
    return isOnly ? { path } : { why: `several files below "${folder}" are alike, and nothing shows which one it is` }
  }

  return {
    async find(file) {
      const { location } = file
      try {
        const isThere = isAbsolute(location) && isAlike(file, await identityOf(location).catch(() => undefined))
        return isThere ? { path: location } : await placeBelow(file)
      } catch (error) {
        return { why: errorLine(error).message }
      }
    },
    source(file) {
      const { name, location } = file
      const whereItWas = fileSource(location, { name })
      /** Stays the one that was opened first, and proven: another would have to be proven, too. */
      let found: Source | undefined
      return {
        ...whereItWas,
        async open(expected) {
          const openAt = async (source: Source): Promise<Reader> => {
            const reader = await source.open(expected)
            found = source
            return reader
          }
          if (found) return found.open(expected)
          try {
            if (!isAbsolute(location)) throw new UploadError('ERR_UPLOAD_SOURCE_READ', `${name}: ${NO_PATH}.`)
            return await openAt(whereItWas)
          } catch (cause) {
            const place = await placeBelow(file)
            if ('path' in place) return openAt(fileSource(place.path, { name }))
            throw isAway(cause) ? cause : notFound(location, place.why, cause)
          }
        },
      }
    },
  }
}

/** Says whether a file is where and as it was, as far as that can be told without its bytes. */
export async function asItWas(file: SoughtFile): Promise<FoundPlace> {
  const { location } = file
  if (!isAbsolute(location)) return { why: NO_PATH }
  try {
    const how = differenceOf(file, await fileSource(location).describe())
    return how === undefined ? { path: location } : { why: `it has changed: ${how}`, isChanged: true }
  } catch (error) {
    return { why: errorLine(error).message.replace(`"${location}" `, 'it ') }
  }
}

function byName<T>(all: readonly T[], pathOf: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const lists = new Map<string, T[]>()
  for (const one of all) {
    const name = nameOf(pathOf(one))
    const list = lists.get(name)
    if (list) list.push(one)
    else lists.set(name, [one])
  }
  return lists
}

/** Undefined if the file cannot be looked at. Rejects, after `onAway`, where it may be in a moment. */
function identityOf(path: string, onAway?: () => void): Promise<SourceIdentity | undefined> {
  return fileSource(path)
    .describe()
    .catch((error: unknown) => {
      if (!isAway(error)) return undefined
      onAway?.()
      throw error
    })
}

/** Whether a drive is away, so that its files may be there in a moment. */
function isAway(error: unknown): boolean {
  return isUploadError(error) && error.isRetryable
}

function isAlike(file: SoughtFile, other: SourceIdentity | undefined): boolean {
  return other !== undefined && differenceOf(file, other) === undefined
}

function notFound(location: string, why: string, cause: unknown): UploadError {
  const message = `"${location}" is not there as it was, and ${why}. Give the folder that it is in now, or upload it anew.`
  return new UploadError('ERR_UPLOAD_SOURCE_READ', message, { cause, details: { location } })
}

function nameOf(path: string): string {
  return spelled(basename(path))
}

function sharedSteps(one: string, other: string): number {
  const [steps, others] = [stepsOf(one), stepsOf(other)]
  const firstOther = steps.findIndex((step, index) => step !== others[index])
  return firstOther < 0 ? steps.length : firstOther
}

/** The steps of a path from its end: the file's name, its folder, and so on. */
function stepsOf(path: string): readonly string[] {
  return spelled(resolve(path)).split(sep).reverse()
}

/** A spelling that is equal for names that some system does not tell apart. */
function spelled(name: string): string {
  return name.normalize('NFC').toLowerCase()
}
