// A bound for the memory that what callers send, or do not take, holds together. It counts what there is, so that a body that
// trickles keeps nobody out. Where there is too much, the organisation that holds the most gives way, with its youngest piece.

/** Of each piece, so much does not count: the calls of an ordinary night are always taken. */
export const UNCOUNTED_BYTES = 16 * 1024

/** One body or answer in memory. */
export interface HeldMemory {
  /** Counts so many bytes more. May take the memory of others. False if this piece gave way itself, now or before. */
  add(bytes: number): boolean
  /** From here on it does not give way. Its bytes still count. */
  keep(): void
  /** Its memory is free again. Must be called at the end. */
  end(): void
}

export interface MemoryBound {
  /** Begins a piece of this organisation. `giveWay` is called, at most once, if another piece takes its memory. */
  hold(owner: string, giveWay: () => void): HeldMemory
}

interface Holder {
  readonly owner: string
  bytes: number
  /** Undefined once it is kept. */
  giveWay: (() => void) | undefined
}

/** Makes a bound of `most` bytes. */
export function createMemoryBound(most: number): MemoryBound {
  // In the order in which they began.
  const holders = new Set<Holder>()
  let countedBytes = 0
  const counted = ({ bytes }: Holder) => Math.max(0, bytes - UNCOUNTED_BYTES)
  const end = (holder: Holder): void => {
    if (holders.delete(holder)) countedBytes -= counted(holder)
  }
  /** Undefined where all that counts is kept. */
  const whoGivesWay = (): Holder | undefined => {
    const sums = new Map<string, number>()
    for (const holder of holders) sums.set(holder.owner, (sums.get(holder.owner) ?? 0) + counted(holder))
    const sumOf = ({ owner }: Holder) => sums.get(owner) ?? 0
    return [...holders]
      .filter((holder) => holder.giveWay !== undefined && counted(holder) > 0)
      .reduce<Holder | undefined>((first, one) => (first && sumOf(first) > sumOf(one) ? first : one), undefined)
  }
  return {
    hold(owner, giveWay) {
      const holder: Holder = { owner, bytes: 0, giveWay }
      holders.add(holder)
      return {
        add(bytes) {
          if (!holders.has(holder)) return false
          countedBytes -= counted(holder)
          holder.bytes += bytes
          countedBytes += counted(holder)
          while (countedBytes > most) {
            const loser = whoGivesWay()
            if (loser === undefined) break
            end(loser)
            if (loser !== holder) loser.giveWay?.()
          }
          return holders.has(holder)
        },
        keep() {
          holder.giveWay = undefined
        },
        end: () => end(holder),
      }
    },
  }
}
