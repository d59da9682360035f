// One row: name, size, state, bar and what can be done. It is made once and only ever changed, so that focus and a
// screen reader's place stay where they are.

import { build, buildButton, buildIcon, setAttribute, setText } from './build-element.ts'
import type { Formats } from './formats.ts'
import { ICONS } from './icons.ts'
import { actionOf } from './problems.ts'
import type { UploaderTexts } from './texts.ts'
import type { Item } from './upload-list.ts'

/** What a row's one button does; undefined: it has none. */
export type RowAction = 'remove' | 'retry' | 'choose'

/** How a row is to be drawn, beside its item. */
export interface Look {
  readonly texts: UploaderTexts
  readonly formats: Formats
  readonly isPaused: boolean
}

export interface FileRow {
  readonly element: HTMLLIElement
  readonly button: HTMLButtonElement
  draw(look: Look): void
}

export function createFileRow(item: Item, onAction: (item: Item, action: RowAction) => void): FileRow {
  const icon = buildIcon(ICONS.ready)
  const line = icon.querySelector('path')
  const name = build('bdi', { part: 'file-name', class: 'name', title: item.chosen?.path ?? item.name }, item.name)
  const size = build('span', { part: 'file-size', class: 'size' })
  const status = build('span', { part: 'file-status', class: 'status' })
  const problem = build('span', { part: 'file-problem', class: 'problem', hidden: true })
  const fill = build('span', { part: 'file-bar-fill', class: 'fill' })
  const bar = build('div', { part: 'file-bar', class: 'bar', role: 'progressbar', 'aria-valuemin': '0' }, fill)
  setAttribute(bar, 'aria-valuemax', '100')
  let action: RowAction | undefined
  const button = buildButton('row-button', () => {
    if (action !== undefined) onAction(item, action)
  })
  const element = build(
    'li',
    { part: 'file', class: 'file' },
    build('span', { class: 'state-icon', part: 'file-icon' }, icon),
    build('div', { class: 'words' }, name, build('span', { class: 'facts' }, size, status), problem),
    button,
    bar,
  )
  return {
    element,
    button,
    draw(look) {
      const { texts, formats } = look
      const share = shareOf(item)
      setAttribute(element, 'data-state', item.state)
      if (line !== null) setAttribute(line, 'd', ICONS[item.state])
      setText(size, formats.bytes(item.bytes))
      setText(status, statusText(item, look))
      const isBarShown = item.state === 'uploading' || item.state === 'confirming' || item.state === 'waiting'
      bar.hidden = !isBarShown
      if (isBarShown) drawBar(bar, fill, share, item.name, `${formats.percent(share)}, ${statusText(item, look)}`)
      problem.hidden = item.error === undefined
      setText(problem, item.error === undefined ? '' : texts.problems[item.error.code])
      action = rowActionOf(item)
      button.hidden = action === undefined
      const word = action === undefined ? '' : actionWord(action, texts, formats)
      setText(button, word)
      setAttribute(button, 'aria-label', texts.actionOn(word, item.name))
    },
  }
}

/** The same bar for a row and for the whole. `said` is what a screen reader says of it. */
export function drawBar(bar: HTMLElement, fill: HTMLElement, share: number, label: string, said: string): void {
  const percent = String(Math.floor(share * 100))
  setAttribute(bar, 'aria-label', label)
  setAttribute(bar, 'aria-valuenow', percent)
  setAttribute(bar, 'aria-valuetext', said)
  fill.style.setProperty('inline-size', `${(share * 100).toFixed(1)}%`)
}

/** What was sent, as far as it counts: it moves with the line. What is confirmed is said in words. */
function shareOf({ bytes, sentBytes, state }: Item): number {
  if (state === 'confirmed') return 1
  return bytes === 0 ? 0 : Math.min(1, sentBytes / bytes)
}

function rowActionOf({ state, error }: Item): RowAction | undefined {
  if (state === 'ready') return 'remove'
  if (state !== 'failed' || error === undefined) return undefined
  const action = actionOf(error)
  return action === 'ask' ? 'retry' : action
}

function actionWord(action: RowAction, texts: UploaderTexts, formats: Formats): string {
  if (action === 'retry') return texts.retry(formats.count(1))
  return action === 'remove' ? texts.remove : texts.chooseAgain
}

function statusText(item: Item, { texts, formats, isPaused }: Look): string {
  const retries = item.retries > 0 ? [texts.retries(formats.count(item.retries))] : []
  const isOnItsWay = item.state === 'waiting' || item.state === 'uploading'
  if (isPaused && isOnItsWay) return [texts.paused, ...retries].join(' · ')
  if (item.state !== 'uploading') return [texts[item.state], ...(isOnItsWay ? retries : [])].join(' · ')
  const { bytesPerSecond: rate } = item
  const leftMs = rate > 0 ? ((item.bytes - item.sentBytes) / rate) * 1_000 : undefined
  return [
    texts.uploading,
    formats.percent(shareOf(item)),
    ...(rate > 0 ? [formats.rate(rate)] : []),
    ...(leftMs === undefined ? [] : [texts.remaining(formats.duration(leftMs))]),
    ...retries,
  ].join(' · ')
}
