// The files of one element and the uploads that carry them: what is known of them, and nothing of how it looks. A start puts
// every file that is ready into one upload. Several uploads may run side by side on one engine.

import type { BrowserUplink, UploadFailedError } from '../browser.ts'
import { summarize, type ErrorSummary } from '../core/errors.ts'
import type { Outage, Upload, UploadFileStatus, UploadReport } from '../flows/upload.ts'
import type { ChosenAgain } from './chosen-again.ts'
import type { ChosenFile } from './chosen-files.ts'
import { isReady, keeperOf, needsChoosing, newItem, sourceOf, sourcesAgain, type Item, type Job } from './items.ts'
import type { GivenUp } from './question.ts'
import { phaseOf, totalsOf, type Phase, type Totals } from './list-state.ts'
import type { Offer } from './offers.ts'
import { readJob } from './reading.ts'
import { createRows } from './rows.ts'
import type { Setting } from './setting.ts'

/** What happens to an upload on its way. `file` comes with the file. */
export type JobEvent = 'start' | 'state' | 'waiting' | 'progress' | 'file'

/** Hears what happens to the list. `change` is called whenever something visible has changed. */
export interface ListListener {
  change(): void
  told(job: Job, event: JobEvent, file?: UploadFileStatus): void
  settled(job: Job, report: UploadReport | undefined, error: ErrorSummary | undefined): void
}

export interface UploadList {
  readonly items: readonly Item[]
  readonly jobs: readonly Job[]
  phase(): Phase
  /** The totals as of now. Reads the state of each active upload into its items first. */
  totals(): Totals
  /** What a waiting upload waits for. */
  outage(): Outage | undefined
  /** Files that failed in an upload that is over, and that another try may mend. */
  retryable(): readonly Item[]
  /**
   * Adds files. If a file could not be read or was given up and is chosen again, it takes its old row. Each file of `again` takes
   * the row that it belongs to; if that row is under way, only once it has failed or was cancelled.
   */
  add(files: readonly ChosenFile[], again?: ChosenAgain): void
  /** Removes a file. The one whose row it had taken comes back, and is returned. */
  remove(item: Item): Item | undefined
  /** The totals of the uploads that a cancel would end. */
  atStake(): Totals
  /** What was asked for last. It also applies to uploads that are still to be begun or resumed. After a cancel: nothing. */
  wish: 'pause' | 'resume' | undefined
  /**
   * Starts an upload of those of `wanted` that are still here and ready, unless all was cancelled. Throws the flow's error about
   * its input.
   */
  start(uplink: BrowserUplink, wanted: Pick<ReadonlySet<Item>, 'has'>, setting: Pick<Setting, 'begin'>): void
  /** Adds a resumed upload of an earlier life of the page. */
  adopt(uplink: BrowserUplink, upload: Upload, offer: Pick<Offer, 'files' | 'found'>): void
  pause(): void
  resume(): void
  giveUp(how: GivenUp): Promise<void>
  /** Resumes every upload with retryable files. Of an upload that no journal has, such files are begun anew. */
  retry(uplink: BrowserUplink, setting: Pick<Setting, 'begin' | 'resume'>): Promise<void>
  /** Uploads that ended without all of their files and have not been given up since. */
  unfinished(): readonly Job[]
  /** Removes from the list what is over. */
  clear(): void
}

/** Of a file whose uploaded bytes are given up. */
const GIVEN_UP = { state: 'cancelled', sentBytes: 0, confirmedBytes: 0, error: undefined } as const

export function createUploadList(listener: ListListener): UploadList {
  const rows = createRows()
  let jobs: Job[] = []
  const active = (): Job[] => jobs.filter((job) => !job.isOver)
  const totals = (of: readonly Job[]): Totals => {
    for (const job of active()) readJob(job, performance.now())
    return totalsOf(of, active())
  }

  /** Follows an upload to its end. */
  const follow = (job: Job): void => {
    const { upload } = job
    const tell = (event: JobEvent, status?: UploadFileStatus): void => {
      listener.change()
      listener.told(job, event, status)
    }
    for (const event of ['progress', 'state'] as const) upload.on(event, () => tell(event))
    upload.on('file', (status) => {
      const item = job.items[status.fileIndex]
      // Set at once: an earlier upload of this file can be discarded as soon as the file is confirmed.
      if (item && status.state === 'confirmed') item.state = status.state
      if (item && status.state === 'failed') rows.giveWay(item)
      tell('file', status)
    })
    upload.on('waiting', (outage) => {
      job.outage = { ...outage, sentBytes: upload.progress().sentBytes }
      tell('waiting')
    })
    upload.on('retry', ({ fileIndex }) => {
      const item = job.items[fileIndex]
      if (item) item.retries += 1
      listener.change()
    })
    const settle = (report: UploadReport | undefined, error: ErrorSummary | undefined): void => {
      job.isOver = true
      // The last reading. What it leaves open, such as a file that the upload never began, is settled after it.
      readJob(job, performance.now())
      for (const item of job.items) settleItem(item, report)
      listener.settled(job, report, error)
      listener.change()
    }
    upload.done().then(
      (report) => settle(report, report.error),
      // Recognised by its shape, because the Uplink may come from another copy of the package.
      (error: unknown) => settle((error as Partial<UploadFailedError>).report, summarize(error)),
    )
    tell('start')
  }

  const ask = (asked: 'pause' | 'resume'): void => {
    list.wish = asked
    for (const job of jobs)
      if (!job.isOver) job.upload[asked]()
      else if (job.opening) job.opening = asked
  }

  const carry = (job: Job): void => {
    jobs.push(job)
    follow(job)
  }

  /** Its error stays the file's own. What ended the whole upload is shown once, and not in each row. */
  const settleItem = (item: Item, report: UploadReport | undefined): void => {
    const isCancelled = report?.status === 'cancelled'
    // A confirmed file stays so, unless the whole upload was given up.
    if (item.state === 'confirmed' && !(isCancelled && !report.keepsConfirmed)) return
    if (isCancelled) Object.assign(item, GIVEN_UP)
    else item.state = 'failed'
    rows.giveWay(item)
  }

  const list: UploadList = {
    wish: 'resume',
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
    retryable: () =>
      jobs
        .filter((job) => job.isOver)
        .flatMap(({ items }) => items)
        .filter((item) => item.state === 'failed' && !item.replacedBy && !needsChoosing(item)),
    add(files, again) {
      rows.add(files, again)
      listener.change()
    },
    remove(item) {
      const former = rows.remove(item)
      listener.change()
      return former
    },
    start(uplink, wanted, setting) {
      const taken = rows
        .items()
        .filter(isReady)
        .filter((item) => wanted.has(item))
      if (taken.length === 0 || !list.wish) return
      const upload = setting.begin(uplink, taken.map(sourceOf))
      for (const item of taken) item.state = 'waiting'
      carry({ uplink, upload, items: taken })
      if (list.wish === 'pause') upload.pause()
    },
    adopt(uplink, upload, { files, found }) {
      const statuses = upload.files()
      const adopted = files.map((file) => {
        const state = statuses[file.fileIndex]?.state === 'confirmed' ? 'confirmed' : 'waiting'
        return newItem({ ...file, ...found.get(file.fileIndex) }, state)
      })
      rows.put(adopted)
      carry({ uplink, upload, items: adopted })
    },
    pause: () => ask('pause'),
    resume: () => ask('resume'),
    async giveUp(how) {
      list.wish = undefined
      for (const job of jobs) if (job.opening) job.opening = 'pause'
      await Promise.all(active().map((job) => job.upload[how]()))
    },
    async retry(uplink, setting) {
      list.wish = 'resume'
      const wanted = new Set(list.retryable())
      const wantedOf = (job: Job): Item[] => job.items.filter((item) => wanted.has(item))
      const begin = async (job: Job): Promise<void> => {
        job.opening = 'resume'
        try {
          const keeper = await keeperOf(job, uplink)
          if (!keeper) {
            const anew = wantedOf(job)
            // What the browser itself had found goes with the upload. It may be chosen again.
            for (const item of anew) Object.assign(item, item.file ? { ...GIVEN_UP, state: 'ready' } : GIVEN_UP)
            job.items = job.items.filter((item) => !isReady(item))
            // By itself, because the captures of another upload may have the same names.
            list.start(uplink, new Set(anew), setting)
            return
          }
          job.upload = await setting.resume(keeper, job.upload.key, await sourcesAgain(job, keeper))
          job.uplink = keeper
          job.upload[job.opening]()
        } finally {
          job.opening = undefined
        }
        // The person cleared the list meanwhile.
        if (!jobs.includes(job)) return void job.upload.discard()
        job.isOver = false
        for (const item of wantedOf(job)) Object.assign(item, { state: 'waiting', error: undefined } as const)
        follow(job)
      }
      const again = jobs.filter((job) => !job.opening && wantedOf(job).length > 0)
      // One that cannot be taken up again holds back no other.
      await Promise.all(again.map(begin))
    },
    unfinished: () =>
      jobs.filter((job) => job.isOver && !job.isDiscarded && job.items.some(({ state }) => state === 'failed')),
    clear() {
      jobs = active()
      const running = new Set(jobs.flatMap((job) => job.items))
      rows.keep((item) => running.has(item) || isReady(item))
      listener.change()
    },
  }
  return list
}
