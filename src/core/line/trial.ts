// A trial of another number of parts, and what became of it. Pure. What a rate means depends on the queue beside it. On a line
// with a queue, more connections take from others what they bring; on one without, nobody loses.

export interface Trial {
  readonly limit: number
  /** The limit to go back to, and the rate that it brought, bytes per second. */
  readonly fromLimit: number
  readonly fromRate: number
  /** This trial, or the first of the series that it continues, began on a line without a queue: a queue at its end is our own. */
  readonly isAlone: boolean
  readonly isFirst: boolean
}

export interface TrialVerdict {
  /** The limit of the trial is kept. */
  readonly isKept: boolean
  /** It was a trial upwards, and brought what that had to bring. */
  readonly hasGained: boolean
  /** A step upwards that brought less than half of its share has met the end of the line: the next one would overshoot. */
  readonly isFull: boolean
  /** The step brought all that connections as good as the others could bring. */
  readonly hasPaid: boolean
}

/**
 * What a trial upwards must bring: the ratio of the rates must be at least the ratio of the limits to this power. If it is
 * less, others share the line: a third connection beside two of others gets a third of it, which they lose.
 */
const WORTH = 0.4
/** The same while the line has no queue, as a factor: nobody then loses what we gain. */
const WORTH_IF_EMPTY = 1.03
/** The share of the rate that a trial downwards must keep. */
const KEPT = 0.98
/** The same for a large step upwards on a line that nobody else uses: what it brings shows when older connections lose packets. */
const LENIENCY = 0.6
const LARGE_STEP = 1.25
/** Losses hold connections back where round trips are long. Where they are shorter than this, ms, a disk or a processor does. */
const LENIENT_FROM_MS = 5
/** The share of the step that a first step must bring to have paid. */
const PAID = 0.96

/** `leastRoundTripMs` is undefined where none can be measured. */
export function judgeTrial(
  { limit, fromLimit, fromRate, isAlone, isFirst }: Trial,
  rate: number,
  line: { readonly hasRoom: boolean; readonly leastRoundTripMs: number | undefined },
): TrialVerdict {
  const step = limit / fromLimit
  const gain = rate / fromRate
  if (step < 1) {
    return { isKept: gain >= KEPT && !line.hasRoom, hasGained: false, isFull: false, hasPaid: false }
  }
  const hasGained = gain >= (line.hasRoom ? WORTH_IF_EMPTY : step ** WORTH)
  const isLenient = step > LARGE_STEP && isAlone && (line.leastRoundTripMs ?? 0) >= LENIENT_FROM_MS
  return {
    isKept: hasGained || (isLenient && gain >= LENIENCY),
    hasGained,
    isFull: !line.hasRoom && gain < 1 + (step - 1) / 2,
    hasPaid: isFirst && gain >= step * PAID,
  }
}
