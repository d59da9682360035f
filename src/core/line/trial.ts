// Another number of parts on trial, and what became of it: pure. What a rate means depends on the queue beside it. On a line
// with a queue, more connections take from others what they bring; on one without, nobody loses.

export interface Trial {
  readonly limit: number
  /** What to go back to, and what it brought, bytes a second. */
  readonly fromLimit: number
  readonly fromRate: number
  /** It, or the first of those that it goes on from, began on a line without a queue: a queue at its end is our own. */
  readonly isAlone: boolean
  readonly isFirst: boolean
}

export interface TrialVerdict {
  /** The limit of the trial is kept. */
  readonly isKept: boolean
  /** It brought what it was to bring. */
  readonly hasGained: boolean
  /** A step upwards that brought less than half of its share has met the end of the line: the next would overshoot. */
  readonly isFull: boolean
  /** The step brought all that connections as good as the others could. */
  readonly hasPaid: boolean
}

/**
 * More bytes a second that a trial upwards must bring: so much of what it would on a line that has room, as a power. Others
 * share the line if it brings less: the third connection beside two others gets a third, which they lose.
 */
const WORTH = 0.4
/** The same while the line has no queue, as a factor: then nobody loses what we gain. */
const WORTH_IF_EMPTY = 1.03
/** Share of the bytes a second that a trial downwards must keep. */
const KEPT = 0.98
/** The same for a large step upwards on a line that is nobody else's: what it brings shows when older connections lose packets. */
const LENIENCY = 0.6
const LARGE_STEP = 1.25
/** Losses hold back for round trips: where those are shorter than this, ms, a disk or a processor holds the rate. */
const LENIENT_FROM_MS = 5
/** Of the step: a first step that brought so much has paid. */
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
    const hasGained = gain >= KEPT && !line.hasRoom
    return { isKept: hasGained, hasGained, isFull: false, hasPaid: false }
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
