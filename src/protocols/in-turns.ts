// Many calls, some of them at once.

/** Runs a task for each item, so many at once, in order; after the first failure no further one begins, and it waits for those under way. */
export async function inTurns<TItem>(
  items: readonly TItem[],
  atOnce: number,
  task: (item: TItem, index: number) => Promise<void>,
): Promise<void> {
  const queue = items.entries()
  const failures: unknown[] = []
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (failures.length > 0) return
      await task(item, index).catch((error: unknown) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  if (failures.length > 0) throw failures[0]
}
