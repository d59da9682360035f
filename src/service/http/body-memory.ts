// One bound for the bodies of all calls together, from their first byte to their answer. It counts what has come, so that a body
// that trickles keeps nobody out. Where there is too much, the organisation that holds the most gives way, with its youngest body.

/** Of each body, so much does not count: the calls of an ordinary night are always taken. */
const UNCOUNTED_BYTES = 16 * 1024

export interface HeldBody {
  /** May refuse this body or another one. */
  arrived(bytes: number): void
  /** From here on it is not refused. Its bytes still count. */
  complete(): void
  /** Its memory is free again. Must be called at the end. */
  end(): void
}

export interface BodyMemory {
  /** Begins a body of this organisation. `refuse` is called at most once. */
  hold(owner: string, refuse: () => void): HeldBody
}

interface Holder {
  readonly owner: string
  bytes: number
  /** Undefined once the body is complete. */
  refuse: (() => void) | undefined
}

/** Makes the bound of one service: `most` bytes. */
export function createBodyMemory(most: number): BodyMemory {
  // In the order in which they began.
  const holders = new Set<Holder>()
  let countedBytes = 0
  const counted = ({ bytes }: Holder) => Math.max(0, bytes - UNCOUNTED_BYTES)
  const end = (holder: Holder): void => {
    if (holders.delete(holder)) countedBytes -= counted(holder)
  }
  /** Undefined where nothing that counts is still on its way. */
  const whoGivesWay = (): Holder | undefined => {
    const sums = new Map<string, number>()
    for (const holder of holders) sums.set(holder.owner, (sums.get(holder.owner) ?? 0) + counted(holder))
    const sumOf = ({ owner }: Holder) => sums.get(owner) ?? 0
    return [...holders]
      .filter((holder) => holder.refuse !== undefined && counted(holder) > 0)
      .reduce<Holder | undefined>((first, one) => (first && sumOf(first) > sumOf(one) ? first : one), undefined)
  }
  return {
    hold(owner, refuse) {
      const holder: Holder = { owner, bytes: 0, refuse }
      holders.add(holder)
      return {
        arrived(bytes) {
          if (!holders.has(holder)) return
          countedBytes -= counted(holder)
          holder.bytes += bytes
          countedBytes += counted(holder)
          while (countedBytes > most) {
            const loser = whoGivesWay()
            if (loser === undefined) return
            end(loser)
            loser.refuse?.()
          }
        },
        complete() {
          holder.refuse = undefined
        },
        end: () => end(holder),
      }
    },
  }
}
