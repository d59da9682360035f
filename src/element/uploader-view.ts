// Joins the files, their rows, the offers and the controls: what a person does goes in here, and a frame is drawn when
// something has changed.

import type { BrowserUplink } from '../browser.ts'
import { summarize, type ErrorSummary } from '../core/errors.ts'
import type { Source } from '../core/ports.ts'
import type { Upload, UploadReport } from '../flows/upload.ts'
import { judgeFiles } from './acceptance.ts'
import { createAnnouncer } from './announcer.ts'
import type { UploaderFlow } from './attributes.ts'
import { build, setAttribute } from './build-element.ts'
import type { ChosenFile } from './chosen-files.ts'
import { createDropZone } from './drop-zone.ts'
import { createFileList } from './file-list.ts'
import type { RowAction } from './file-row.ts'
import type { Formats } from './formats.ts'
import type { Item, Job } from './items.ts'
import type { Phase, Totals } from './list-state.ts'
import { createNarration } from './narration.ts'
import { createNotices } from './notices.ts'
import { createOfferCards } from './offer-cards.ts'
import { createOfferControl, type AtStake } from './offer-control.ts'
import { createQuestion } from './question.ts'
import { createSummaryBar } from './summary-bar.ts'
import type { UploaderTexts } from './texts.ts'
import { createUploadList } from './upload-list.ts'
import type { Tell } from './uploader-events.ts'

/** What the view asks its element for; read whenever it is needed, because attributes change. */
export interface Setting {
  readonly texts: UploaderTexts
  readonly formats: Formats
  readonly flow: UploaderFlow
  readonly accept: string
  readonly isRenaming: boolean
  readonly isStartingByItself: boolean
  /** Undefined while neither an Uplink nor a base URL with credentials is given; throws for a base URL that cannot be. */
  uplink(): BrowserUplink | undefined
  /** Begins an upload; throws what the flow says about its input. */
  begin(uplink: BrowserUplink, sources: readonly Source[]): Upload
}

export interface UploaderView {
  readonly elements: readonly HTMLElement[]
  readonly phase: Phase
  readonly totals: Totals
  add(files: readonly ChosenFile[]): void
  start(): Promise<void>
  pause(): void
  resume(): void
  retry(): Promise<void>
  /** Asks first when something is confirmed; false when the answer was no. */
  cancel(): Promise<boolean>
  /** Looks for unfinished uploads of an earlier life. */
  lookForOffers(): Promise<void>
  /** Texts, attributes or size of the world changed: everything is drawn anew. */
  redraw(): void
}

export function createUploaderView(target: HTMLElement, setting: () => Setting, tell: Tell): UploaderView {
  let isFrameAsked = false
  let isLookPaused = false
  let wasCancelled = false
  let itemToReveal: Item | undefined
  let lastOnItsWay: Item | undefined

  const list = createUploadList({
    added: (items) => rows.add(items),
    removed: (item) => rows.remove(item),
    item(item) {
      rows.mark(item)
      askFrame()
    },
    change: askFrame,
    told: (job, event, file) => narration.told(job, event, file),
    settled,
  })
  const zone = createDropZone(target, (files) => view.add(files))
  const summary = createSummaryBar({
    start: () => void view.start(),
    pause: () => view.pause(),
    resume: () => view.resume(),
    retry: () => void view.retry(),
    cancel: () => void view.cancel(),
    clear() {
      wasCancelled = false
      list.clear()
      notices.clear()
      zone.focus()
    },
  })
  const rows = createFileList(onRowAction, () => zone.focus())
  const notices = createNotices(() => zone.focus())
  const cards = createOfferCards({
    accept: (key) => void offers.accept(key),
    discard: (key) => void offers.discard(key),
    emptied: () => zone.focus(),
  })
  const question = createQuestion()
  const offers = createOfferControl({
    target,
    attempt,
    choose: () => void zone.choose(),
    mayGiveUp,
    onTaken({ upload, fileOf }, filesTotal) {
      wasCancelled = false
      list.adopt(upload, fileOf)
      announcer.say(setting().texts.saidStarted(setting().formats.count(filesTotal)))
    },
    onDiscarded: () => announcer.say(setting().texts.wasCancelled),
    lookAgain: () => void view.lookForOffers(),
    onChange: askFrame,
  })
  const announcer = createAnnouncer(build('div', 'said', { role: 'status' }))
  const narration = createNarration({ announcer, tell, words: setting, totals: () => list.totals() })
  const frame = build(
    'section',
    'uploader',
    {},
    ...[cards.element, zone.element, notices.element, summary.element, rows.element],
  )

  function askFrame(): void {
    if (isFrameAsked) return
    isFrameAsked = true
    requestAnimationFrame((nowMs) => {
      isFrameAsked = false
      draw(nowMs)
    })
  }

  function draw(nowMs: number): void {
    const { texts, formats, accept } = setting()
    list.refresh(nowMs)
    const [phase, totals] = [list.phase(), list.totals()]
    const isPaused = phase === 'paused'
    if (isPaused !== isLookPaused) rows.markAll()
    isLookPaused = isPaused
    setAttribute(frame, 'aria-label', texts.label)
    zone.draw(texts, formats, accept, {
      hasList: phase !== 'empty',
      isCompact: phase !== 'empty' || offers.offers.length > 0,
    })
    cards.draw(offers.offers, texts, formats)
    const isClearable = list.items.some(
      ({ state }) => state === 'confirmed' || state === 'failed' || state === 'cancelled',
    )
    const readyCount = list.items.filter(({ state }) => state === 'ready').length
    const retryableCount = list.retryable().length
    summary.draw(texts, formats, {
      phase,
      totals,
      outage: list.outage(),
      readyCount,
      retryableCount,
      isClearable,
      wasCancelled,
    })
    const onItsWay = list.items.find(({ state }) => state === 'uploading')
    // Who looks through the list keeps the place.
    if (onItsWay !== lastOnItsWay && !rows.element.matches(':hover, :focus-within')) itemToReveal ??= onItsWay
    lastOnItsWay = onItsWay
    if (rows.draw({ texts, formats, isPaused, remainingMs: totals.remainingMs })) askFrame()
    else if (itemToReveal !== undefined) {
      // Only now do all rows have their words, and so their heights.
      rows.reveal(itemToReveal)
      itemToReveal = undefined
    }
  }

  function settled(job: Job, report: UploadReport | undefined, error: ErrorSummary | undefined): void {
    if (report?.status === 'confirmed' || report?.status === 'partial') tell('mocap-upload-done', report)
    else if (report?.status === 'cancelled') tell('mocap-upload-cancelled', report)
    else showProblem(error ?? summarize(undefined), report)
    wasCancelled = report?.status === 'cancelled'
    itemToReveal = job.items.find((item) => item.state === 'failed')
    narration.sayEnd(job, report)
  }

  function showProblem(error: ErrorSummary, report?: UploadReport, words?: string): void {
    notices.showProblem(error, setting().texts, words)
    tell('mocap-upload-error', { error, report })
  }

  function onRowAction(item: Item, action: RowAction): void {
    if (action === 'retry') {
      void view.retry()
      return
    }
    list.remove(item)
    announcer.say(setting().texts.saidRemoved(item.name))
    if (action === 'choose') void zone.choose()
  }

  async function mayGiveUp({ filesConfirmed, confirmedBytes }: AtStake): Promise<boolean> {
    const { texts, formats, flow } = setting()
    const words = flow === 'capture' ? texts.questionKept : texts.questionBody(formats.count(filesConfirmed))
    return confirmedBytes === 0 || question.ask(texts, words)
  }

  /** What goes wrong in a click is shown, and never an unhandled rejection. */
  async function attempt(work: (uplink: BrowserUplink) => Promise<void>): Promise<void> {
    try {
      const uplink = setting().uplink()
      if (uplink !== undefined) {
        await work(uplink)
        return
      }
      const message = 'Give the element an uplink, or a base-url and credentials.'
      showProblem({ code: 'ERR_UPLOAD_INVALID_ARGUMENT', message }, undefined, setting().texts.notSetUp)
    } catch (error) {
      showProblem(summarize(error))
    }
  }

  function addToList(files: readonly ChosenFile[]): void {
    const { texts, formats, accept, flow, isRenaming } = setting()
    const present = list.items
      .filter(({ state }) => state !== 'cancelled')
      .map(({ name, bytes, chosen }) => ({ name, bytes, modifiedAtMs: chosen?.file.lastModified }))
    const rules = { accept, isCapture: flow === 'capture', isRenaming }
    const { accepted, refused } = judgeFiles(files, present, rules)
    notices.clear()
    notices.showRefused(refused, texts, formats)
    if (refused.length > 0) tell('mocap-upload-refused', { files: refused })
    if (accepted.length === 0) return
    list.add(accepted)
    announcer.say(texts.saidAdded(formats.count(accepted.length)))
    if (setting().isStartingByItself) void view.start()
  }

  const view: UploaderView = {
    elements: [frame, question.element, announcer.region],
    get phase() {
      return list.phase()
    },
    get totals() {
      return list.totals()
    },
    add(files) {
      const rest = offers.feed(files)
      if (rest.length > 0) addToList(rest)
      askFrame()
    },
    async start() {
      const { begin, texts, formats } = setting()
      if (list.items.every(({ state }) => state !== 'ready')) return
      if (list.phase() === 'ready') narration.restart()
      wasCancelled = false
      notices.clear()
      await attempt(async (uplink) => {
        const taken = await list.start((sources) => begin(uplink, sources))
        if (taken > 0) announcer.say(texts.saidStarted(formats.count(taken)))
      })
    },
    pause: () => list.pause(),
    resume: () => list.resume(),
    async retry() {
      notices.clear()
      await attempt(async (uplink) => {
        await list.retry(uplink)
        await view.start()
      })
    },
    async cancel() {
      if (!(await mayGiveUp(list.atStake()))) return false
      await list.cancel()
      return true
    },
    async lookForOffers() {
      const keysInUse = new Set(list.jobs.map(({ upload }) => upload.key))
      const { uplink, flow } = setting()
      await offers.look(uplink, flow, keysInUse)
    },
    redraw() {
      rows.markAll()
      askFrame()
    },
  }
  return view
}
