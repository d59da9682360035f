// The cards that offer unfinished uploads. A card is kept while its offer changes, so that the focus stays on it.

import { build, buildButton, removeElement, setAttribute, setText, showText } from './build-element.ts'
import type { OfferControl } from './offer-control.ts'
import { isOneClick, type Offer } from './offers.ts'
import { namesOf, type Words } from './words.ts'

export interface OfferCards {
  readonly element: HTMLElement
  draw(offers: readonly Offer[], words: Words): void
}

interface Card {
  readonly element: HTMLElement
  draw(offer: Offer, words: Words): void
}

/** `onEmptied` is called when the card that had the focus is gone. A new card comes unasked, so it is announced by `say`. */
export function createOfferCards(
  control: OfferControl,
  onEmptied: () => void,
  say: (message: string) => void,
): OfferCards {
  const element = build('div', 'offers')
  const cards = new Map<string, Card>()
  return {
    element,
    draw(offers, words) {
      const keys = new Set(offers.map(({ session }) => session.key))
      for (const [key, card] of cards) {
        if (keys.has(key)) continue
        cards.delete(key)
        removeElement(card.element, onEmptied)
      }
      for (const offer of offers) {
        const { key } = offer.session
        let card = cards.get(key)
        if (!card) {
          card = createCard(control, key)
          cards.set(key, card)
          element.append(card.element)
          say(words.offerTitle)
        }
        card.draw(offer, words)
      }
    },
  }
}

function createCard(control: OfferControl, key: string): Card {
  const title = build('p', 'title')
  const body = build('p', 'hint')
  const names = build('p', 'hint')
  const go = buildButton('offer-button primary-button', () => void control.accept(key))
  const drop = buildButton('discard-button quiet-button', () => void control.discard(key))
  const texts = build('div', 'offer-words', {}, title, body, names)
  const element = build('div', 'offer', { role: 'group' }, texts, build('div', 'actions', {}, go, drop))
  return {
    element,
    draw(offer, words) {
      const { session, missing } = offer
      const isAllowing = isOneClick(offer)
      const { filesConfirmed, filesTotal, beganAtMs = 0 } = session
      setAttribute(element, 'aria-label', words.offerTitle)
      setText(title, words.offerTitle)
      const advice = isAllowing ? words.offerAllow : words.offerPick(missing.length)
      setText(body, `${words.offerBody(filesConfirmed, filesTotal, words.date(beganAtMs))} ${advice}`)
      showText(names, !isAllowing && namesOf(missing, words))
      setText(go, isAllowing ? words.offerAllowAction : words.offerPickAction)
      setText(drop, words.offerDiscard)
    },
  }
}
