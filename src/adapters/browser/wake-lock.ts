// Keeps the screen on during an upload, where the platform allows it: a phone that falls asleep stops uploading.

import { isSeen } from '../web/is-seen.ts'

export interface Waking {
  /** Says that something is uploading from now on. Call what is returned when it has ended. */
  hold(): () => void
}

/**
 * Makes the wake lock. The platform takes it back when the page is hidden, so it is asked for again when the page is
 * shown. A refusal (a low battery, no such feature) is no failure: the upload goes on, and sleep is handled as an
 * interruption like any other.
 */
export function createWaking(): Waking {
  const holders = new Set<() => void>()
  let sentinel: Promise<WakeLockSentinel | undefined> | undefined
  // Only pages have it, and neither workers nor servers.
  const wakeLock = (globalThis.navigator as Partial<Navigator> | undefined)?.wakeLock
  const ask = (): void => {
    if (holders.size === 0 || !isSeen()) return
    sentinel = wakeLock?.request('screen').catch(() => undefined)
  }
  const letGo = (): void => {
    document.removeEventListener('visibilitychange', ask)
    void sentinel?.then((lock) => lock?.release())
    sentinel = undefined
  }
  return {
    hold() {
      if (!wakeLock) return () => undefined
      const end = (): void => {
        if (holders.delete(end) && holders.size === 0) letGo()
      }
      holders.add(end)
      if (holders.size === 1) {
        document.addEventListener('visibilitychange', ask)
        ask()
      }
      return end
    },
  }
}
