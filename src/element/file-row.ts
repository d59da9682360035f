// One row: name, size, state, bar and what can be done. It is made once and only ever changed, so that focus and a
// screen reader's place stay where they are.

import { build, buildButton, buildIcon, setAttribute, setText } from './build-element.ts'
import { joinFacts, type Formats } from './formats.ts'
import { ICONS } from './icons.ts'
import { actionOf, problemOf } from './problems.ts'
import { remainingOf } from './reading.ts'
import type { UploaderTexts } from './texts.ts'
import type { Item } from './items.ts'

/** What a row's one button does; undefined: it has none. */
export type RowAction = 'remove' | 'retry' | 'choose'

/** How a row is to be drawn, beside its item. */
export interface Look {
  readonly texts: UploaderTexts
  readonly formats: Formats
  readonly isPaused: boolean
  /** Of all files together. */
  readonly remainingMs: number | undefined
}

export interface FileRow {
  readonly element: HTMLLIElement
  draw(look: Look): void
}

export function createFileRow(item: Item, onAction: (item: Item, action: RowAction) => void): FileRow {
  const icon = buildIcon(ICONS.ready)
  const line = icon.querySelector('path')
  const name = build('bdi', 'file-name', { title: item.chosen?.path ?? item.name }, item.name)
  const size = build('span', 'file-size')
  const status = build('span', 'file-status')
  const problem = build('span', 'file-problem')
  const [bar, fill] = buildBar('file-bar')
  let action: RowAction | undefined
  const button = buildButton('row-button', () => {
    if (action !== undefined) onAction(item, action)
  })
  const facts = build('span', 'facts', {}, size, ' · ', status)
  const words = build('div', 'words', {}, name, facts, problem)
  const element = build('li', 'file', {}, build('span', 'file-icon', {}, icon), words, button, bar)
  return {
    element,
    draw(look) {
      const { texts, formats } = look
      const share = shareOf(item)
      setAttribute(element, 'data-state', item.state)
      if (line !== null) setAttribute(line, 'd', ICONS[item.state])
      setText(size, formats.bytes(item.bytes))
      const words = statusText(item, look)
      setText(status, words)
      const isBarShown = item.state === 'uploading' || item.state === 'confirming'
      bar.hidden = !isBarShown
      const percent = formats.percent(share)
      if (isBarShown) drawBar(bar, fill, share, item.name, words.startsWith(percent) ? words : `${percent}, ${words}`)
      problem.hidden = item.error === undefined
      setText(problem, item.error === undefined ? '' : texts.problems[problemOf(item.error)])
      action = rowActionOf(item)
      button.hidden = action === undefined
      const word = action === undefined ? '' : actionWord(action, texts, formats)
      setText(button, word)
      setAttribute(button, 'aria-label', texts.actionOn(word, item.name))
    },
  }
}

/** A progress bar, and what fills it. */
export function buildBar(part: string): [bar: HTMLElement, fill: HTMLElement] {
  const fill = build('span', 'fill')
  return [
    build('div', `bar ${part}`, { role: 'progressbar', 'aria-valuemin': '0', 'aria-valuemax': '100' }, fill),
    fill,
  ]
}

/** The same bar for a row and for the whole. `said` is what a screen reader says of it. */
export function drawBar(bar: HTMLElement, fill: HTMLElement, share: number, label: string, said: string): void {
  const percent = String(Math.floor(share * 100))
  setAttribute(bar, 'aria-label', label)
  setAttribute(bar, 'aria-valuenow', percent)
  setAttribute(bar, 'aria-valuetext', said)
  // Not its width: that would have everything laid out anew in each frame in which it moves.
  fill.style.scale = `${share.toFixed(3)} 1`
}

/** What was sent, as far as it counts: it moves with the line. What is confirmed is said in words. */
function shareOf({ bytes, sentBytes, state }: Item): number {
  if (state === 'confirmed') return 1
  return bytes === 0 ? 0 : Math.min(1, sentBytes / bytes)
}

/** Nothing is offered that would do nothing: no retry beside the rest of a running upload, none of what nobody here can mend. */
function rowActionOf({ state, error, isOver }: Item): RowAction | undefined {
  if (state === 'ready') return 'remove'
  if (state !== 'failed' || error === undefined) return undefined
  const action = actionOf(error)
  return action === 'choose' || (action === 'retry' && isOver) ? action : undefined
}

function actionWord(action: RowAction, texts: UploaderTexts, formats: Formats): string {
  if (action === 'retry') return texts.retry(formats.count(1))
  return action === 'remove' ? texts.remove : texts.chooseAgain
}

function statusText(item: Item, { texts, formats, isPaused, remainingMs }: Look): string {
  const { state, retries, bytesPerSecond: rate } = item
  const leftMs = remainingOf(item, remainingMs)
  const isOnItsWay = state === 'waiting' || state === 'uploading'
  const isMoving = isOnItsWay && !isPaused && rate > 0
  const first = isOnItsWay && isPaused ? texts.paused : texts[state]
  return joinFacts(
    state === 'uploading' && !isPaused ? formats.percent(shareOf(item)) : first,
    isMoving && formats.rate(rate),
    isMoving && leftMs !== undefined && texts.remaining(formats.duration(leftMs)),
    isOnItsWay && retries > 0 && texts.retries(formats.count(retries)),
  )
}
