// One file of an element, the upload that carries it, and where its bytes come from.

import { blobSource, withHandle, type BrowserResumeOptions, type BrowserUplink } from '../browser.ts'
import type { ErrorSummary } from '../core/errors.ts'
import type { Source } from '../core/ports.ts'
import type { RateMeter } from '../core/rate-meter.ts'
import type { Outage, Upload } from '../flows/upload.ts'
import type { ChosenFile } from './chosen-files.ts'
import type { Identity } from './file-identity.ts'
import { problemOf } from './problems.ts'

/** `paused`: its upload is, and it was on its way. Another upload may go on beside that one. */
export type ItemState =
  'ready' | 'waiting' | 'uploading' | 'paused' | 'confirming' | 'confirmed' | 'failed' | 'cancelled'

/** One file, one row: the file as the person has it, and what is known of its upload. */
export interface Item extends Identity {
  readonly file?: File | undefined
  readonly handle?: FileSystemFileHandle | undefined
  /** When it came into the list, ms since 1970. */
  readonly chosenAtMs: number
  state: ItemState
  sentBytes: number
  confirmedBytes: number
  bytesPerSecond: number
  /** Measures that rate while bytes are sent. */
  meter?: RateMeter | undefined
  retries: number
  /** The error of this file alone. */
  error?: ErrorSummary | undefined
  /** The same file, chosen again. It now has the row, and is counted instead of this one. */
  replacedBy?: Item | undefined
  /** The file that this one replaced. It comes back if this one is removed. */
  former?: Item | undefined
  /** The file chosen again in its place while it was under way. It keeps its row, or it would take its share of the line unseen. */
  heir?: Item
}

/** One upload and its files, in the order of their file indexes. */
export interface Job {
  /** The Uplink that began or resumed it. The page may use another one by now. */
  uplink: BrowserUplink
  upload: Upload
  items: readonly Item[]
  /** Its upload has ended. */
  isOver?: boolean
  /** It is being taken up again, so another click must not open its session twice. Says what was asked of it since. */
  opening?: 'pause' | 'resume' | undefined
  /** Its session was given up after the upload had ended. */
  isDiscarded?: boolean
  /** The last outage that its upload reported, with the bytes sent by then. */
  outage?: Outage & { readonly sentBytes: number }
}

/** `known`: the file as it was chosen or, if the browser itself found it again, what its session knows of it. */
export function newItem(known: Identity & Partial<ChosenFile>, state: ItemState = 'ready'): Item {
  // Nothing else of it: what an earlier upload takes may have been a row itself.
  const { fileName, location, bytes, modifiedAtMs, file, handle } = known
  return {
    fileName,
    location,
    bytes,
    modifiedAtMs,
    file,
    handle,
    chosenAtMs: Date.now(),
    state,
    sentBytes: 0,
    confirmedBytes: 0,
    bytesPerSecond: 0,
    retries: 0,
  }
}

/** Only a file that was chosen is ever ready. */
export function isReady(item: Item): item is Item & ChosenFile {
  return item.state === 'ready'
}

export function isOnItsWay({ state }: Item): boolean {
  return state === 'waiting' || state === 'uploading' || state === 'paused'
}

/** True if its file has to be chosen again, because another try cannot mend the failure. */
export function needsChoosing({ state, error }: Item): boolean {
  return state === 'failed' && !!error && problemOf(error) === 'choose'
}

/** A file that was given up may be chosen again; one that could not be read has to be. */
export function isReplaceable(item: Item): boolean {
  return item.state === 'cancelled' || needsChoosing(item)
}

/** True if the file is confirmed, or the one that replaced it is. */
export function isDelivered({ state, replacedBy }: Item): boolean {
  return state === 'confirmed' || (!!replacedBy && isDelivered(replacedBy))
}

/** The file as it was chosen, with its handle if there is one. By the handle a later life of the page finds it again. */
export function sourceOf({ file, location, handle }: ChosenFile): Source {
  const source = Object.assign(blobSource(file), { location })
  return handle ? withHandle(source, handle) : source
}

/**
 * The Uplink that has an upload in its journal: the one in use, which may have newer credentials, or else its own. Undefined if neither
 * has. Rejects if a journal cannot be read.
 */
export async function keeperOf({ uplink, upload }: Job, inUse: BrowserUplink): Promise<BrowserUplink | undefined> {
  for (const each of [inUse, uplink]) if ((await each.sessions()).some(({ key }) => key === upload.key)) return each
  return undefined
}

/**
 * The sources to resume with: files as they were chosen, while the browser itself finds the others again, once the person allows it.
 * A file that was replaced gets an empty source, so that it is not sent twice. So does one that the browser no longer finds as it was:
 * it fails alone, and asks to be chosen again.
 */
export async function sourcesAgain({ upload, items }: Job, keeper: BrowserUplink): Promise<BrowserResumeOptions> {
  const missing = items.every(({ file }) => file) ? [] : await keeper.allowFiles(upload.key)
  return {
    source({ fileIndex, name }) {
      const item = items[fileIndex]
      if (item?.replacedBy || (!item?.file && missing.some((file) => file.fileIndex === fileIndex)))
        return blobSource(name, new Blob())
      return item?.file && sourceOf(item as Item & ChosenFile)
    },
  }
}
