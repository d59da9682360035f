// Many calls, a limited number of them at a time.

/**
 * Runs a task for each item in order, at most `atOnce` at a time. After a failure no further task begins. Once those
 * under way have ended, it rejects with the first failure.
 */
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
