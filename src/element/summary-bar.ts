// The whole: a heading that says what is going on, one bar, bytes, rate and time left, and the controls.

import type { Outage } from '../flows/upload.ts'
import { build, buildButton, setText } from './build-element.ts'
import { buildBar, drawBar } from './file-row.ts'
import type { Formats } from './formats.ts'
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
  start(): void
  pause(): void
  resume(): void
  retry(): void
  cancel(): void
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
  const start = buildButton('start-button primary-button', () => actions.start())
  const pause = buildButton('pause-button', () => (isPaused ? actions.resume() : actions.pause()))
  const retry = buildButton('retry-button primary-button', () => actions.retry())
  const clear = buildButton('clear-button quiet-button', () => actions.clear())
  const cancel = buildButton('cancel-button quiet-button', () => actions.cancel())
  const buttons = [start, pause, retry, clear, cancel]
  const words = build('div', 'summary-words', {}, heading, facts)
  const element = build('div', 'summary', {}, words, build('div', 'actions', {}, ...buttons), bar)
  /** To the first control that can be used now. */
  const focus = (): void => (buttons.find((button) => !button.hidden && !button.disabled) ?? heading).focus()

  return {
    element,
    draw(texts, formats, state) {
      const { phase, totals } = state
      const isRunning = phase === 'uploading' || phase === 'waiting' || phase === 'paused' || phase === 'cancelling'
      const root = element.getRootNode() as ShadowRoot
      const hadFocus = buttons.some((button) => button === root.activeElement)
      element.hidden = phase === 'empty'
      isPaused = phase === 'paused'
      setText(heading, headingOf(texts, formats, state))
      setText(facts, factsOf(texts, formats, state))
      const share = totals.totalBytes === 0 ? 0 : Math.min(1, totals.sentBytes / totals.totalBytes)
      bar.hidden = !isRunning
      drawBar(bar, fill, share, texts.totalProgress, `${formats.percent(share)}, ${headingOf(texts, formats, state)}`)
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
      const focused = root.activeElement
      if (
        hadFocus &&
        (focused === null || (focused as HTMLButtonElement).hidden || (focused as HTMLButtonElement).disabled)
      )
        focus()
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

function factsOf(texts: UploaderTexts, formats: Formats, { phase, totals, wasCancelled }: SummaryState): string {
  // What was confirmed of an upload that is given up counts no more.
  if (phase === 'ready' || phase === 'empty' || (wasCancelled && phase === 'settled')) return ''
  const { confirmedBytes, sentBytes, totalBytes, bytesPerSecond, remainingMs } = totals
  const isMoving = phase === 'uploading' && bytesPerSecond > 0
  const isOver = phase === 'settled'
  const amount = texts.amountOf(formats.bytes(isOver ? confirmedBytes : sentBytes), formats.bytes(totalBytes))
  return [
    isOver &&
      confirmedBytes < totalBytes &&
      texts.progress(formats.count(totals.filesConfirmed), formats.count(totals.filesTotal)),
    isOver && confirmedBytes === totalBytes ? formats.bytes(totalBytes) : amount,
    isMoving && formats.rate(bytesPerSecond),
    isMoving && remainingMs !== undefined && texts.remaining(formats.duration(remainingMs)),
  ]
    .filter((fact) => fact !== false)
    .join(' · ')
}
