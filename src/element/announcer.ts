// A live region that does not chatter: what is said within a second is one message, and progress is said at quarters.

export interface Announcer {
  readonly region: HTMLElement
  say(message: string): void
}

const TOGETHER_MS = 400
/** Between two sayings a screen reader should have come to its end. */
const MAX_MESSAGES = 3

export function createAnnouncer(region: HTMLElement): Announcer {
  let waiting: string[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const speak = (): void => {
    timer = undefined
    region.textContent = waiting.join(' ')
    waiting = []
  }
  return {
    region,
    say(message) {
      waiting = [...waiting.filter((other) => other !== message), message].slice(-MAX_MESSAGES)
      timer ??= setTimeout(speak, TOGETHER_MS)
    },
  }
}
