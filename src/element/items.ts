// One file of an element, the upload that carries it, and where its bytes come from.

import { blobSource, withHandle, type BrowserResumeOptions } from '../browser.ts'
import type { ErrorSummary } from '../core/errors.ts'
import type { Source } from '../core/ports.ts'
import type { Outage, Upload, UploadReport } from '../flows/upload.ts'
import { presentOf, type Present } from './acceptance.ts'
import type { ChosenFile } from './chosen-files.ts'
import { problemOf } from './problems.ts'

export type ItemState = 'ready' | 'waiting' | 'uploading' | 'confirming' | 'confirmed' | 'failed' | 'cancelled'

/** As its row shows it: what is on its way may be held. */
export type ShownState = ItemState | 'paused'

/** One file, one row. */
export interface Item {
  readonly name: string
  readonly bytes: number
  /** Absent where the browser found the file of an earlier life by itself. */
  readonly chosen: ChosenFile | undefined
  /** When it came into the list. */
  readonly chosenAtMs: number
  /** As the person has it, under its own name, which `rename` may have changed. */
  readonly present: Present
  state: ItemState
  sentBytes: number
  confirmedBytes: number
  bytesPerSecond: number
  retries: number
  /** Of this file alone. */
  error: ErrorSummary | undefined
  /** Its upload has ended: only now can another try begin. */
  isOver: boolean
  /** The same file, chosen again: it has the row now, and is counted in this one's place. */
  replacedBy: Item | undefined
  /** Grows with each change. */
  version: number
}

/** One upload and its files, by file index. */
export interface Job {
  upload: Upload
  readonly items: readonly Item[]
  report: UploadReport | undefined
  /** Its session was given up after its end. */
  isDiscarded?: boolean
  /** The one that its upload told of last. */
  outage?: Outage
  /** What was sent when it told so. */
  sentAtOutage?: number
}

/** `earlier`: what its session knows of the file, where the browser found that by itself and nothing was `chosen`. */
export function newItem(
  name: string,
  bytes: number,
  chosen: ChosenFile | undefined,
  state: ItemState = 'ready',
  earlier: Present = { fileName: name, location: name, bytes },
): Item {
  return {
    name,
    bytes,
    chosen,
    chosenAtMs: Date.now(),
    present: chosen ? presentOf(chosen) : earlier,
    state,
    sentBytes: 0,
    confirmedBytes: 0,
    bytesPerSecond: 0,
    retries: 0,
    error: undefined,
    isOver: false,
    replacedBy: undefined,
    version: 0,
  }
}

export function changeItem(item: Item, change: Partial<Item>): void {
  Object.assign(item, change)
  item.version += 1
}

export function isReady({ state }: Item): boolean {
  return state === 'ready'
}

export function isOnItsWay({ state }: Item): boolean {
  return state === 'waiting' || state === 'uploading'
}

/** Another try cannot mend it: its file has to be chosen again. */
export function needsChoosing({ state, error }: Item): boolean {
  return state === 'failed' && !!error && problemOf(error) === 'choose'
}

/** What is given up can be chosen again, and what could not be read is to be. */
export function isReplaceable(item: Item): boolean {
  return item.state === 'cancelled' || needsChoosing(item)
}

/** As it is, or as it was chosen again. */
export function isDelivered({ state, replacedBy }: Item): boolean {
  return state === 'confirmed' || (!!replacedBy && isDelivered(replacedBy))
}

/** The file as it was when it was chosen, with its handle where there is one: a later life of the page finds it again by that. */
export function sourceOf({ name, chosen }: Pick<Item, 'name' | 'chosen'>): Source {
  if (!chosen) return blobSource(name, new Blob())
  const { file, path: location, handle } = chosen
  const source = Object.assign(blobSource(file), { location })
  return handle ? withHandle(source, handle) : source
}

/** The files as they were chosen; what the browser found by itself it finds again. What was chosen again is not sent twice. */
export function sourcesAgain({ items }: Job): BrowserResumeOptions {
  return {
    source({ fileIndex, name }) {
      const { chosen, replacedBy } = items[fileIndex] ?? {}
      if (replacedBy) return blobSource(name, new Blob())
      return chosen && sourceOf({ name, chosen })
    },
  }
}
