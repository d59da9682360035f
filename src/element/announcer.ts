// A live region that does not chatter: what is said within 400 ms is announced together, as separate paragraphs.

import { build } from './build-element.ts'

export interface Announcer {
  readonly region: HTMLElement
  /** `about` names the topic of a message, which replaces an earlier one about it that was not announced yet. */
  say(message: string, about?: string): void
  /** Leaves this message to be read no more, since it holds no longer. Nothing is announced. */
  takeBack(message: string): void
}

const TOGETHER_MS = 400

export function createAnnouncer(): Announcer {
  const region = build('div', 'said', { role: 'status' })
  const waiting = new Map<string, string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const speak = (): void => {
    timer = undefined
    // A paragraph each: not all of them end like a sentence, so they would be read out as one.
    region.replaceChildren(...[...waiting.values()].map((message) => build('p', '', {}, message)))
    waiting.clear()
  }
  return {
    region,
    say(message, about = message) {
      waiting.delete(about)
      waiting.set(about, message)
      timer ??= setTimeout(speak, TOGETHER_MS)
    },
    takeBack(message) {
      for (const [about, said] of waiting) if (said === message) waiting.delete(about)
      for (const paragraph of [...region.children]) if (paragraph.textContent === message) paragraph.remove()
    },
  }
}
