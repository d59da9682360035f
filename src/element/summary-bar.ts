// All files together: a heading that says what is going on, one bar, bytes, rate and time left, and the controls.

import { build, buildButton, focusedBeside, setFacts, setText, showText } from './build-element.ts'
import { endOf } from './end-words.ts'
import { buildBar, drawBar, shareOf } from './file-row.ts'
import type { Item } from './items.ts'
import { outageWords } from './outage-words.ts'
import type { Phase, Totals } from './list-state.ts'
import type { UploadList } from './upload-list.ts'
import type { Words } from './words.ts'

export interface SummaryState {
  readonly phase: Phase
  readonly totals: Totals
  readonly readyCount: number
  readonly retryable: readonly Item[]
}

export interface SummaryActions {
  readonly list: UploadList
  start(): Promise<void>
  retry(): Promise<void>
  /** Asks first if something is confirmed. Resolves with false if the answer was no. */
  cancel(): Promise<boolean>
  /** Removes from the list what is over. Asks first if parts of a file would be given up. */
  clear(): Promise<void>
}

export interface SummaryBar {
  readonly element: HTMLElement
  draw(words: Words, state: SummaryState): void
}

export function createSummaryBar(actions: SummaryActions): SummaryBar {
  const heading = build('h2', 'summary-title title', { tabindex: '-1' })
  const facts = build('p', 'summary-facts facts')
  const [bar, fill] = buildBar('total-bar')
  let isPaused = false
  /** Bytes sent when the uploads were last neither paused nor waiting. */
  let sentBytes = 0
  const start = buildButton('start-button primary-button', () => void actions.start())
  const pause = buildButton('pause-button', () => actions.list[isPaused ? 'resume' : 'pause']())
  const retry = buildButton('retry-button primary-button', () => void actions.retry())
  const clear = buildButton('clear-button quiet-button', () => void actions.clear())
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
  /** Moves the focus to the first control that can be used now. */
  const focus = (): void => (buttons.find((button) => !button.hidden && !button.disabled) ?? heading).focus()

  return {
    element,
    draw(words, state) {
      const { phase, totals, readyCount, retryable } = state
      const isRunning = !['empty', 'ready', 'settled'].includes(phase)
      const focused = buttons.find((button) => button === focusedBeside(element))
      const [outcome, said] = phase === 'settled' ? endOf(words, totals) : ['', headingOf(words, state, actions.list)]
      element.hidden = phase === 'empty'
      isPaused = phase === 'paused'
      if (!isPaused && phase !== 'waiting') sentBytes = totals.sentBytes
      setText(heading, said)
      setFacts(facts, factsOf(words, state, totals.sentBytes < sentBytes))
      const share = shareOf(totals.sentBytes, totals.totalBytes)
      bar.hidden = !isRunning
      drawBar(bar, fill, share, words.totalProgress, `${words.percent(share)}, ${said}`)
      element.dataset['outcome'] = outcome
      showText(start, readyCount > 0 && words.start(readyCount))
      showText(pause, isRunning && (isPaused ? words.resume : words.pause))
      showText(retry, retryable.length > 0 && words.retry(retryable.length))
      showText(clear, !isRunning && actions.list.items.length > readyCount && words.clear)
      showText(cancel, isRunning && words.cancel)
      pause.disabled = cancel.disabled = phase === 'cancelling'
      // A button that is hidden or disabled drops the focus to the top of the page.
      if (focused?.hidden || focused?.disabled) focus()
    },
  }
}

function headingOf(words: Words, { phase, totals, readyCount }: SummaryState, list: UploadList): string {
  const { filesConfirmed: done, filesTotal: all } = totals
  switch (phase) {
    case 'waiting':
      return outageWords(words, list.outage())
    case 'paused':
      return words.pausedAt(done, all)
    case 'cancelling':
      return words.cancelling
    case 'uploading':
      return words.progress(done, all)
    // With an empty list the heading is not shown.
    default:
      return words.chosen(readyCount)
  }
}

/**
 * `hasLost`: bytes that were on their way were lost when the upload stopped. Once everything is sent, nobody knows how long the
 * answers take.
 */
function factsOf(words: Words, { phase, totals, retryable }: SummaryState, hasLost: boolean): (string | false)[] {
  const { sentBytes, totalBytes, bytesPerSecond, remainingMs } = totals
  const { filesTotal, filesConfirmed, filesFailed } = totals
  const isOver = phase === 'settled'
  const isDone = isOver && filesConfirmed === filesTotal
  if (phase === 'ready' || (isOver && filesConfirmed + filesFailed === 0)) return []
  const isMoving = phase === 'uploading' && bytesPerSecond > 0
  const whole = words.bytes(totalBytes)
  return [
    isOver && filesConfirmed > 0 && !isDone && words.progress(filesConfirmed, filesTotal),
    !isOver && filesFailed > 0 && words.notDone(filesFailed),
    isDone ? whole : words.amountOf(words.bytes(sentBytes), whole),
    isOver && retryable.some((item) => item.sentBytes > 0) && words.goesOn,
    hasLost && words.sentAgain,
    isMoving && words.rate(bytesPerSecond),
    isMoving && !!remainingMs && words.remaining(words.duration(remainingMs)),
  ]
}
