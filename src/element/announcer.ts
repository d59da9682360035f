// A live region that does not chatter: what is said within a moment is one message, a sentence beside the other.

import { build } from './build-element.ts'

export interface Announcer {
  readonly region: HTMLElement
  /** `about`: what was to be said of the same, and was not said yet, is out of date. */
  say(message: string, about?: string): void
}

const TOGETHER_MS = 400

export function createAnnouncer(region: HTMLElement): Announcer {
  const waiting = new Map<string, string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const speak = (): void => {
    timer = undefined
    // Each a paragraph: not all of them end like a sentence, and they would be read out as one.
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
  }
}
