// What a path on the command line means: a file is itself, and a folder is the files below it, in natural order.

import type { Stats, Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

import { invalid, UploadError } from '../../../core/errors.ts'
import { errorCode, fileProblem, notAFile } from '../file-problem.ts'

export interface FoundFile {
  /** For a file as given. For what was found in a folder: the folder as given, and the way down from it. */
  readonly path: string
  /** The last part of the path. Files of two subfolders may share it. */
  readonly name: string
  /** A search found it, and an upload of the folder would leave it out by its name, or by that of a folder on the way. */
  readonly isJunk?: true
}

export interface SkippedEntry {
  readonly path: string
  /** For a person: completes "skipped, because it is …". */
  readonly reason: string
}

export interface FoundFiles {
  readonly files: readonly FoundFile[]
  readonly skipped: readonly SkippedEntry[]
}

export interface FilesUnderOptions {
  /**
   * Turns this into a search below a folder: takes the files of these names and no others, even if one of them, or a
   * folder on the way, is hidden or named like junk. What cannot be read is left out, and finding nothing is no error.
   */
  readonly isSought?: ((name: string) => boolean) | undefined
}

interface Search extends FilesUnderOptions {
  readonly files: FoundFile[]
  readonly skipped: SkippedEntry[]
  /**
   * Folders entered below one argument, by the path behind all links. Each is entered once, so links cannot form a cycle. Their numbers
   * would not do: on Windows, all folders of a memory card or a network drive may have the number 0.
   */
  readonly entered: Set<string>
  /** What is below here is called like junk. */
  readonly isJunk?: boolean
}

const JUNK: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^\.ds_store$/i, 'a Finder file'],
  [/^thumbs\.db$/i, 'a thumbnail file of Windows'],
  [/^desktop\.ini$/i, 'a folder setting of Windows'],
  [/^~\$/, 'a lock file of an office program'],
  [/\.tmp$/i, 'a temporary file'],
  [/\.(part|crdownload)$/i, 'a download that is not complete'],
  [/^\./, 'hidden'],
  // At the top of a drive or a memory card, and often closed to its user.
  [/^(system volume information|\$recycle\.bin|lost\+found)$/i, "the system's own"],
  [/^__macosx$/i, 'what macOS puts into archives'],
]

/** What was thrown away. A search that also found a file there could not tell which one is meant. */
const THROWN_AWAY = /^(\$recycle\.bin|\.trash(es|-\d+)?)$/i

/** What Node gives for bytes of a name that are not UTF-8. Such a name leads nowhere. */
const NOT_UTF8 = '\ufffd'

/** Made when names are first sorted: the first Intl object of a process takes 6 ms, a tenth of loading this package. */
let collator: Intl.Collator | undefined

/**
 * The files that one or more paths mean, one path after the other. Below a folder, each level is in natural order
 * (take-2 before take-10), junk is left out and named, and links are followed, each folder being entered once, but not
 * to a folder that they lie in. A file that is named itself is taken whatever it is called. Rejects with
 * ERR_UPLOAD_SOURCE_READ for a path or folder that cannot be read, and with ERR_UPLOAD_INVALID_ARGUMENT for a folder
 * without a file to upload.
 */
export async function filesUnder(
  paths: string | readonly string[],
  options: FilesUnderOptions = {},
): Promise<FoundFiles> {
  const files: FoundFile[] = []
  const skipped: SkippedEntry[] = []
  for (const path of [paths].flat()) {
    if (typeof path !== 'string' || path === '') invalid('filesUnder: a path is empty or no string. Give paths.')
    const facts = await look(path)
    if (facts.isDirectory()) {
      const [filesBefore, skippedBefore] = [files.length, skipped.length]
      await enter(path, await placeOf(path), { ...options, files, skipped, entered: new Set() })
      if (files.length === filesBefore && options.isSought === undefined)
        refuseEmpty(path, skipped.slice(skippedBefore))
    } else if (facts.isFile()) {
      files.push({ path, name: basename(path) })
    } else {
      throw notAFile(path, 'a pipe, device or socket')
    }
  }
  return { files, skipped }
}

async function enter(folder: string, place: string, search: Search): Promise<void> {
  search.entered.add(place)
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw fileProblem(error, folder, 'listed')
  })
  if (entries.length === 0) search.skipped.push({ path: folder, reason: 'an empty folder' })
  entries.sort((left, right) => inNaturalOrder(left.name, right.name))
  for (const entry of entries) {
    const path = join(folder, entry.name)
    await take(path, entry, search).catch((error: unknown) => {
      if (search.isSought === undefined) throw error
      search.skipped.push({ path, reason: 'not readable' })
    })
  }
}

async function take(path: string, entry: Dirent, search: Search): Promise<void> {
  const { name } = entry
  const reason = reasonAgainst(name, search)
  if (reason !== undefined) {
    search.skipped.push({ path, reason })
    return
  }
  const isTaken = search.isSought?.(name) ?? true
  const isJunk = search.isJunk === true || junkReason(name) !== undefined
  const file: FoundFile = { path, name, ...(isJunk ? { isJunk } : {}) }
  const mayBeUnaskable = name.includes(NOT_UTF8)
  // The listing knows plain files. Only links, folders and what the file system leaves open are looked at.
  if (entry.isFile() && !(isTaken && mayBeUnaskable)) {
    if (isTaken) search.files.push(file)
    return
  }
  const facts = await lookInFolder(path)
  const place = facts?.isDirectory() === true ? await placeOf(path) : ''
  if (facts === undefined) {
    if (mayBeUnaskable) throw unaskable(path)
    search.skipped.push({ path, reason: 'a link that leads nowhere' })
  } else if (facts.isFile()) {
    if (isTaken) search.files.push(file)
  } else if (!facts.isDirectory()) {
    search.skipped.push({ path, reason: 'a pipe, device or socket' })
  } else if (search.entered.has(place)) {
    search.skipped.push({ path, reason: 'a link to a folder that is taken already' })
  } else if (entry.isSymbolicLink() && (await leadsAround(path))) {
    search.skipped.push({ path, reason: 'a link to a folder that it lies in' })
  } else {
    await enter(path, place, { ...search, isJunk })
  }
}

/** Whether a link leads up to a folder around its own: what lies beside the folder that was given, or a whole disk, is not meant. */
async function leadsAround(link: string): Promise<boolean> {
  try {
    const wayBack = relative(await realpath(link), await realpath(dirname(link)))
    return wayBack.split(sep)[0] !== '..' && !isAbsolute(wayBack)
  } catch (error) {
    throw fileProblem(error, link, 'read')
  }
}

function reasonAgainst(name: string, { isSought }: Search): string | undefined {
  if (isSought !== undefined) return THROWN_AWAY.test(name) ? 'thrown away' : undefined
  return junkReason(name)
}

function junkReason(name: string): string | undefined {
  return JUNK.find(([pattern]) => pattern.test(name))?.[1]
}

async function look(path: string): Promise<Stats> {
  return stat(path).catch((error: unknown) => {
    // A shell gives the name as it is, such as for *.mp4, and Node cannot.
    if (path.includes(NOT_UTF8) && errorCode(error) === 'ENOENT') throw unaskable(path)
    throw fileProblem(error, path, 'read')
  })
}

function unaskable(path: string): UploadError {
  const message = `"${path}" cannot be read: its name is not UTF-8. Rename it.`
  return new UploadError('ERR_UPLOAD_SOURCE_READ', message, { details: { path } })
}

/** Undefined for a name that leads nowhere: a broken link, or a file that went away since the folder was listed. */
async function lookInFolder(path: string): Promise<Stats | undefined> {
  return stat(path).catch((error: unknown) => {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ELOOP') return undefined
    throw fileProblem(error, path, 'read')
  })
}

function refuseEmpty(path: string, skipped: readonly SkippedEntry[]): never {
  const left = skipped.slice(0, 5).map((entry) => `${basename(entry.path)} (${entry.reason})`)
  const more = skipped.length > left.length ? ` and ${skipped.length - left.length} more` : ''
  invalid(`There is no file to upload in "${path}". Skipped: ${left.join(', ')}${more}.`, { path })
}

/** Names that the collator holds equal, such as 1 and 01, still have a fixed order. */
function inNaturalOrder(left: string, right: string): number {
  // One language for everyone: the order of a capture must not depend on the machine.
  collator ??= new Intl.Collator('en', { numeric: true })
  return collator.compare(left, right) || (left < right ? -1 : 1)
}

/** Some drives of Windows cannot tell what is behind links, and have none. */
async function placeOf(folder: string): Promise<string> {
  return realpath(folder).catch(() => resolve(folder))
}
