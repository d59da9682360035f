// Small pieces of work that are done together, where the platform takes as long for one as for many.

import { isSeen } from './is-seen.ts'

/** How soon after a piece of work the next one may begin, ms. */
const GATHER_MS = 100

/**
 * Gathers items into pieces of work. What comes while one runs, or soon after it, goes into the next. They run one at a
 * time, in call order. With `isUrgent` the next one does not wait for more items. Nor does it in a page that nobody
 * sees, where timers are held back. Settles as the work does.
 */
export function createGathering<Item, Result>(
  work: (items: readonly Item[]) => Promise<Result>,
): (item: Item, isUrgent: boolean) => Promise<Result> {
  let items: Item[] = []
  let isAnyUrgent = false
  let next: Promise<Result> | undefined
  let last: Promise<Result> | undefined
  let endedAtMs = -Infinity
  let begin: () => void = () => undefined

  const workOff = async (before = last): Promise<Result> => {
    await before?.catch(() => undefined)
    await new Promise<void>((resolve) => {
      begin = resolve
      const waitMs = endedAtMs + GATHER_MS - performance.now()
      if (waitMs <= 0 || isAnyUrgent || !isSeen()) resolve()
      else setTimeout(resolve, waitMs)
    })
    const group = items
    items = []
    isAnyUrgent = false
    next = undefined
    return work(group).finally(() => (endedAtMs = performance.now()))
  }
  return (item, isUrgent) => {
    items.push(item)
    if (isUrgent) {
      isAnyUrgent = true
      begin()
    }
    return (next ??= last = workOff())
  }
}
