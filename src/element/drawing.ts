// Draws all parts of the element together, in one frame, when something has changed. Keeps the row that is uploading in sight.

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

/**
 * How often to draw while an upload reports nothing, ms. When the line stands still, the rate shown must fall, and when the network is
 * back, nobody may be told any longer that there is none.
 */
const LOOK_AGAIN_MS = 1_000

/** How long a finger on the list counts as looking through it, ms. Where there is no mouse, nothing hovers over a list. */
const TOUCHED_MS = 10_000

/** How long a press that no click has ended holds drawings back, ms. A button that moves away before its release is not clicked. */
const PRESSED_MS = 500

export interface Drawing {
  readonly element: HTMLElement
  /** Asks for a drawing in the next frame, because something has changed. */
  ask(): void
  /** Scrolls to the row of this file in the next frame. */
  reveal(item: Item | undefined): void
}

export function createDrawing(
  { list, offers, setting }: { list: UploadList; offers: OfferControl; setting: () => Setting },
  parts: { cards: OfferCards; zone: DropZone; notices: Notices; summary: SummaryBar; rows: FileList },
): Drawing {
  const { cards, zone, summary, notices, rows } = parts
  const element = build(
    'section',
    'uploader',
    // The direction of its own words. They may be in another language than the page, and would be read in the wrong order.
    { dir: 'auto' },
    // A notice pushes down what is below it. The controls of the whole stay above, because somebody may be about to press one.
    ...[cards, zone, summary, notices, rows].map((of) => of.element),
  )
  /** The window of whose next frame was asked. The element may have moved to another since: this one may get no more frames. */
  let asked: Window | null | undefined
  let lookAgain: ReturnType<typeof setTimeout> | undefined
  let itemToReveal: Item | undefined
  let lastOnItsWay: Item | undefined
  let touchedUntilMs = 0
  let pressedUntilMs = 0
  rows.element.addEventListener('pointerdown', () => (touchedUntilMs = performance.now() + TOUCHED_MS))
  element.addEventListener('pointerdown', () => (pressedUntilMs = performance.now() + PRESSED_MS))
  // A finger that begins to scroll presses nothing any more.
  for (const end of ['click', 'pointercancel']) element.addEventListener(end, () => (pressedUntilMs = 0))

  const ask = (): void => {
    const { defaultView } = element.ownerDocument
    if (asked === defaultView) return
    asked = defaultView
    defaultView?.requestAnimationFrame(() => {
      asked = undefined
      if (performance.now() < pressedUntilMs) ask()
      else draw()
    })
  }
  const draw = (): void => {
    const { words, accept } = setting()
    const { items } = list
    clearTimeout(lookAgain)
    const totals = list.totals()
    const phase = list.phase()
    if (phase === 'uploading' || phase === 'waiting') lookAgain = setTimeout(ask, LOOK_AGAIN_MS)
    setAttribute(element, 'aria-label', words.label)
    const hasList = phase !== 'empty'
    zone.draw(words, accept, { hasList, isCompact: hasList || offers.offers.length > 0 })
    cards.draw(offers.offers, words)
    notices.draw(words)
    const retryable = list.retryable()
    summary.draw(words, { phase, totals, readyCount: items.filter(isReady).length, retryable })
    const onItsWay = items.find(({ state }) => state === 'uploading')
    // The list does not scroll while somebody looks through it.
    const isLookedThrough = rows.element.matches(':hover, :focus-within') || performance.now() < touchedUntilMs
    if (onItsWay !== lastOnItsWay && !isLookedThrough) itemToReveal ??= onItsWay
    // A pause has none. The file that goes on after it is where the person left it.
    lastOnItsWay = onItsWay ?? lastOnItsWay
    const retriedAlone = retryable.length === 1 ? retryable[0] : undefined
    const look = { words, retriedAlone, remainingMs: totals.remainingMs }
    if (rows.draw(items, look)) ask()
    else if (itemToReveal) {
      // Only now do all rows have their words, and so their heights. Scrolls once a frame at most.
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
