// The files of an earlier life of the page: found again through handles that the browser kept, or among those that the
// person picked again. A file is the same if name, size and time of change are. If there is a hasher, the digests of
// its confirmed parts are compared when the session goes on.

import { UploadError } from '../../core/errors.ts'
import { foldJournal } from '../../core/journal/fold-journal.ts'
import { fileAt } from '../../core/journal/ledger.ts'
import { soughtFiles } from '../../core/journal/sought-files.ts'
import type { Journal, SoughtFile, Source } from '../../core/ports.ts'
import { blobSource } from '../web/blob-source.ts'
import { learnFacts } from '../web/file-facts.ts'
import { permissionOf, type KeptHandles } from './kept-handles.ts'

/** A file of a session. */
export interface SessionFile {
  readonly fileIndex: number
  readonly name: string
  /** The person's own name for it. `name` differs from it if `rename` gave another. */
  readonly fileName: string
  /** Where the person had it, with the folders as far as the browser told them. */
  readonly location: string
  readonly bytes: number
  readonly modifiedAtMs?: number | undefined
  /**
   * `allow`: the browser remembers the file and needs a click (`allowFiles`). `pick`: the person has to choose it
   * again. Absent: it is confirmed, or the page has it.
   */
  readonly how?: 'allow' | 'pick' | undefined
}

/** A file that a session needs and the page does not have. */
export interface MissingFile extends SessionFile {
  readonly how: 'allow' | 'pick'
}

/** What is needed of an upload to remember its files. */
interface Remembered {
  readonly key: string
  /** Resolves with `partial` if files failed that can be resumed. Rejects with an error that has such a `report`. */
  done(): Promise<Ending>
}

interface LookedAt {
  readonly all: readonly SessionFile[]
  readonly missing: readonly MissingFile[]
  /** What can be read now, by file index. */
  readonly found: ReadonlyMap<number, Source>
}

interface Ending {
  readonly status: string
}

export type FindSource = (file: SoughtFile) => Source | undefined

export interface PickedFiles {
  /**
   * Keeps the handles of a new upload until it has settled for good. If that fails, the person picks the files again.
   */
  remember(upload: Remembered, handles: readonly (FileSystemFileHandle | undefined)[]): void
  /**
   * What files a session has, and which are missing. `isAsking` asks the person to allow those that the browser
   * remembers.
   */
  look(key: string, files?: readonly File[], isAsking?: boolean): Promise<LookedAt>
  /**
   * How `resume` finds each file that `own` does not. Rejects with ERR_UPLOAD_SOURCE_READ if one that is needed is
   * missing.
   */
  sources(key: string, files?: readonly File[], own?: FindSource): Promise<(file: SoughtFile) => Source>
}

const handles = new WeakMap<Source, FileSystemFileHandle>()

/**
 * A source of the file behind a handle, from `showOpenFilePicker` or a drop. After a reload it is found again with one
 * click.
 */
export async function fileFromHandle(handle: FileSystemFileHandle): Promise<Source> {
  return withHandle(blobSource(await handle.getFile()), handle)
}

/** The same for a File that a page already has from the handle. What is uploaded is that File, as it was then. */
export function withHandle(source: Source, handle: FileSystemFileHandle): Source {
  handles.set(source, handle)
  return source
}

export function handleOf(source: Source): FileSystemFileHandle | undefined {
  return handles.get(source)
}

export function createPickedFiles(journal: Journal, kept: KeptHandles | undefined): PickedFiles {
  /** Files that a host's `own` finds are not looked for. It is asked once, because it may give each file only once. */
  const look = async (
    key: string,
    files: readonly File[] = [],
    isAsking = false,
    own?: FindSource,
  ): Promise<LookedAt> => {
    await learnFacts(files)
    const known = await kept?.of(key).catch(() => undefined)
    const found = new Map<number, Source>()
    const all: SessionFile[] = []
    const folded = foldJournal(await journal.read(key))
    const sought = soughtFiles(folded)
    // A confirmed file is not opened again.
    const needed = new Set(sought.filter(({ fileIndex }) => fileAt(folded.ledger, fileIndex).state !== 'confirmed'))
    const places = new Set([...needed].map(({ location }) => location))
    // By name, because thousands of files may be picked again for a session of thousands.
    const free = new Map<string, Set<File>>()
    for (const file of files) free.set(file.name, (free.get(file.name) ?? new Set()).add(file))
    for (const wanted of sought) {
      const { fileIndex, name, location, sizeBytes: bytes, modifiedAtMs } = wanted
      // `rename` may have given it another name than it has there.
      const fileName = location.slice(location.lastIndexOf('/') + 1)
      const handle = known?.get(fileIndex)
      let how: SessionFile['how']
      const isSame = (file: File): boolean =>
        file.size === bytes && (modifiedAtMs === undefined || modifiedAtMs === file.lastModified)
      const given = needed.has(wanted) ? own?.(wanted) : undefined
      if (given) found.set(fileIndex, given)
      else if (needed.has(wanted)) {
        const same = [name, fileName].flatMap((each) => [...(free.get(each) ?? [])]).filter(isSame)
        const picked =
          // Of files that look the same, the one in the same folder. Never one that lies in the place of another needed file.
          same.find((file) => file.webkitRelativePath === location) ??
          same.find((file) => !places.has(file.webkitRelativePath)) ??
          (await fileOf(handle, isSame, isAsking))
        if (typeof picked === 'string') how = picked
        else {
          // Of two files that look the same, one was picked. The other is still missing.
          free.get(picked.name)?.delete(picked)
          found.set(fileIndex, blobSource(name, picked))
        }
      }
      all.push({ fileIndex, name, fileName, location, bytes, modifiedAtMs, how })
    }
    return { found, all, missing: all.filter((file): file is MissingFile => file.how !== undefined) }
  }
  return {
    remember(upload, given) {
      if (!kept) return
      // Even if there are none: then the database is open by the time the upload needs it.
      const keeping = kept.keep(upload.key, given)
      // What failed or was interrupted, in whole or in part, can be resumed and needs its files.
      const forget = async (): Promise<void> => {
        const { status } = await upload.done().catch((error: unknown) => (error as { readonly report: Ending }).report)
        if (status === 'confirmed' || status === 'cancelled') await kept.forget(upload.key)
      }
      keeping.then(forget).catch(() => undefined)
    },
    look,
    async sources(key, files, own) {
      const { found, missing } = await look(key, files, false, own)
      if (missing.length > 0) throw filesMissing(key, missing)
      // A confirmed file is not opened, so an empty Blob will do.
      return ({ fileIndex, name }) => found.get(fileIndex) ?? blobSource(name, new Blob())
    },
  }
}

/** The file behind its handle, or how it can be had. A file that has changed is not the one that was meant. */
async function fileOf(
  handle: FileSystemFileHandle | undefined,
  isSame: (file: File) => boolean,
  isAsking: boolean,
): Promise<File | MissingFile['how']> {
  if (!handle) return 'pick'
  if ((await permissionOf(handle, isAsking)) === 'prompt') return 'allow'
  // Of one that the person has refused, or the browser's settings forbid, the browser gives no file.
  const file = await handle.getFile().catch(() => undefined)
  return file && isSame(file) ? file : 'pick'
}

function filesMissing(key: string, missing: readonly MissingFile[]): UploadError {
  const names = missing.map((file) => file.name)
  const more = names.length > 3 ? ` and ${names.length - 3} more` : ''
  return new UploadError(
    'ERR_UPLOAD_SOURCE_READ',
    `To go on, ${key} needs ${names.slice(0, 3).join(', ')}${more}. Pick them again, or call allowFiles.`,
    { details: { missing: names } },
  )
}
