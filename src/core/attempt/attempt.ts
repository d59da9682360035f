// One attempt at a part while it is under way: all that is known of it, in one place. Whoever sends it writes here how far it
// is; whoever watches over the attempts of a session reads it, and may abort it.

import type { SignedAddress } from '../address/address.ts'
import type { AttemptEnding, TransportError, UploadError } from '../errors.ts'
import type { Receipt, Unit, Verdict } from '../ports.ts'

export interface Attempt {
  readonly unit: Unit
  readonly lengthBytes: number
  readonly address: SignedAddress
  readonly isFreshConnection: boolean
  /** All of its part, and not what is left of one: else its digest is not the part's, and no ETag can be compared with it. */
  readonly isWhole: boolean
  /** Of this attempt alone: whoever holds it may abort it, and so does the watch over its waits. */
  readonly controller: AbortController
  /** What follows, a look at the source and at the answer, needs the line no more and no memory; not called where it does. */
  readonly onAnswered: (() => void) | undefined
  /** The source is open and its bytes go out. */
  isSending: boolean
  /** Bytes handed to the network so far; never falls. */
  sentBytes: number
  /** The transport has told how far it is, and be it that nothing has gone yet. */
  hasTold: boolean
  /** Why the watch over its waits has ended it. */
  expiry: TransportError | undefined
  /** It was reset because it crawled while others flew. */
  isCrawled: boolean
}

/**
 * `received`: stored, with its receipt. `refused`: answered otherwise. `missing`: no answer. `source`: our own bytes
 * could not be read or have changed, or no request can be made for them; another attempt would end in the same way.
 * `ours`: something else of ours failed, and need not again. `aborted`: the signal fired. `crawled`: it was reset for
 * that; `doubtful` when its last byte left in that very moment. `expired`: no request was made, because its address had died, or
 * a newer one had come, when its source was open.
 */
export type AttemptResult =
  | { readonly kind: 'received'; readonly receipt: Receipt }
  | { readonly kind: 'refused'; readonly verdict: Exclude<Verdict, { kind: 'received' }> }
  | { readonly kind: 'missing'; readonly ending: AttemptEnding; readonly error: TransportError }
  | { readonly kind: 'source' | 'ours'; readonly ending: AttemptEnding; readonly error: UploadError }
  | { readonly kind: 'aborted' | 'crawled'; readonly ending: AttemptEnding }
  | { readonly kind: 'expired' }
