// Draws all parts of the element together, in a frame, when something has changed; and keeps in sight what is on its way.

import { build, setAttribute } from './build-element.ts'
import type { DropZone } from './drop-zone.ts'
import type { FileList } from './file-list.ts'
import { isReady, type Item } from './items.ts'
import type { Notices } from './notices.ts'
import type { OfferCards } from './offer-cards.ts'
import type { OfferControl } from './offer-control.ts'
import type { Setting } from './setting.ts'
import type { SummaryBar } from './summary-bar.ts'
import type { UploadList } from './upload-list.ts'

/** How often an upload is looked at that tells nothing, ms: a rate must not stand still when the line does. */
const LOOK_AGAIN_MS = 1_000

export interface Drawing {
  readonly element: HTMLElement
  /** Something has changed. */
  ask(): void
  /** Shows the row of this file with the next frame. */
  reveal(item: Item | undefined): void
}

export function createDrawing(
  { list, offers, setting }: { list: UploadList; offers: OfferControl; setting: () => Setting },
  parts: { cards: OfferCards; zone: DropZone; notices: Notices; summary: SummaryBar; rows: FileList },
): Drawing {
  const { cards, zone, summary, rows } = parts
  const element = build(
    'section',
    'uploader',
    // As its words are: those of another direction than the page's would be read in a wrong order.
    { dir: 'auto' },
    // A notice pushes down what is below it: never the controls of the whole, which somebody may be about to press.
    ...[cards, zone, summary, parts.notices, rows].map((of) => of.element),
  )
  let isAsked = false
  let lookAgain: ReturnType<typeof setTimeout> | undefined
  let itemToReveal: Item | undefined
  let lastOnItsWay: Item | undefined

  const ask = (): void => {
    if (isAsked) return
    isAsked = true
    requestAnimationFrame(() => {
      isAsked = false
      draw()
    })
  }
  const draw = (): void => {
    const { words, accept } = setting()
    const { items } = list
    clearTimeout(lookAgain)
    const totals = list.totals()
    const phase = list.phase()
    if (phase === 'uploading') lookAgain = setTimeout(ask, LOOK_AGAIN_MS)
    setAttribute(element, 'aria-label', words.label)
    const hasList = phase !== 'empty'
    zone.draw(words, accept, { hasList, isCompact: hasList || offers.offers.length > 0 })
    cards.draw(offers.offers, words)
    const retryable = list.retryable()
    const readyCount = items.filter(isReady).length
    summary.draw(words, {
      phase,
      totals,
      outage: list.outage(),
      readyCount,
      retryable,
      isClearable: items.length > readyCount,
    })
    const onItsWay = items.find(({ state }) => state === 'uploading')
    // Who looks through the list keeps the place.
    if (onItsWay !== lastOnItsWay && !rows.element.matches(':hover, :focus-within')) itemToReveal ??= onItsWay
    lastOnItsWay = onItsWay
    const isRetryAlone = retryable.length === 1
    const look = { words, isPaused: phase === 'paused', isRetryAlone, remainingMs: totals.remainingMs }
    if (rows.draw(items, look)) ask()
    else if (itemToReveal) {
      // Only now do all rows have their words, and so their heights; and once a frame at most.
      rows.reveal(itemToReveal)
      itemToReveal = undefined
    }
  }
  return {
    element,
    ask,
    reveal(item) {
      itemToReveal = item
    },
  }
}
