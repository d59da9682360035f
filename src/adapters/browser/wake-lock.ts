// Keeps the screen on during an upload, where the platform allows it: a phone that falls asleep stops uploading.

import { isSeen } from '../web/is-seen.ts'

export interface Waking {
  /** Says that this one uploads from now on, or no more. To say it again changes nothing. */
  tell(holder: object, isUploading: boolean): void
}

/**
 * Makes the wake lock. The platform takes it back when the page is hidden, so it is asked for again when the page is
 * shown. A refusal (a low battery, no such feature) is no failure: the upload goes on, and sleep is handled as an
 * interruption like any other.
 */
export function createWaking(): Waking {
  const holders = new Set<object>()
  let sentinel: Promise<WakeLockSentinel | undefined> | undefined
  // Only pages have it, and neither workers nor servers.
  const wakeLock = (globalThis.navigator as Partial<Navigator> | undefined)?.wakeLock
  const ask = (): void => {
    if (isSeen()) sentinel = wakeLock?.request('screen').catch(() => undefined)
  }
  return {
    tell(holder, isUploading) {
      const wasHeld = holders.size > 0
      holders[isUploading ? 'add' : 'delete'](holder)
      if (!wakeLock || wasHeld === holders.size > 0) return
      if (wasHeld) {
        document.removeEventListener('visibilitychange', ask)
        void sentinel?.then((lock) => lock?.release())
      } else {
        document.addEventListener('visibilitychange', ask)
        ask()
      }
    },
  }
}
