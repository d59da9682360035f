// The cards that offer unfinished uploads; a card is kept while its offer changes, so that focus stays.

import { build, buildButton, removeElement, setAttribute, setText } from './build-element.ts'
import { isolated, type Formats } from './formats.ts'
import type { OfferControl } from './offer-control.ts'
import { isOneClick, type Offer } from './offers.ts'
import type { UploaderTexts } from './texts.ts'

export interface OfferCards {
  readonly element: HTMLElement
  draw(offers: readonly Offer[], texts: UploaderTexts, formats: Formats): void
}

/** Of many missing files the first are named. */
const NAMED_FILES = 3

interface Card {
  readonly element: HTMLElement
  draw(offer: Offer, texts: UploaderTexts, formats: Formats): void
}

/** `onEmptied` hears that the card which had the focus is gone. */
export function createOfferCards(control: OfferControl, onEmptied: () => void): OfferCards {
  const element = build('div', 'offers')
  const cards = new Map<string, Card>()
  return {
    element,
    draw(offers, texts, formats) {
      const keys = new Set(offers.map(({ session }) => session.key))
      for (const [key, card] of cards) {
        if (keys.has(key)) continue
        cards.delete(key)
        removeElement(card.element, onEmptied)
      }
      for (const offer of offers) {
        const { key } = offer.session
        const card =
          cards.get(key) ??
          createCard(
            () => void control.accept(key),
            () => void control.discard(key),
          )
        card.draw(offer, texts, formats)
        if (cards.has(key)) continue
        cards.set(key, card)
        element.append(card.element)
      }
    },
  }
}

function createCard(accept: () => void, discard: () => void): Card {
  const title = build('p', 'title')
  const body = build('p', 'hint')
  const names = build('p', 'hint')
  const go = buildButton('offer-button primary-button', accept)
  const drop = buildButton('discard-button quiet-button', discard)
  const words = build('div', 'offer-words', {}, title, body, names)
  const element = build('div', 'offer', { role: 'group' }, words, build('div', 'actions', {}, go, drop))
  return {
    element,
    draw(offer, texts, formats) {
      const { session, missing } = offer
      const isAllowing = isOneClick(offer)
      setAttribute(element, 'aria-label', texts.offerTitle)
      setText(title, texts.offerTitle)
      const [done, all] = [formats.count(session.filesConfirmed), formats.count(session.filesTotal)]
      const advice = isAllowing ? texts.offerAllow : texts.offerPick(formats.count(missing.length))
      setText(body, `${texts.offerBody(done, all, formats.date(session.beganAtMs ?? 0))} ${advice}`)
      names.hidden = isAllowing
      setText(names, namesOf(missing, texts, formats))
      setText(go, isAllowing ? texts.offerAllowAction : texts.offerPickAction)
      setText(drop, texts.offerDiscard)
    },
  }
}

function namesOf(missing: Offer['missing'], texts: UploaderTexts, formats: Formats): string {
  const names = missing.slice(0, NAMED_FILES).map(({ fileName }) => isolated(fileName))
  const more = missing.length - names.length
  return `${names.join(', ')}${more > 0 ? ` ${texts.andMore(formats.count(more))}` : ''}`
}
