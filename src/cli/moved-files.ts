// Files of sessions that are no more where they were, on a drive that is mounted elsewhere by now: looked for below a folder.

import { resolve, sep } from 'node:path'

import { filesUnder } from '../adapters/node/files/directory.ts'
import { fileSource } from '../adapters/node/files/file-source.ts'
import { differenceOf } from '../adapters/web/source-identity.ts'
import { UploadError } from '../core/errors.ts'
import type { SoughtFile, SourceIdentity } from '../core/ports.ts'
import type { ResumeOptions } from '../flows/sessions.ts'

interface Found {
  readonly path: string
  identity?: Promise<SourceIdentity | undefined>
}

/**
 * Takes each file from where it was, else the one below `folder` that is called as it was and has its size and time. Of several,
 * or for several files that are alike in all that, the ends of the ways there decide; where they do not, none is taken, since it
 * might be another one's. Rejects as `filesUnder` does for the folder itself.
 */
export async function movedFiles(folder: string): Promise<NonNullable<ResumeOptions['source']>> {
  const found = new Map<string, Found[]>()
  for (const { path } of (await filesUnder(folder, { isLenient: true })).files) add(found, path, { path })
  const sought = new Map<string, SoughtFile[]>()

  /** The one path that must be the file, or why there is none. */
  const placeOf = async (file: SoughtFile): Promise<{ readonly path: string } | { readonly why: string }> => {
    const fits: { readonly path: string; readonly likeness: number }[] = []
    for (const one of found.get(nameOf(file.location)) ?? []) {
      // Once for all who ask: thousands of takes may share a name.
      const now = await (one.identity ??= identityOf(one.path))
      if (now === undefined || differenceOf(file, now) !== undefined) continue
      fits.push({ path: one.path, likeness: sharedSteps(one.path, file.location) })
    }
    const [best, second] = fits.sort((left, right) => right.likeness - left.likeness)
    if (best === undefined) return { why: `no file below "${folder}" has its name, size and time` }
    const { path, likeness } = best
    const others = (sought.get(nameOf(file.location)) ?? []).filter(
      (other) => other.location !== file.location && differenceOf(file, other) === undefined,
    )
    const isOnly =
      second?.likeness !== likeness && others.every(({ location }) => sharedSteps(path, location) < likeness)
    return isOnly ? { path } : { why: `which of several alike files it is below "${folder}" nobody can tell` }
  }

  return (file) => {
    const { name, location } = file
    add(sought, location, file)
    const source = fileSource(location, { name })
    return {
      ...source,
      open: (expected) =>
        source.open(expected).catch(async (cause: unknown) => {
          const place = await placeOf(file)
          if ('path' in place) return fileSource(place.path, { name }).open(expected)
          throw notFound(location, place.why, cause)
        }),
    }
  }
}

function add<T>(lists: Map<string, T[]>, path: string, one: T): void {
  const name = nameOf(path)
  const list = lists.get(name)
  if (list) list.push(one)
  else lists.set(name, [one])
}

/** Undefined for what cannot be looked at. */
function identityOf(path: string): Promise<SourceIdentity | undefined> {
  return fileSource(path)
    .describe()
    .catch(() => undefined)
}

function notFound(location: string, why: string, cause: unknown): UploadError {
  const message = `"${location}" is not there as it was, and ${why}. Give the folder that it is in now, or upload it anew.`
  return new UploadError('ERR_UPLOAD_SOURCE_READ', message, { cause, details: { location } })
}

function nameOf(path: string): string {
  return stepsOf(path)[0] ?? ''
}

function sharedSteps(one: string, other: string): number {
  const [steps, others] = [stepsOf(one), stepsOf(other)]
  const firstOther = steps.findIndex((step, index) => step !== others[index])
  return firstOther < 0 ? steps.length : firstOther
}

/** From the end: the file's name, its folder, and so on, in the one spelling of systems that tell fewer names apart. */
function stepsOf(path: string): readonly string[] {
  return resolve(path).normalize('NFC').toLowerCase().split(sep).reverse()
}
