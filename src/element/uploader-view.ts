// Joins the files, their rows, the offers and the controls. Whatever a person does arrives here.

import type { BrowserUplink } from '../browser.ts'
import { summarize, type ErrorSummary } from '../core/errors.ts'
import type { UploadReport } from '../flows/upload.ts'
import { judgeFiles, type AcceptanceRules } from './acceptance.ts'
import { createAnnouncer } from './announcer.ts'
import { findChosenAgain, type ChosenAgain } from './chosen-again.ts'
import type { ChosenFile } from './chosen-files.ts'
import { createDrawing } from './drawing.ts'
import { createDropZone } from './drop-zone.ts'
import { createFileList } from './file-list.ts'
import type { RowAction } from './file-row.ts'
import { isDelivered, isReady, isReplaceable, keeperOf, needsChoosing, type Item, type Job } from './items.ts'
import { totalsOf } from './list-state.ts'
import { createNarration } from './narration.ts'
import { createNotices } from './notices.ts'
import { createOfferCards } from './offer-cards.ts'
import { createOfferControl, inTime } from './offer-control.ts'
import { problemOf } from './problems.ts'
import { createQuestion } from './question.ts'
import type { Setting } from './setting.ts'
import { createSummaryBar, type SummaryActions } from './summary-bar.ts'
import { createUploadList } from './upload-list.ts'
import type { Tell } from './uploader-events.ts'
import { namesOf, type Words } from './words.ts'

export interface UploaderView extends SummaryActions {
  readonly elements: readonly HTMLElement[]
  /** `again`: rows, each with the file of `files` that takes its place. */
  add(files: readonly ChosenFile[], again?: ChosenAgain): void
  /** Moves the focus to where files come in. */
  focus(): void
  /** Looks for unfinished uploads of an earlier life of the page. */
  lookForOffers(): Promise<void>
  /** Draws everything anew, after texts, attributes or input have changed. */
  redraw(): void
}

export function createUploaderView(target: HTMLElement, setting: () => Setting, tell: Tell): UploaderView {
  const redraw = (): void => drawing.ask()
  const words = (): Words => setting().words
  const list = createUploadList({
    change: redraw,
    told(job, event, file) {
      narration.told(job, event, file)
      if (file?.state === 'confirmed') discardDelivered()
    },
    settled,
  })
  const zone = createDropZone(
    target,
    async (files, instead) => view.add(files, await findChosenAgain(list.items, files, instead)),
    () => {
      announcer.say(words().reading)
      redraw()
    },
  )
  const toZone = (): void => zone.focus()
  const offers = createOfferControl({
    target,
    attempt,
    setting,
    keysInUse: () => new Set(list.jobs.map(({ upload }) => upload.key)),
    choose: () => void zone.choose(),
    mayDiscard: (session) => question.ask(words(), session, true),
    onTaken: list.adopt,
    onDiscarded({ filesConfirmed, filesTotal }) {
      announcer.say(words().wasCancelled)
      if (filesConfirmed > 0) announcer.say(words().progress(filesConfirmed, filesTotal))
    },
    onLooked() {
      // Files that came before this look may belong to what it found.
      const early = list.items.filter(isReady)
      const rest = new Set(judge(early, [], { accept: '', session: undefined }))
      for (const item of early) if (!rest.has(item)) list.remove(item)
      // Another tab has confirmed these files meanwhile, or is gone and they are offered.
      const isDriven = new Set(offers.driven.map(({ fileName }) => fileName))
      notices.keepRefused(({ name, reason }) => reason !== 'elsewhere' || isDriven.has(name))
    },
    onChange: redraw,
  })
  /** Files for which a start was asked. Those that are added while it waits are not among them. */
  const asked = new WeakSet<Item>()
  const view: UploaderView = {
    get elements() {
      return [drawing.element, question.element, announcer.region]
    },
    list,
    add(files, again) {
      const { accept, flow, isAdding, isStartingByItself } = setting()
      const here = list.items.filter((item) => !isReplaceable(item) && !again?.has(item))
      // What has begun is in another session, unless all go into the one that the page names.
      const session = flow === 'capture' ? here.filter((item) => isAdding || isReady(item)) : undefined
      notices.clear()
      if (files.length === 0) notices.showNothing()
      const accepted = judge(files, here, { accept, session })
      redraw()
      if (accepted.length === 0) return
      list.add(accepted, again)
      announcer.say(words().saidAdded(accepted.length))
      if (isStartingByItself) void begin()
    },
    async start() {
      if (!list.items.some(isReady)) return
      notices.clear()
      await begin()
    },
    async retry() {
      notices.clear()
      await attempt((uplink) => list.retry(uplink, setting()))
    },
    async cancel() {
      // Captures stay, whatever the element takes now.
      const isKept = list.jobs.some(({ isOver, upload }) => !isOver && upload.flow === 'capture')
      const how = await question.ask(words(), list.atStake(), isKept)
      if (how) await list.giveUp(how)
      return how !== undefined
    },
    async clear() {
      // What is cleared is also discarded, or a reload would offer it again. Parts of a file are not given up without a question.
      const left = list.unfinished()
      const isAtStake = left.some(({ items }) => items.some((item) => item.state === 'failed' && item.sentBytes > 0))
      if (isAtStake && !(await question.ask(words(), totalsOf(left, []), true))) return
      for (const each of list.unfinished()) void discard(each)
      list.clear()
      notices.clear()
      toZone()
    },
    lookForOffers: offers.look,
    focus: toZone,
    redraw,
  }
  /** Starts all that is ready, and leaves to be read what was refused beside it. */
  async function begin(): Promise<void> {
    for (const item of list.items) asked.add(item)
    list.wish = 'resume'
    // Files of an unfinished upload go on with it, and those that another tab or element has begun to upload are not sent twice.
    await inTime(offers.look())
    await attempt((uplink) => list.start(uplink, asked, setting()))
  }
  /** Gives the files to the offers that miss them, shows which of the rest are refused, and returns the others. */
  function judge<Chosen extends ChosenFile>(
    files: readonly Chosen[],
    present: readonly Item[],
    rules: Pick<AcceptanceRules, 'accept' | 'session'>,
  ): Chosen[] {
    const { isRenaming } = setting()
    const rest = offers.feed(files)
    const offered = offers.offers.flatMap((offer) => offer.files)
    const { accepted, refused } = judgeFiles(rest, present, { ...rules, isRenaming, offered, driven: offers.driven })
    if (refused.length > 0) {
      notices.showRefused(refused)
      tell('mocap-upload-refused', { files: refused })
    }
    return accepted
  }

  const summary = createSummaryBar(view)
  const rows = createFileList(onRowAction, toZone)
  const notices = createNotices(redraw, toZone)
  const question = createQuestion()
  const announcer = createAnnouncer()
  const cards = createOfferCards(offers, toZone, announcer.say)
  const narration = createNarration(announcer, tell, words, list)
  const drawing = createDrawing({ list, offers, setting }, { cards, zone, notices, summary, rows })

  function settled(job: Job, report: UploadReport | undefined, error: ErrorSummary | undefined): void {
    const failed = job.items.filter((item) => item.state === 'failed')
    if (report?.status === 'cancelled') tell('mocap-upload-cancelled', report)
    else {
      if (report?.status === 'confirmed' || report?.status === 'partial') tell('mocap-upload-done', report)
      else tell('mocap-upload-error', { error: error ?? summarize(undefined), report })
      explain(failed, error)
    }
    drawing.reveal(failed.find((item) => !item.replacedBy))
    narration.sayEnd(job)
    if (isUnreadable(job)) void discard(job)
    discardDelivered()
  }

  /** Shows what the rows do not: why the whole upload failed, or else the details for those who run the page. Nothing is said twice. */
  function explain(failed: readonly Item[], error: ErrorSummary | undefined): void {
    if (failed.length === 0 || failed.some((item) => !item.error)) {
      if (error) notices.showProblem(error)
      return
    }
    const forOthers = failed.filter((item) => item.error && problemOf(item.error) === 'setup')
    const ofFirst = forOthers[0]?.error
    if (ofFirst) notices.showProblem(ofFirst, (words) => namesOf(forOthers, words))
  }

  /** Discards uploads that have nothing left to do, because another upload has delivered their files. */
  function discardDelivered(): void {
    for (const each of list.unfinished()) if (each.items.every(isDelivered)) void discard(each)
  }

  async function discard(job: Job): Promise<void> {
    job.isDiscarded = true
    try {
      const keeper = await keeperOf(job, setting().uplink() ?? job.uplink)
      await keeper?.discardSession(job.upload.key)
    } catch {
      // It is offered again after a reload, and can be given up there.
    }
  }

  function showProblem(error: ErrorSummary, title?: (words: Words) => string): void {
    notices.showProblem(error, title)
    tell('mocap-upload-error', { error, report: undefined })
  }

  function onRowAction(item: Item, action: RowAction): void {
    if (action === 'retry') void view.retry()
    // The row stays until the file is there, so that a person who closes the picker still sees what is missing.
    else if (action === 'chooseAgain') void zone.choose(item)
    // It may have been started since its row was drawn.
    else if (isReady(item)) {
      rows.remove(item, list.remove(item))
      announcer.say(words().saidRemoved(item.location))
    }
  }

  /** Runs the work of a click. What goes wrong is shown and never becomes an unhandled rejection. */
  async function attempt(work: (uplink: BrowserUplink) => Promise<void> | void): Promise<void> {
    try {
      const uplink = setting().uplink()
      const message = 'Give uplink or base-url and credentials.'
      if (uplink) await work(uplink)
      else showProblem({ code: 'ERR_UPLOAD_INVALID_ARGUMENT', message }, ({ notSetUp }) => notSetUp)
    } catch (error) {
      showProblem(summarize(error))
    }
  }

  return view
}

/** True if no file could be read and no byte is stored. Such an upload would be offered after each reload, and nobody could finish it. */
function isUnreadable({ upload, items }: Job): boolean {
  return upload.progress().confirmedBytes === 0 && items.every(needsChoosing)
}
