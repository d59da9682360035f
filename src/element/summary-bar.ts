// The whole: a heading that says what is going on, one bar, bytes, rate and time left, and the controls.

import type { Outage } from '../flows/upload.ts'
import { build, buildButton, focusedBeside, setText } from './build-element.ts'
import { buildBar, drawBar } from './file-row.ts'
import { joinFacts, type Formats } from './formats.ts'
import { outageWords } from './outage-words.ts'
import type { UploaderTexts } from './texts.ts'
import type { Phase, Totals } from './list-state.ts'

export interface SummaryState {
  readonly phase: Phase
  readonly totals: Totals
  readonly outage: Outage | undefined
  readonly readyCount: number
  readonly retryableCount: number
  /** Whether anything is over and can be taken out of the list. */
  readonly isClearable: boolean
  readonly wasCancelled: boolean
}

export interface SummaryActions {
  start(): Promise<void>
  pause(): void
  resume(): void
  retry(): Promise<void>
  /** Asks first when something is confirmed; false when the answer was no. */
  cancel(): Promise<boolean>
  /** Takes what is over out of the list. */
  clear(): void
}

export interface SummaryBar {
  readonly element: HTMLElement
  draw(texts: UploaderTexts, formats: Formats, state: SummaryState): void
}

export function createSummaryBar(actions: SummaryActions): SummaryBar {
  const heading = build('h2', 'summary-title title', { tabindex: '-1' })
  const facts = build('p', 'summary-facts facts')
  const [bar, fill] = buildBar('total-bar')
  let isPaused = false
  /** When it was last neither paused nor waiting. */
  let sentBytes = 0
  const start = buildButton('start-button primary-button', () => void actions.start())
  const pause = buildButton('pause-button', () => (isPaused ? actions.resume() : actions.pause()))
  const retry = buildButton('retry-button primary-button', () => void actions.retry())
  const clear = buildButton('clear-button quiet-button', () => actions.clear())
  const cancel = buildButton('cancel-button quiet-button', () => void actions.cancel())
  const buttons = [start, pause, retry, clear, cancel]
  const element = build(
    'div',
    'summary',
    {},
    build('div', 'summary-words', {}, heading, facts),
    build('div', 'actions', {}, ...buttons),
    bar,
  )
  /** To the first control that can be used now. */
  const focus = (): void => (buttons.find((button) => !button.hidden && !button.disabled) ?? heading).focus()

  return {
    element,
    draw(texts, formats, state) {
      const { phase, totals } = state
      const isRunning = phase !== 'empty' && phase !== 'ready' && phase !== 'settled'
      const focused = buttons.find((button) => button === focusedBeside(element))
      const words = headingOf(texts, formats, state)
      element.hidden = phase === 'empty'
      isPaused = phase === 'paused'
      if (phase !== 'paused' && phase !== 'waiting') sentBytes = totals.sentBytes
      setText(heading, words)
      setText(facts, factsOf(texts, formats, state, totals.sentBytes < sentBytes))
      const share = totals.totalBytes === 0 ? 0 : Math.min(1, totals.sentBytes / totals.totalBytes)
      bar.hidden = !isRunning
      drawBar(bar, fill, share, texts.totalProgress, `${formats.percent(share)}, ${words}`)
      element.dataset['phase'] = phase
      element.dataset['outcome'] = outcomeOf(state)
      start.hidden = state.readyCount === 0
      pause.hidden = !isRunning
      pause.disabled = phase === 'cancelling'
      retry.hidden = isRunning || state.retryableCount === 0
      clear.hidden = isRunning || !state.isClearable
      cancel.hidden = !isRunning
      cancel.disabled = phase === 'cancelling'
      setText(start, texts.start(formats.count(state.readyCount)))
      setText(pause, isPaused ? texts.resume : texts.pause)
      setText(retry, texts.retry(formats.count(state.retryableCount)))
      setText(clear, texts.clear)
      setText(cancel, texts.cancel)
      // A button that is hidden or disabled drops the focus to the top of the page.
      if (focused?.hidden === true || focused?.disabled === true) focus()
    },
  }
}

function outcomeOf({ phase, totals, wasCancelled }: SummaryState): string {
  if (phase !== 'settled') return ''
  if (totals.filesConfirmed === totals.filesTotal) return 'done'
  return wasCancelled ? 'cancelled' : 'problem'
}

function headingOf(
  texts: UploaderTexts,
  formats: Formats,
  { phase, totals, outage, readyCount, wasCancelled }: SummaryState,
): string {
  const done = formats.count(totals.filesConfirmed)
  const all = formats.count(totals.filesTotal)
  switch (phase) {
    case 'empty':
      return ''
    case 'ready':
      return texts.chosen(formats.count(readyCount))
    case 'waiting':
      return outageWords(texts, formats, outage)
    case 'paused':
      return texts.pausedAt(done, all)
    case 'cancelling':
      return texts.cancelling
    case 'uploading':
      return texts.progress(done, all)
    case 'settled':
      if (done.value === all.value) return texts.allDone(all)
      if (wasCancelled) return texts.wasCancelled
      return done.value === 0 ? texts.noneDone : texts.notDone(formats.count(all.value - done.value))
  }
}

/** `hasLost`: what was on its way when it stopped. */
function factsOf(
  texts: UploaderTexts,
  formats: Formats,
  { phase, totals, wasCancelled }: SummaryState,
  hasLost: boolean,
): string {
  // What was confirmed of an upload that is given up counts no more.
  if (phase === 'ready' || phase === 'empty' || (wasCancelled && phase === 'settled')) return ''
  const { confirmedBytes, sentBytes, totalBytes, bytesPerSecond, remainingMs } = totals
  const isMoving = phase === 'uploading' && bytesPerSecond > 0
  const isOver = phase === 'settled'
  const amount = texts.amountOf(formats.bytes(isOver ? confirmedBytes : sentBytes), formats.bytes(totalBytes))
  return joinFacts(
    isOver &&
      confirmedBytes < totalBytes &&
      texts.progress(formats.count(totals.filesConfirmed), formats.count(totals.filesTotal)),
    !isOver && totals.filesFailed > 0 && texts.notDone(formats.count(totals.filesFailed)),
    isOver && confirmedBytes === totalBytes ? formats.bytes(totalBytes) : amount,
    hasLost && texts.sentAgain,
    isMoving && formats.rate(bytesPerSecond),
    isMoving && remainingMs !== undefined && texts.remaining(formats.duration(remainingMs)),
  )
}
