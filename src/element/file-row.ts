// One row: name, size, state, bar and a button. It is made once and then only changed, also if its file is replaced, so that the
// focus and a screen reader's place stay where they are.

import { build, buildButton, buildIcon, setAttribute, setFacts, setText, showText } from './build-element.ts'
import { ICONS } from './icons.ts'
import { isOnItsWay, type Item } from './items.ts'
import { problemOf } from './problems.ts'
import { remainingOf } from './reading.ts'
import type { Words } from './words.ts'

/** What a row's one button does. */
export type RowAction = 'remove' | 'retry' | 'chooseAgain'

/** How to draw a row, apart from what its item says. */
export interface Look {
  readonly words: Words
  /** The only file that can be retried. Several are retried together, by the button above the list. */
  readonly retriedAlone: Item | undefined
  /** The time left for all files together. */
  readonly remainingMs: number | undefined
}

export interface FileRow {
  readonly element: HTMLLIElement
  /** Hidden while there is nothing to do. The list decides whether Tab goes to it. */
  readonly button: HTMLButtonElement
  /** Returns false if there was nothing to draw, because neither the item nor how it is to be drawn has changed. */
  draw(item: Item, look: Look): boolean
}

export function createFileRow(onAction: (item: Item, action: RowAction) => void): FileRow {
  const icon = buildIcon(ICONS.ready)
  const line = icon.firstElementChild
  const name = build('bdi', 'file-name')
  const size = build('span', 'file-size')
  const status = build('span', 'file-status')
  const problem = build('p', 'file-problem')
  const [bar, fill] = buildBar('file-bar')
  let shownItem: Item | undefined
  let action: RowAction | undefined
  const button = buildButton('row-button', () => {
    if (shownItem && action) onAction(shownItem, action)
  })
  button.tabIndex = -1
  const facts = build('span', 'facts', {}, size, status)
  const texts = build('div', 'words', {}, name, facts, problem)
  const element = build('li', 'file', { role: 'listitem' }, build('span', 'file-icon', {}, icon), texts, button, bar)
  let drawn: readonly unknown[] = []
  return {
    element,
    button,
    draw(item, look) {
      const { words, retriedAlone } = look
      const { state, sentBytes, bytesPerSecond, retries, error } = item
      const now = [item, words, item === retriedAlone, state, sentBytes, bytesPerSecond, retries, error]
      if (now.every((each, index) => each === drawn[index])) return false
      drawn = now
      shownItem = item
      const share = shareOf(sentBytes, item.bytes)
      setAttribute(element, 'data-state', state)
      if (line) setAttribute(line, 'd', ICONS[state])
      setText(name, item.location)
      setText(size, words.bytes(item.bytes))
      const facts = setFacts(status, statusOf(item, share, look))
      bar.hidden = !(state === 'uploading' || state === 'confirming' || (state === 'paused' && sentBytes))
      const said = new Set([words.percent(share), ...facts])
      if (!bar.hidden) drawBar(bar, fill, share, item.location, [...said].join(', '))
      showText(problem, error && words.problems[problemOf(error)])
      action = rowActionOf(item, item === retriedAlone)
      const word = action === 'retry' ? words.retry(1) : action && words[action]
      showText(button, word)
      setAttribute(button, 'aria-label', word && words.actionOn(word, item.location))
      return true
    },
  }
}

/** Creates a progress bar, and the element that fills it. */
export function buildBar(part: string): [bar: HTMLElement, fill: HTMLElement] {
  const fill = build('div', 'fill')
  return [build('div', `bar ${part}`, { role: 'progressbar' }, fill), fill]
}

/** Draws the bar of a row or of the whole. `said` is what a screen reader says of it. */
export function drawBar(bar: HTMLElement, fill: HTMLElement, share: number, label: string, said: string): void {
  const percent = String(Math.floor(share * 100))
  setAttribute(bar, 'aria-label', label)
  setAttribute(bar, 'aria-valuenow', percent)
  setAttribute(bar, 'aria-valuetext', said)
  // Scaled, because a change of its width would lay out everything anew in each frame in which it moves.
  fill.style.scale = `${share.toFixed(3)} 1`
}

/** The share that was sent, without lost attempts, because it moves with the line. What is confirmed is said in words. */
export function shareOf(sentBytes: number, bytes: number): number {
  return Math.min(1, sentBytes / bytes || 0)
}

/** Offers only what has an effect: no retry while the rest of the upload still runs, and none if nobody here can mend the problem. */
function rowActionOf({ state, error }: Item, isRetriedAlone: boolean): RowAction | undefined {
  if (state === 'ready') return 'remove'
  if (state !== 'failed' || !error) return undefined
  const problem = problemOf(error)
  if (problem === 'choose') return 'chooseAgain'
  return isRetriedAlone && problem !== 'setup' ? 'retry' : undefined
}

function statusOf(item: Item, share: number, { words, remainingMs }: Look): (string | false)[] {
  const { state, retries, bytesPerSecond: rate } = item
  const leftMs = remainingOf(item, remainingMs)
  return [
    state === 'uploading' ? words.percent(share) : words[state],
    rate > 0 && words.rate(rate),
    !!leftMs && words.remaining(words.duration(leftMs)),
    isOnItsWay(item) && retries > 0 && words.retries(retries),
  ]
}
