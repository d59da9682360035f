// One attempt at a part while it is under way: all that is known of it, in one place. Whoever sends it writes its progress
// here; whoever watches over the attempts of a session reads that, and may abort it.

import type { SignedAddress } from '../address/address.ts'
import type { AttemptEnding, TransportError, UploadError } from '../errors.ts'
import type { Receipt, Unit, Verdict } from '../ports.ts'
import type { Watchdog } from './watchdog.ts'
import type { WindowLease } from './windows.ts'

export interface Attempt {
  readonly unit: Unit
  readonly lengthBytes: number
  readonly address: SignedAddress
  readonly isFreshConnection: boolean
  /** It sends its whole part, not just the rest of one. Otherwise its digest is not the part's, and no ETag can be compared with it. */
  readonly isWhole: boolean
  /**
   * Of this attempt alone: whoever holds the attempt may abort it, and so does the watchdog over its waits. The reason tells
   * whether it was the watchdog.
   */
  readonly controller: AbortController
  /**
   * Called when it needs its slot no longer. With true: only the source and the answer remain to be checked, which needs neither
   * the line nor memory. With false: its source hangs.
   */
  readonly onFree: (isAnswered: boolean) => void
  /** The source is open, and the attempt has not ended. */
  isSending: boolean
  /** It waits for its source, perhaps for ever, so it does not count as in flight. Undefined: it never has. */
  isHung: boolean | undefined
  /** Bytes handed to the network so far; never falls. */
  sentBytes: number
  /** The transport has reported progress, even if only that nothing has gone yet. */
  hasTold: boolean
  /** Watches its waits, from when its source is open. */
  watchdog: Watchdog | undefined
  /** Its windows, while it holds any. */
  lease: WindowLease | undefined
  /** The reason of the watchdog, once it gave up. */
  expiry: TransportError | undefined
  /** Resolves when it has ended, or was left; undefined until it has begun. */
  end: Promise<AttemptResult> | undefined
}

/**
 * How an attempt ended. `received`: stored, with its receipt. `refused`: answered otherwise (`isDead`: whatever
 * it says, no request will be taken under this address). `missing`: no answer. `source`: our own bytes could not be read or
 * hashed, or have changed, or no request can be made for them; another attempt would end in the same way, unless the error is
 * retryable. `aborted`: nothing failed. The signal fired, or its source took so long to open that its slot had gone to another; its
 * part goes again, where anything of its file still does. `expired`: no request was made, because its address had expired, or been
 * replaced, by the time its source was open.
 */
export type AttemptResult =
  | { readonly kind: 'received'; readonly receipt: Receipt }
  | {
      readonly kind: 'refused'
      readonly verdict: Exclude<Verdict, { kind: 'received' }>
      readonly isDead?: boolean | undefined
    }
  | { readonly kind: 'missing'; readonly ending: AttemptEnding; readonly error: TransportError }
  | { readonly kind: 'source'; readonly ending: AttemptEnding; readonly error: UploadError }
  | { readonly kind: 'aborted'; readonly ending: AttemptEnding }
  | { readonly kind: 'expired' }

/**
 * Calls an attempt over that was aborted and does not end: a read from a drive that is gone, or a host's transport or hasher, may
 * never let go of it. What it holds stays with it, because whoever holds it up may still use that.
 */
export function leave(attempt: Attempt): AttemptResult {
  attempt.isSending = false
  attempt.watchdog?.stop()
  attempt.lease?.leave?.()
  const { controller, expiry } = attempt
  const ending = 'doubtful'
  // The first to abort it counts: its watch may have run out after that.
  if (expiry && controller.signal.reason === expiry) return { kind: 'missing', ending, error: expiry }
  return { kind: 'aborted', ending }
}
