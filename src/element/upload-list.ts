// The files of one element and the uploads that carry them: what is known, and nothing of how it looks. A start takes
// every file that is ready into one upload; several may run side by side on one engine.

import { blobSource, fileFromHandle, UploadFailedError, type BrowserUplink } from '../browser.ts'
import { summarize, type ErrorSummary } from '../core/errors.ts'
import type { Source } from '../core/ports.ts'
import type { Upload, UploadFileStatus, UploadProgress, UploadReport } from '../flows/upload.ts'
import { actionOf } from './problems.ts'
import type { ChosenFile } from './chosen-files.ts'

export type ItemState = 'ready' | 'waiting' | 'uploading' | 'confirming' | 'confirmed' | 'failed' | 'cancelled'

/** One file, one row. */
export interface Item {
  readonly name: string
  readonly bytes: number
  /** Absent where the browser found the file of an earlier life by itself. */
  readonly chosen: ChosenFile | undefined
  state: ItemState
  sentBytes: number
  confirmedBytes: number
  bytesPerSecond: number
  retries: number
  error: ErrorSummary | undefined
}

/** One upload and its files, by file index. */
export interface Job {
  upload: Upload
  readonly items: readonly Item[]
  report: UploadReport | undefined
}

export type Phase = 'empty' | 'ready' | 'uploading' | 'waiting' | 'paused' | 'cancelling' | 'settled'

export interface Totals {
  readonly filesTotal: number
  readonly filesConfirmed: number
  readonly filesFailed: number
  readonly sentBytes: number
  readonly confirmedBytes: number
  readonly totalBytes: number
  readonly bytesPerSecond: number
  readonly remainingMs: number | undefined
}

/** What the list tells; `item` is for one that changed, `change` for anything about the whole. */
export interface ListListener {
  added(items: readonly Item[]): void
  removed(item: Item): void
  item(item: Item): void
  change(): void
  told(job: Job, event: 'start' | 'state' | 'progress' | 'file', detail?: UploadFileStatus): void
  settled(job: Job, report: UploadReport | undefined, error: ErrorSummary | undefined): void
}

export interface UploadList {
  readonly items: readonly Item[]
  readonly jobs: readonly Job[]
  phase(): Phase
  totals(): Totals
  /** Files with an error that another try may mend. */
  retryable(): readonly Item[]
  add(files: readonly ChosenFile[]): void
  remove(item: Item): void
  /** Takes everything that is ready. Throws what the flow says about its input. */
  start(begin: (sources: readonly Source[]) => Upload): Promise<void>
  /** An upload of an earlier life. */
  adopt(upload: Upload, fileOf: (status: UploadFileStatus) => ChosenFile | undefined): void
  pause(): void
  resume(): void
  cancel(): Promise<void>
  /** Takes every upload with such files up again; one that the journal never heard of becomes ready anew. */
  retry(uplink: BrowserUplink): Promise<void>
  /** Takes what is over out of the list. */
  clear(): void
  /** Reads from the uploads what has changed since; called once a frame. */
  refresh(nowMs: number): void
}

/** How fast a row's rate follows, per reading. */
const RATE_WEIGHT = 0.3

export function createUploadList(listener: ListListener): UploadList {
  let items: Item[] = []
  let jobs: Job[] = []
  const stale = new Set<Job>()
  const readAtMs = new WeakMap<Job, number>()

  const touch = (item: Item, change: Partial<Item>): void => {
    Object.assign(item, change)
    listener.item(item)
  }
  const over = new WeakSet<Job>()
  const isActive = (job: Job): boolean => !over.has(job)
  const active = (): Job[] => jobs.filter(isActive)

  const put = (added: Item[]): void => {
    items = [...items, ...added]
    listener.added(added)
  }
  const drop = (gone: ReadonlySet<Item>): void => {
    items = items.filter((item) => !gone.has(item))
    for (const item of gone) listener.removed(item)
  }

  /** Follows an upload to its end. */
  const follow = (job: Job): void => {
    const { upload } = job
    const markStale = (): void => {
      stale.add(job)
      listener.change()
    }
    upload.on('progress', () => {
      markStale()
      listener.told(job, 'progress')
    })
    upload.on('file', (status) => {
      markStale()
      listener.told(job, 'file', status)
    })
    upload.on('state', () => {
      markStale()
      listener.told(job, 'state')
    })
    upload.on('retry', ({ fileIndex }) => {
      const item = job.items[fileIndex]
      if (item !== undefined) touch(item, { retries: item.retries + 1 })
    })
    const settle = (report: UploadReport | undefined, error: ErrorSummary | undefined): void => {
      over.add(job)
      job.report = report
      read(job, Number.NaN)
      for (const [index, item] of job.items.entries()) settleItem(item, report, report?.files[index]?.error ?? error)
      listener.settled(job, report, error)
      listener.change()
    }
    upload.done().then(
      (report) => settle(report, report.error),
      (error: unknown) => settle(error instanceof UploadFailedError ? error.report : undefined, summarize(error)),
    )
    listener.told(job, 'start')
    listener.change()
  }

  const settleItem = (item: Item, report: UploadReport | undefined, error: ErrorSummary | undefined): void => {
    if (item.state === 'confirmed') return
    if (report?.status === 'cancelled') touch(item, { state: 'cancelled', bytesPerSecond: 0, error: undefined })
    else touch(item, { state: 'failed', bytesPerSecond: 0, error: error ?? item.error ?? UNKNOWN })
  }

  /** Takes over what the upload knows of each file; only what differs is told. */
  const read = (job: Job, nowMs: number): void => {
    const passedMs = nowMs - (readAtMs.get(job) ?? nowMs)
    readAtMs.set(job, nowMs)
    const isRunning = job.upload.state === 'uploading'
    for (const status of job.upload.files()) {
      const item = job.items[status.fileIndex]
      if (item === undefined) continue
      const { sentBytes, confirmedBytes, error } = status
      const state = status.state === 'pending' ? 'waiting' : status.state
      const moved = Math.max(0, sentBytes - item.sentBytes)
      const measured = passedMs > 0 ? (moved * 1_000) / passedMs : item.bytesPerSecond
      const rate =
        item.bytesPerSecond === 0 ? measured : item.bytesPerSecond + (measured - item.bytesPerSecond) * RATE_WEIGHT
      const bytesPerSecond = isRunning && state === 'uploading' ? rate : 0
      const isSame =
        item.state === state &&
        item.sentBytes === sentBytes &&
        item.confirmedBytes === confirmedBytes &&
        item.error?.message === error?.message &&
        Math.abs(item.bytesPerSecond - bytesPerSecond) < 1
      if (!isSame) touch(item, { state, sentBytes, confirmedBytes, bytesPerSecond, error })
    }
  }

  const startItems = async (chosen: readonly Item[], begin: (sources: readonly Source[]) => Upload): Promise<void> => {
    for (const item of chosen) touch(item, { state: 'waiting', error: undefined })
    try {
      const upload = begin(await Promise.all(chosen.map(sourceOf)))
      const job: Job = { upload, items: chosen, report: undefined }
      jobs = [...jobs, job]
      follow(job)
    } catch (error) {
      for (const item of chosen) touch(item, { state: 'ready' })
      throw error
    }
  }

  const list: UploadList = {
    get items() {
      return items
    },
    get jobs() {
      return jobs
    },
    phase() {
      const states = active().map((job) => job.upload.state)
      if (states.includes('cancelling')) return 'cancelling'
      if (
        states.some(
          (state) => state === 'creating' || state === 'created' || state === 'uploading' || state === 'settling',
        )
      )
        return 'uploading'
      if (states.includes('waiting')) return 'waiting'
      if (states.length > 0)
        return states.every((state) => state === 'paused' || state === 'pausing') ? 'paused' : 'uploading'
      if (items.some((item) => item.state === 'ready')) return 'ready'
      return items.length === 0 ? 'empty' : 'settled'
    },
    totals() {
      const progresses = jobs.map((job) => job.upload.progress())
      const running = active().map((job) => job.upload.progress())
      const carried = jobs.flatMap((job) => job.items)
      const sum = (field: 'sentBytes' | 'confirmedBytes'): number =>
        progresses.reduce((total, progress) => total + progress[field], 0)
      return {
        filesTotal: carried.length,
        filesConfirmed: progresses.reduce((total, progress) => total + progress.filesConfirmed, 0),
        filesFailed: progresses.reduce((total, progress) => total + progress.filesFailed, 0),
        ...{ sentBytes: sum('sentBytes'), confirmedBytes: sum('confirmedBytes') },
        totalBytes: carried.reduce((total, item) => total + item.bytes, 0),
        bytesPerSecond: running.reduce((total, progress) => total + progress.bytesPerSecond, 0),
        remainingMs: longest(running),
      }
    },
    retryable: () =>
      jobs
        .filter((job) => !isActive(job))
        .flatMap((job) => job.items)
        .filter((item) => item.state === 'failed' && item.error !== undefined && actionOf(item.error) !== 'choose')
        .filter((item) => items.includes(item)),
    add(files) {
      put(files.map((chosen) => newItem(chosen.file.name, chosen.file.size, chosen)))
      listener.change()
    },
    remove(item) {
      drop(new Set([item]))
      listener.change()
    },
    start: (begin) =>
      startItems(
        items.filter((item) => item.state === 'ready'),
        begin,
      ),
    adopt(upload, fileOf) {
      const adopted = upload.files().map((status) => newItem(status.name, status.bytes, fileOf(status), 'waiting'))
      put(adopted)
      const job: Job = { upload, items: adopted, report: undefined }
      jobs = [...jobs, job]
      stale.add(job)
      follow(job)
    },
    pause() {
      for (const job of active()) job.upload.pause()
    },
    resume() {
      for (const job of active()) job.upload.resume()
    },
    async cancel() {
      await Promise.all(active().map((job) => job.upload.cancel()))
    },
    async retry(uplink) {
      const failed = new Set(list.retryable())
      const known = new Set((await uplink.sessions()).map(({ key }) => key))
      for (const job of jobs.filter((each) => !isActive(each) && each.items.some((item) => failed.has(item)))) {
        if (!known.has(job.upload.key)) {
          jobs = jobs.filter((other) => other !== job)
          for (const item of job.items) touch(item, { state: 'ready', error: undefined, retries: 0 })
          continue
        }
        job.upload = await uplink.resume(job.upload.key, sourcesAgain(job))
        over.delete(job)
        job.report = undefined
        for (const item of job.items) if (failed.has(item)) touch(item, { state: 'waiting', error: undefined })
        follow(job)
      }
    },
    clear() {
      const running = active()
      const kept = new Set(running.flatMap((job) => job.items))
      jobs = running
      drop(new Set(items.filter((item) => !kept.has(item) && item.state !== 'ready')))
      listener.change()
    },
    refresh(nowMs) {
      for (const job of stale) read(job, nowMs)
      stale.clear()
    },
  }
  return list
}

const UNKNOWN: ErrorSummary = { code: 'ERR_UPLOAD_FAILED', message: 'The upload ended before this file was confirmed.' }

function newItem(name: string, bytes: number, chosen: ChosenFile | undefined, state: ItemState = 'ready'): Item {
  return {
    ...{ name, bytes, chosen, state, sentBytes: 0, confirmedBytes: 0, bytesPerSecond: 0, retries: 0 },
    error: undefined,
  }
}

function longest(running: readonly UploadProgress[]): number | undefined {
  const known = running.flatMap(({ remainingMs }) => remainingMs ?? [])
  return known.length === 0 ? undefined : Math.max(...known)
}

/** With its handle where there is one, so that a later life of the page finds the file again. */
async function sourceOf({ name, chosen }: Item): Promise<Source> {
  if (chosen === undefined) return blobSource(name, new Blob())
  if (chosen.handle !== undefined) {
    const found = await fileFromHandle(chosen.handle).catch(() => undefined)
    if (found !== undefined) return found
  }
  const source = blobSource(chosen.file)
  return chosen.path === name ? source : { ...source, location: chosen.path }
}

/** The files as they were chosen; where the browser found them by itself it does so again. */
function sourcesAgain({ items }: Job): Parameters<BrowserUplink['resume']>[1] {
  if (items.some((item) => item.chosen === undefined && item.state !== 'confirmed'))
    return { files: items.flatMap((item) => item.chosen?.file ?? []) }
  return {
    source({ fileIndex, name }) {
      return blobSource(name, items[fileIndex]?.chosen?.file ?? new Blob())
    },
  }
}
