// The files of one element and the uploads that carry them: what is known, and nothing of how it looks. A start takes
// every file that is ready into one upload; several may run side by side on one engine.

import type { BrowserUplink, UploadFailedError } from '../browser.ts'
import { summarize, type ErrorSummary } from '../core/errors.ts'
import type { Source } from '../core/ports.ts'
import type { Outage, Upload, UploadFileStatus, UploadReport } from '../flows/upload.ts'
import type { ChosenAgain } from './chosen-again.ts'
import type { ChosenFile } from './chosen-files.ts'
import { changeItem as touch, isReady, needsChoosing } from './items.ts'
import { newItem, sourceOf, sourcesAgain, type Item, type Job } from './items.ts'
import type { GivenUp } from './question.ts'
import { phaseOf, totalsOf, type Phase, type Totals } from './list-state.ts'
import type { ResumedUpload } from './offers.ts'
import { createReading } from './reading.ts'
import { createRows } from './rows.ts'
import type { Setting } from './setting.ts'

/** What the list tells; `change` is for anything that can be seen. */
export interface ListListener {
  change(): void
  told(job: Job, event: 'start' | 'state' | 'waiting' | 'progress' | 'file', detail?: UploadFileStatus): void
  settled(job: Job, report: UploadReport | undefined, error: ErrorSummary | undefined): void
}

export interface UploadList {
  readonly items: readonly Item[]
  readonly jobs: readonly Job[]
  phase(): Phase
  /** As the uploads are now, which is read into their items. */
  totals(): Totals
  /** What an upload that is waiting waits for. */
  outage(): Outage | undefined
  /** Files that failed, and that another try may mend. */
  retryable(): readonly Item[]
  /**
   * A file that could not be read or was given up, and is chosen again, takes its own place; so do those `again` of rows that have
   * changed, where such a row is under way when it has come to nothing.
   */
  add(files: readonly ChosenFile[], again?: ChosenAgain): void
  /** What it had taken the place of is there again. */
  remove(item: Item): void
  /** The same of the uploads that a cancel ends. */
  atStake(): Totals
  /** Takes those of `wanted` that are ready, and gives how many files that were. Throws what the flow says about its input. */
  start(wanted: readonly Item[], begin: (sources: readonly Source[]) => Upload): number
  /** An upload of an earlier life. */
  adopt(resumed: ResumedUpload): void
  pause(): void
  resume(): void
  giveUp(how: GivenUp): Promise<void>
  /** Takes every upload with such files up again, and has the files of those that the journal never heard of begun `anew`. */
  retry(uplink: BrowserUplink, resume: Setting['resume'], anew: (items: readonly Item[]) => void): Promise<void>
  /** Uploads that are over without all of their files, and were not given up since. */
  unfinished(): readonly Job[]
  /** Takes what is over out of the list. */
  clear(): void
}

export function createUploadList(listener: ListListener): UploadList {
  const rows = createRows(() => jobs.flatMap((job) => job.items))
  let jobs: Job[] = []
  const read = createReading(touch)
  const over = new WeakSet<Job>()
  const isActive = (job: Job): boolean => !over.has(job)
  const active = (): Job[] => jobs.filter(isActive)
  const totals = (of: readonly Job[]): Totals => {
    for (const job of active()) read(job, performance.now())
    return totalsOf(of, active())
  }

  /** Follows an upload to its end. */
  const follow = (job: Job): void => {
    const { upload } = job
    const tell = (event: 'progress' | 'file' | 'state' | 'waiting', status?: UploadFileStatus): void => {
      listener.change()
      listener.told(job, event, status)
    }
    upload.on('progress', () => tell('progress'))
    upload.on('file', (status) => {
      const item = job.items[status.fileIndex]
      // A former session may be waiting for it.
      if (item && status.state === 'confirmed') touch(item, { state: status.state })
      if (item && status.state === 'failed') rows.giveWay(item)
      tell('file', status)
    })
    upload.on('state', () => tell('state'))
    upload.on('waiting', (outage) => {
      job.outage = outage
      job.sentAtOutage = upload.progress().sentBytes
      tell('waiting')
    })
    upload.on('retry', ({ fileIndex }) => {
      const item = job.items[fileIndex]
      if (item) touch(item, { retries: item.retries + 1 })
      listener.change()
    })
    const settle = (report: UploadReport | undefined, error: ErrorSummary | undefined): void => {
      over.add(job)
      job.report = report
      // For the last time: what the upload knows no more of, such as a file that it never began, is settled here.
      read(job, Number.NaN)
      for (const [index, item] of job.items.entries()) settleItem(item, report, report?.files[index]?.error)
      listener.settled(job, report, error)
      listener.change()
    }
    upload.done().then(
      (report) => settle(report, report.error),
      // Known by its shape: the Uplink may come with another copy of the package.
      (error: unknown) => settle((error as Partial<UploadFailedError>).report, summarize(error)),
    )
    listener.told(job, 'start')
    listener.change()
  }

  /** What the person said last, also to what is still taken up again. */
  let wish: 'pause' | 'resume' = 'resume'
  const ask = (asked: typeof wish): void => {
    wish = asked
    for (const job of active()) job.upload[asked]()
  }
  /** Those whose sessions are being opened again: clicked again meanwhile, none is opened twice. */
  const opening = new Set<Job>()

  const carry = (upload: Upload, carried: readonly Item[]): void => {
    const job: Job = { upload, items: carried, report: undefined }
    jobs = [...jobs, job]
    follow(job)
  }

  /** `error`: its own; what ended the whole upload is said once, and not of each file. */
  const settleItem = (item: Item, report: UploadReport | undefined, error: ErrorSummary | undefined): void => {
    const ended = { bytesPerSecond: 0, isOver: true }
    const isCancelled = report?.status === 'cancelled'
    // Unless it is given up whole, what is confirmed stays.
    if (item.state === 'confirmed' && !(isCancelled && !report.keepsConfirmed)) return
    // What was uploaded of it is let go.
    if (isCancelled) touch(item, { ...ended, state: 'cancelled', sentBytes: 0, confirmedBytes: 0, error: undefined })
    else touch(item, { ...ended, state: 'failed', error: error ?? item.error })
    rows.giveWay(item)
  }

  const list: UploadList = {
    get items() {
      return rows.items()
    },
    get jobs() {
      return jobs
    },
    phase: () => phaseOf(rows.items(), active()),
    totals: () => totals(jobs),
    outage: () => active().find(({ upload }) => upload.state === 'waiting')?.outage,
    atStake: () => totals(active()),
    retryable: () => rows.items().filter((item) => item.state === 'failed' && item.isOver && !needsChoosing(item)),
    add(files, again) {
      rows.add(files, again)
      listener.change()
    },
    remove(item) {
      rows.remove(item)
      listener.change()
    },
    start(wanted, begin) {
      const taken = wanted.filter(isReady)
      if (taken.length === 0) return 0
      const upload = begin(taken.map(sourceOf))
      for (const item of taken) touch(item, { state: 'waiting', error: undefined })
      carry(upload, taken)
      return taken.length
    },
    adopt({ upload, offer: { files, found } }) {
      const adopted = upload.files().map(({ fileIndex, name, bytes }) => {
        return newItem(name, bytes, found.get(fileIndex), 'waiting', files[fileIndex])
      })
      rows.put(adopted)
      carry(upload, adopted)
    },
    pause: () => ask('pause'),
    resume: () => ask('resume'),
    async giveUp(how) {
      // What is still being opened again comes paused.
      wish = 'pause'
      await Promise.all(active().map((job) => job.upload[how]()))
    },
    async retry(uplink, resume, anew) {
      wish = 'resume'
      const wanted = new Set(list.retryable())
      const known = new Set((await uplink.sessions()).map(({ key }) => key))
      const begin = async (job: Job): Promise<void> => {
        if (!known.has(job.upload.key)) {
          jobs = jobs.filter((other) => other !== job)
          for (const item of job.items) if (wanted.has(item)) touch(item, { state: 'ready', error: undefined })
          return
        }
        opening.add(job)
        try {
          job.upload = await resume(uplink, job.upload.key, sourcesAgain(job))
        } finally {
          opening.delete(job)
        }
        // Put away meanwhile.
        if (!jobs.includes(job)) return void job.upload.discard()
        job.upload[wish]()
        over.delete(job)
        job.report = undefined
        for (const item of job.items) if (wanted.has(item)) touch(item, { state: 'waiting', error: undefined })
        follow(job)
      }
      const again = jobs.filter(
        (job) => !isActive(job) && !opening.has(job) && job.items.some((item) => wanted.has(item)),
      )
      // One that cannot be taken up holds back no other, nor what is begun anew.
      try {
        await Promise.all(again.map(begin))
      } finally {
        anew(rows.items().filter((item) => wanted.has(item) && isReady(item)))
      }
    },
    unfinished: () =>
      jobs.filter((job) => !isActive(job) && !job.isDiscarded && job.items.some(({ state }) => state === 'failed')),
    clear() {
      jobs = active()
      const running = new Set(jobs.flatMap((job) => job.items))
      rows.keep((item) => running.has(item) || isReady(item))
      listener.change()
    },
  }
  return list
}
